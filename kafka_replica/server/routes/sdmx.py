"""The routes of the SDMX REST API: each answer is computed from one version, and cached.

Answers are computed in threads, except those that cost less than the switch to a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from functools import partial
from typing import Final, TypeAlias

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Scope

from kafka_replica.large_values.manifest import HEADER
from kafka_replica.large_values.snapshot import LargeValueSnapshot
from kafka_replica.sdmx import Structures
from kafka_replica.server.answers.accept import prefers_html
from kafka_replica.server.answers.answer_cache import AnswerCache
from kafka_replica.server.answers.answer_key import AnswerKey, answer_key, path_in_api, today
from kafka_replica.server.answers.as_of import may_have_as_of
from kafka_replica.server.answers.computing import compute_in
from kafka_replica.server.answers.finished_answer import FinishedAnswer, FinishedResponse, finish
from kafka_replica.server.answers.versions import ServedVersion, VersionId, Versions, pinned_version
from kafka_replica.server.errors.problems import Problem, names_problem, problem_response
from kafka_replica.server.rest.answered_inline import MAX_INLINE_BYTES
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest
from kafka_replica.server.settings import ServerSettings
from kafka_replica.stores import Snapshot

_OF_VERSION: Final = b"kafka-replica-"
_KEPT: Final = frozenset({200, 304})
_COMPRESSED: Final = 32_768
"""The number of bytes that are compressed in less than a millisecond; more are compressed in a thread."""
_PACKED_STARTS: Final = (b"\x1f\x8b", b"PK")  # gzip, ZIP
_EXTENSION: Final = b"codelistextension"

Answer: TypeAlias = Callable[[RestRequest, Structures], RestAnswer]
"""A function that answers a request from one version; it must be thread-safe."""
Quick: TypeAlias = Callable[[RestRequest, Callable[[str], int | None]], bool]
Unparsed: TypeAlias = Callable[[RestRequest, Structures], RestAnswer | None]


class SdmxRoutes:
    """The endpoints of the SDMX REST API.

    Args:
        versions: the versions from which requests are answered.
        answer: computes answers.
        settings: the limits.
        executor: runs the computation; its threads bound the number of running computations.
        quick: returns whether a request is answered within about a millisecond, given a function that returns the size
            of a record; None if no request is.
        unparsed: returns the answer that ``answer`` would return, within microseconds; None if it does not know it.
    """

    def __init__(
        self,
        versions: Versions,
        answer: Answer,
        settings: ServerSettings,
        executor: Executor,
        quick: Quick | None = None,
        unparsed: Unparsed | None = None,
    ) -> None:
        self._versions = versions
        self._answer = answer
        self._settings = settings
        self._executor = executor
        self._quick = quick
        self._unparsed = unparsed
        self._followed: VersionId | None = None
        self._cache = AnswerCache(settings.cache_bytes)

    async def sdmx(self, request: Request) -> Response:
        """Answer from the current version."""
        path = path_in_api(request.scope, request.path_params.get("rest", ""))
        return await self.respond(request.scope, path, None)

    async def pinned_sdmx(self, request: Request) -> Response:
        """Answer from the version in the path."""
        path = path_in_api(request.scope, request.path_params.get("rest", ""))
        return await self.respond(request.scope, path, pinned_version(request.path_params))

    async def respond(self, scope: Scope, path: str, wanted: VersionId | None) -> Response:
        """Return the answer to a request.

        Args:
            scope: the request.
            path: the path as in a ``RestRequest``.
            wanted: the version from which to answer; None for the current one.

        Raises:
            Problem: the version is not available, or the answer is too large or takes too long.
        """
        key, prepared = self._key(scope, path, wanted)
        found = self._known(key, prepared)
        if found is None:
            if prepared is not None and self._is_quick(key.request, prepared):
                found = self._compute(key, prepared)
            else:
                found = await compute_in(
                    self._executor, lambda: self._compute(key, self._served(wanted)), self._settings.request_timeout_s
                )
        state = self._versions.raw_state_headers()
        if found.problem is not None and (prefers_html(key.request.accept) or names_problem(key.request.accept)):
            return _problem(found.status, found.problem, (*found.headers, *state))
        return FinishedResponse(found, state)

    def known(self, scope: Scope, path: str) -> FinishedResponse | None:
        """Return the answer from the current version that ``respond`` would return at once; None if it has to compute.

        Raises:
            Problem: as for ``respond``.
        """
        found = self._known(*self._key(scope, path, None))
        return None if found is None else FinishedResponse(found, self._versions.raw_state_headers())

    def _key(self, scope: Scope, path: str, wanted: VersionId | None) -> tuple[AnswerKey, ServedVersion | None]:
        """Return the key of an answer, and its version, if it is the current version and has look-ups already."""
        snapshot, query = self._versions.snapshot(wanted), scope["query_string"].decode("latin-1")
        prepared = self._versions.prepared(snapshot)
        if prepared is None:
            version = self._versions.id_of(snapshot)
            suffix = self._versions.suffix(version, snapshot.position)
        else:
            version, suffix = prepared.id, prepared.suffix
        return answer_key(scope, path, query, version, self._suffix(suffix, version, query)), prepared

    def _known(self, key: AnswerKey, prepared: ServedVersion | None) -> FinishedAnswer | None:
        return self._cache.get(key) or self._stored(key, prepared)

    def _is_quick(self, request: RestRequest, served: ServedVersion) -> bool:
        """Return whether a request is answered from a version within about a millisecond.

        Without indexes, the first look-up may take long: it updates them, or searches all messages of the version.
        """
        if self._quick is None or not served.structures.is_indexed:
            return False
        return self._quick(request, partial(_size_of, served.snapshot))

    def _stored(self, key: AnswerKey, served: ServedVersion | None) -> FinishedAnswer | None:
        """Return the answer from a version if it consists of stored bytes, and this is known already."""
        if served is None or self._unparsed is None:
            return None
        answer = self._unparsed(key.request, served.structures)
        limit = self._settings.max_response_bytes
        if answer is None or len(answer.body) > (min(limit, _COMPRESSED) if key.with_gzip else limit):
            return None
        found = finish(answer, served.raw_headers, key.suffix, with_gzip=key.with_gzip)
        self._cache.put(key, found, key.client_bytes)
        return found

    def _compute(self, key: AnswerKey, served: ServedVersion) -> FinishedAnswer:
        day = today()
        answer = self._answer(key.request, served.structures)
        if len(answer.body) > self._settings.max_response_bytes:
            raise Problem(413, f"the answer is larger than {self._settings.max_response_bytes} bytes; request less")
        suffix = self._suffix(served.suffix, served.id, key.request.query)
        found = finish(answer, served.raw_headers, suffix, with_gzip=key.with_gzip)
        # An answer of the past also depends on which versions are kept.
        if found.status in _KEPT and not may_have_as_of(key.request.query):
            self._cache.put(key._replace(version=served.id, suffix=suffix, day=day), found, key.client_bytes)
        return found

    def _suffix(self, suffix: str, version: VersionId, query: str) -> str:
        """Return the suffix of an entity tag: without the position if the request may have ``asOf``.

        The position of the current version says nothing about an answer from another version.
        """
        return self._versions.suffix(version, None) if query and may_have_as_of(query) else suffix

    def _served(self, wanted: VersionId | None) -> ServedVersion:
        """Return a version; if it is the current one, let a thread find out what is known about stored bytes."""
        if wanted is not None:
            return self._versions.at(wanted)
        served = self._versions.current()
        if served.structures.has_pending_references and self._followed != served.id:
            self._followed = served.id
            self._executor.submit(served.structures.follow_references)
        return served


def _problem(status: int, text: str, headers: Iterable[tuple[bytes, bytes]]) -> Response:
    """Return problem details with those headers that name the version; ``ErrorPages`` makes a page of them."""
    version = {name.decode(): value.decode("latin-1") for name, value in headers if name.startswith(_OF_VERSION)}
    return problem_response(status, text, {**version, "Vary": "Accept"})


def _size_of(snapshot: Snapshot, key: str) -> int | None:
    """Return the size of a record, or a number that is too large if the effort for its artefact may be greater.

    A compressed message may be large, a codelist that extends others has their codes, too, and a large value has to be
    assembled.
    """
    if isinstance(snapshot, LargeValueSnapshot):
        record = snapshot.records.get(key)
        if record is not None and record.header(HEADER) is not None:
            return MAX_INLINE_BYTES + 1
    record = snapshot.get(key)
    if record is None or record.value is None:
        return None
    value = record.value
    may_take_longer = value.startswith(_PACKED_STARTS) or (
        len(value) <= MAX_INLINE_BYTES and _EXTENSION in value.lower()
    )
    return MAX_INLINE_BYTES + 1 if may_take_longer else len(value)
