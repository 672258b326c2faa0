"""The key of an answer in the cache: the version, the request and the date, which determine it."""

from __future__ import annotations

import time
from typing import Final, NamedTuple
from urllib.parse import quote

from starlette.types import Scope

from kafka_replica.server.answers.compression import accepts_gzip
from kafka_replica.server.answers.entity_tags import without_suffix
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.request_headers import request_headers
from kafka_replica.server.rest.request_and_answer import RestRequest

_APIS: Final = frozenset({"v1", "v2"})
_DAY_S: Final = 86_400


class AnswerKey(NamedTuple):
    """The key of an answer in the cache.

    Attributes:
        version: the version from which to answer.
        suffix: the suffix of its entity tags, which distinguishes versions that have used the same number.
        request: the request.
        with_gzip: whether the request accepts gzip.
        day: the date as the number of the day (UTC); the validity of constraints depends on it.
    """

    version: VersionId
    suffix: str
    request: RestRequest
    with_gzip: bool
    day: int

    @property
    def client_bytes(self) -> int:
        """The size of the parts that the client has determined."""
        return sum(map(len, self.request))


def answer_key(scope: Scope, path: str, query: str, version: VersionId, suffix: str) -> AnswerKey:
    """Return the key of the answer to a request.

    Args:
        scope: the request.
        path: its path as in a ``RestRequest``; see ``path_in_api``.
        query: its query string, still percent-encoded.
        version: the version from which to answer.
        suffix: the suffix of the version's entity tags.
    """
    headers = request_headers(scope).values
    known = headers.get("if-none-match")
    request = RestRequest(path, query, headers.get("accept", ""), without_suffix(known, suffix) if known else "")
    return AnswerKey(version, suffix, request, accepts_gzip(headers.get("accept-encoding", "")), today())


def today() -> int:
    """Return the number of the day in UTC."""
    return int(time.time()) // _DAY_S


def path_in_api(scope: Scope, rest: str) -> str:
    """Return the path of a request as in a ``RestRequest``: after the base path, still percent-encoded.

    Args:
        scope: the request.
        rest: the path after the base path, decoded.
    """
    before = scope["path"].removesuffix(rest)
    path = scope.get("raw_path") or quote(scope["path"]).encode()
    # Base paths have no encoded slashes, so both forms of the path have the same number of them before the rest.
    encoded = path.decode("latin-1").split("/", before.count("/"))[-1] if before.endswith("/") else ""
    return prefix_of_api(before) + encoded


def prefix_of_api(base_path: str) -> str:
    """Return with what the paths of requests below a base path begin in a ``RestRequest``: the version of the API.

    The result is empty if the path itself determines the version.
    """
    api = base_path.rstrip("/").rpartition("/")[2]
    return f"{api}/" if api in _APIS else ""
