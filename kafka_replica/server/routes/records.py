"""The routes of records, whatever their values are: the keys of a version, and the stored value of a key."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from concurrent.futures import Executor
from functools import partial
from hashlib import blake2b
from heapq import nsmallest
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, quote, unquote_to_bytes, urlencode

from starlette.convertors import Convertor, register_url_convertor
from starlette.requests import Request
from starlette.responses import Response

from kafka_replica.errors import BadRecordError, KafkaReplicaError, UsageError
from kafka_replica.listeners.change_json import json_text
from kafka_replica.records import Record
from kafka_replica.server.answers.compression import accepts_gzip
from kafka_replica.server.answers.computing import compute_in
from kafka_replica.server.answers.finished_answer import FinishedAnswer, FinishedResponse, finish
from kafka_replica.server.answers.numbers import page_size
from kafka_replica.server.answers.versions import (
    RECORD,
    VersionId,
    Versions,
    pinned_version,
    raw_headers,
    version_headers,
)
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.request_headers import request_headers
from kafka_replica.server.rest.etag import matches, matches_any
from kafka_replica.server.rest.request_and_answer import RestAnswer
from kafka_replica.server.settings import ServerSettings
from kafka_replica.stores import Snapshot

_PATH: Final = b"/records/"
_PARAMETERS: Final = frozenset({"asOf", "topic"})
_OF_LISTS: Final = _PARAMETERS | {"prefix", "after", "limit"}
_MOST: Final = 10_000
_USUAL: Final = 1_000
_CONTENT_TYPE: Final = "content-type"
_OF_CONTENT: Final = frozenset({b"content-type", b"content-length", b"content-encoding"})
_LONGEST_TYPE: Final = 255  # clients and proxies limit the lengths of headers
_UNKNOWN_TYPE: Final = "application/octet-stream"
_PARAMETER: Final = r'[ \t]*;[ \t]*[\w.+*-]+=(?:[\w.+*-]+|"[ !#-\[\]-~]*")'
_is_media_type: Final = re.compile(rf"[\w.+*-]+/[\w.+*-]+(?:{_PARAMETER})*", re.ASCII).fullmatch


class _AnyText(Convertor[str]):
    """A part of a path that may have slashes and line breaks, and is not empty; Starlette's ``path`` has no breaks."""

    regex = r"[\s\S]+"

    def convert(self, value: str) -> str:
        return value

    def to_string(self, value: str) -> str:
        return value


register_url_convertor("any", _AnyText())


class _Listing(NamedTuple):
    """The keys that a request lists."""

    prefix: bytes
    after: bytes | None
    limit: int

    def has(self, key: bytes) -> bool:
        """Return whether a key belongs to this page or a later one."""
        return key.startswith(self.prefix) and (self.after is None or key > self.after)


class RecordRoutes:
    """The endpoints ``/records`` and ``/records/{key}``.

    Args:
        versions: the versions.
        settings: the limits.
        executor: runs the computation of answers.
        has_key_spaces: whether the replica has several topics, each with keys of its own.
    """

    def __init__(
        self, versions: Versions, settings: ServerSettings, executor: Executor, *, has_key_spaces: bool
    ) -> None:
        self._versions = versions
        self._settings = settings
        self._executor = executor
        self._has_key_spaces = has_key_spaces

    async def records(self, request: Request) -> Response:
        """Answer with a page of the keys, in the order of their bytes."""
        given = _parameters(request, _OF_LISTS)
        after = _bytes(given["after"]) if "after" in given else None
        listing = _Listing(_bytes(given.get("prefix", "")), after, page_size(given.get("limit"), _USUAL, _MOST))
        return await self._computed(request, given, partial(_page, request, given, listing))

    async def record(self, request: Request) -> Response:
        """Answer with the value of a key, as it is stored."""
        key = _key_of(request)
        return await self._computed(request, _parameters(request, _PARAMETERS), lambda shown: _value(shown, key))

    async def _computed(
        self, request: Request, given: dict[str, str], compute: Callable[[Snapshot], RestAnswer]
    ) -> Response:
        """Return the answer that a function computes from the requested version, or 304."""
        headers = request_headers(request.scope).values
        with_gzip = accepts_gzip(headers.get("accept-encoding", ""))
        wanted = pinned_version(request.path_params)

        def computed() -> FinishedResponse:
            snapshot = self._snapshot(wanted, given.get("asOf"))
            answer = compute(self._of_topic(snapshot, given.get("topic")))
            if len(answer.body) > self._settings.max_response_bytes:
                raise Problem(413, f"the answer is larger than {self._settings.max_response_bytes} bytes")
            named = version_headers(self._versions.id_of(snapshot), snapshot.position)
            found = finish(answer, raw_headers(named), "", with_gzip=with_gzip)
            if _is_known(headers.get("if-none-match", ""), dict(answer.headers).get("ETag", "")):
                found = _not_modified(found)
            return FinishedResponse(found, self._versions.raw_state_headers())

        return await compute_in(self._executor, computed, self._settings.request_timeout_s)

    def _snapshot(self, wanted: VersionId | None, as_of: str | None) -> Snapshot:
        current = self._versions.snapshot(wanted)  # also for the past: without a version, the answer is 503
        if as_of is None:
            return current
        try:
            return self._versions.as_of(as_of).snapshot
        except KafkaReplicaError as error:
            raise Problem(422, str(error)) from error

    def _of_topic(self, snapshot: Snapshot, topic: str | None) -> Snapshot:
        """Return the keys of the topic that a request names, which it has to if each topic has keys of its own."""
        if topic is None and not self._has_key_spaces:
            return snapshot
        if topic is None:
            raise Problem(400, "each topic has its own keys here: name one with ?topic=NAME")
        if not self._has_key_spaces:
            raise Problem(400, "the parameter topic is only for services whose topics have separate keys")
        try:
            return snapshot.of(topic)
        except UsageError as error:
            raise Problem(404, str(error)) from error


def _value(snapshot: Snapshot, key: bytes) -> RestAnswer:
    """Return the answer with the value of a key; its entity tag depends on nothing else."""
    try:
        record = snapshot.get(key)
    except BadRecordError as error:
        raise Problem(422, f"the record of this key cannot be read: {error.reason}") from error
    if record is None or record.value is None:
        raise Problem(404, f"version {snapshot.version} has no such key")
    content_type = _content_type(record)
    digest = blake2b(content_type.encode() + b"\0" + record.value, digest_size=12).hexdigest()
    headers = (("Content-Type", content_type), ("ETag", f'"{digest}"'), (RECORD, f"{record.source}@{record.offset}"))
    return RestAnswer(200, headers, record.value)


def _page(request: Request, given: dict[str, str], listing: _Listing, snapshot: Snapshot) -> RestAnswer:
    """Return the answer with a page of the keys; each page costs as much as iterating over all keys."""
    found = nsmallest(listing.limit + 1, filter(listing.has, snapshot))
    keys = found[: listing.limit]
    following = None
    if len(found) > len(keys):
        path = "" if request.url.path.endswith("/") else "records"
        following = f"{path}?{urlencode({**given, 'after': keys[-1]}, errors='surrogateescape', quote_via=quote)}"
    body = {"version": snapshot.version, "keys": [json_text(key) for key in keys], "next": following}
    return RestAnswer(200, (("Content-Type", "application/json"),), json.dumps(body, separators=(",", ":")).encode())


def _content_type(record: Record) -> str:
    """Return the media type that the record's header names, if it is one; otherwise that of unknown bytes."""
    named = (record.header(_CONTENT_TYPE) or b"").decode("latin-1").strip()
    return named if len(named) <= _LONGEST_TYPE and _is_media_type(named) else _UNKNOWN_TYPE


def _is_known(if_none_match: str, tag: str) -> bool:
    return bool(tag) and (matches_any(if_none_match) or matches(if_none_match, tag))


def _not_modified(found: FinishedAnswer) -> FinishedAnswer:
    """Return the answer to a client that has a value already; its entity tag is the same. Source: RFC 9110, 15.4.5."""
    headers = tuple(header for header in found.headers if header[0] not in _OF_CONTENT)
    return FinishedAnswer(304, headers, b"")


def _key_of(request: Request) -> bytes:
    """Return the bytes of the key in a path: those that were sent, which need not be UTF-8."""
    sent = request.scope.get("raw_path")
    path = request.scope["path"].encode() if sent is None else unquote_to_bytes(sent)
    _, found, key = path.removeprefix(request.scope.get("root_path", "").encode()).partition(_PATH)
    if not found:
        raise Problem(404, "there is nothing at this path")
    return key


def _parameters(request: Request, known: frozenset[str]) -> dict[str, str]:
    """Return the parameters of a query, in which bytes that are not UTF-8 are escaped as surrogates."""
    query = request.scope["query_string"].decode("latin-1")
    given = dict(parse_qsl(query, keep_blank_values=True, errors="surrogateescape"))
    if unknown := given.keys() - known:
        raise Problem(
            400, f"there is no parameter {min(unknown)[:100]!a}; the parameters are {', '.join(sorted(known))}"
        )
    return given


def _bytes(text: str) -> bytes:
    return text.encode(errors="surrogateescape")
