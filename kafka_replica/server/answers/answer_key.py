"""The key of an answer in the cache: the version, the request and the date, which determine it."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Final, NamedTuple
from urllib.parse import quote

from starlette.types import Scope

from kafka_replica.server.answers.compression import accepts_gzip
from kafka_replica.server.answers.entity_tags import without_suffix
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.request_headers import request_headers
from kafka_replica.server.rest.request_and_answer import RestRequest

_APIS: Final = frozenset({"v1", "v2"})


class AnswerKey(NamedTuple):
    """The key of an answer in the cache.

    Attributes:
        version: the version from which to answer.
        suffix: the suffix of its entity tags, which distinguishes versions that have used the same number.
        request: the request.
        with_gzip: whether the request accepts gzip.
        day: the date, on which the validity of constraints depends.
    """

    version: VersionId
    suffix: str
    request: RestRequest
    with_gzip: bool
    day: date

    @property
    def client_bytes(self) -> int:
        """The size of the parts that the client has determined."""
        return sum(map(len, self.request))


def answer_key(scope: Scope, rest: str, version: VersionId, suffix: str) -> AnswerKey:
    """Return the key of the answer to a request.

    Args:
        scope: the request.
        rest: the path after the base path, decoded.
        version: the version from which to answer.
        suffix: the suffix of the version's entity tags.
    """
    headers = request_headers(scope).values
    path = scope.get("raw_path") or quote(scope["path"]).encode()
    request = RestRequest(
        _rest_path(path, scope["path"].removesuffix(rest)),
        scope["query_string"].decode("latin-1"),
        headers.get("accept", ""),
        without_suffix(headers.get("if-none-match", ""), suffix),
    )
    return AnswerKey(version, suffix, request, accepts_gzip(headers.get("accept-encoding", "")), today())


def today() -> date:
    """Return the date in UTC."""
    return datetime.now(UTC).date()


def _rest_path(path: bytes, before: str) -> str:
    """Return the path after the base path ``before``, still percent-encoded; base paths have no encoded slashes."""
    rest = path.decode("latin-1").split("/", before.count("/"))[-1] if before.endswith("/") else ""
    api = before.rstrip("/").rpartition("/")[2]
    return f"{api}/{rest}" if api in _APIS else rest  # otherwise the path itself determines the version of the API
