"""The feed of changes as server-sent events: one event per version, resumable.

Source: WHATWG HTML Living Standard, section 9.2 (Server-sent events).

A slow client uses bounded memory: its pending changes are merged when there are more than ``max_pending_changes``, and
its connection is closed if it accepts no data for some time. No thread and no other client waits for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from kafka_replica.aio import AsyncChanges, AsyncReplica
from kafka_replica.errors import KafkaReplicaError
from kafka_replica.listeners import Change
from kafka_replica.replica import Replica
from kafka_replica.server.answers.events import COMMENT, SortedKeys, change_event, failed_event
from kafka_replica.server.answers.threads import DaemonThreads
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.errors.problems import Problem, busy
from kafka_replica.server.settings import ServerSettings

_MEDIA_TYPE = "text/event-stream"
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}  # otherwise nginx would delay events
_KEYS_AT_ONCE = 1000  # keys of larger changes are sorted in a thread and sent in parts
_THREADS = 2  # sorting occupies the interpreter, so that more threads would only delay other answers


class ChangeFeed:
    """The endpoint of the change feed, and its open streams.

    Args:
        replica: the replica.
        settings: the settings; the limits of streams and the interval of heartbeats are used.
        on_count: called with the number of open streams whenever it changes.
    """

    def __init__(self, replica: Replica, settings: ServerSettings, on_count: Callable[[int], object]) -> None:
        self._replica = replica
        self._on_count = on_count
        self._settings = settings
        self._open: set[AsyncChanges] = set()
        self._closed = False
        self._threads = DaemonThreads(_THREADS, "kafka_replica server changes")

    @property
    def stream_count(self) -> int:
        """The number of open streams."""
        return len(self._open)

    async def changes(self, request: Request) -> Response:
        """Stream the changes since the version in ``Last-Event-ID`` or ``since``; without it, the whole state first.

        Raises:
            Problem: 400 if ``since`` is malformed; 503 if the server is shutting down, or has too many streams.
        """
        last = _last_event(request)
        if request.method == "HEAD":
            return Response(None, 200, _HEADERS, _MEDIA_TYPE)
        if self._closed:
            raise busy("the server is shutting down")
        if len(self._open) >= self._settings.max_streams:
            raise busy(f"{self._settings.max_streams} streams of changes are already open")
        changes = self._changes_since(last)
        self._open.add(changes)
        self._on_count(len(self._open))
        return _EventStream(self._stream(changes), self._end(changes))

    def _changes_since(self, last: VersionId | None) -> AsyncChanges:
        known = last is not None and last.incarnation == self._replica.incarnation
        try:
            return AsyncReplica(self._replica).changes(
                since=last.version if last is not None and known else None,
                max_pending=self._settings.max_pending_changes,
            )
        except KafkaReplicaError as error:
            raise Problem(503, "the replica was closed") from error

    async def close(self) -> None:
        """End all streams; clients reconnect and resume, to this server or another."""
        self._closed = True
        for changes in tuple(self._open):
            await changes.aclose()
        self._threads.shutdown(wait=False)

    def _end(self, changes: AsyncChanges) -> Callable[[], Awaitable[None]]:
        async def end() -> None:
            self._open.discard(changes)
            self._on_count(len(self._open))
            await changes.aclose()

        return end

    async def _stream(self, changes: AsyncChanges) -> AsyncIterator[bytes]:
        yield COMMENT
        try:
            async with aclosing(self._events(changes)) as events:
                async for event in events:
                    yield event
        except KafkaReplicaError:
            yield failed_event(str(self._replica.state))

    async def _events(self, changes: AsyncChanges) -> AsyncGenerator[bytes]:
        while True:
            try:
                async with asyncio.timeout(self._settings.heartbeat_s):
                    change = await anext(changes)
            except TimeoutError:
                yield COMMENT
                continue
            except StopAsyncIteration:
                return
            if self._closed:
                return
            async for part in self._event(change):
                yield part

    async def _event(self, change: Change) -> AsyncIterator[bytes]:
        is_large = change.initial or len(change.changed) + len(change.deleted) > _KEYS_AT_ONCE
        keys = await self._sorted(change) if is_large else SortedKeys.of(change)
        several = self._replica.has_key_spaces
        parts = change_event(change, keys, self._replica.incarnation, several_topics=several)
        if is_large:
            for part in parts:
                yield part
        else:
            yield b"".join(parts)

    async def _sorted(self, change: Change) -> SortedKeys:
        return await asyncio.get_running_loop().run_in_executor(self._threads, SortedKeys.of, change)


def _last_event(request: Request) -> VersionId | None:
    """Return the version of the client's last event; None if it names none.

    A malformed ``Last-Event-ID`` is none: a browser would not connect again after an error.
    """
    sent = request.headers.get("last-event-id")
    if sent:
        return VersionId.parse(sent)
    since = request.query_params.get("since")
    found = VersionId.parse(since) if since else None
    if since and found is None:
        raise Problem(400, "since must be the id of an event, such as 17.5f2ac1d09b3e4a77")
    return found


class _EventStream(StreamingResponse):
    """A stream of events that calls a function at its end, even if the stream never started."""

    def __init__(self, content: AsyncIterator[bytes], end: Callable[[], Awaitable[None]]) -> None:
        super().__init__(content, 200, _HEADERS, _MEDIA_TYPE)
        self._end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._end()
