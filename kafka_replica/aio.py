"""The asyncio interface of a replica.

::

    async with AsyncReplica(Replica({"bootstrap.servers": "localhost:9092"}, topic="sdmx.structures")) as replica:
        await replica.wait_ready(timeout_s=60)
        async for change in replica.changes():
            print(change.version, *change.changed, *change.deleted)

No method blocks the event loop, polls, or uses a thread for a waiting task: the thread that makes versions wakes the
loop (``call_soon_threadsafe``). An object is not bound to a loop: tasks of several loops, in several threads, may wait
on it at the same time. Cancelling a wait loses no change and leaves no resources behind. Snapshots are read directly,
without waiting.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import NoReturn, Self

from kafka_replica.errors import WaitTimeoutError
from kafka_replica.listeners import DEFAULT_PENDING_CHANGES, Change, Changes
from kafka_replica.records import Partition
from kafka_replica.replica import Replica
from kafka_replica.stores import Snapshot


class AsyncReplica:
    """The asyncio interface of a replica; as a context manager it starts and closes the replica.

    Args:
        replica: the replica. Threads and other loops may use it at the same time.
    """

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._replica!r}>"

    @property
    def replica(self) -> Replica:
        """The replica itself, for its state and status, listeners and metrics."""
        return self._replica

    async def start(self) -> Self:
        """Start to read; see ``Replica.start``."""
        self._replica.start()
        return self

    async def close(self) -> None:
        """Close the replica; see ``Replica.close``. Cancelling the wait does not stop the closing."""
        await asyncio.to_thread(self._replica.close)

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def wait_ready(self, timeout_s: float | None = None) -> Snapshot:
        """Wait until the replica is ready; see ``Replica.wait_ready``, which raises the same errors."""
        return await self._waited({}, timeout_s, lambda: self._replica.wait_ready(timeout_s=0))

    async def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Wait for a version that includes the records below these offsets; see ``Replica.wait_for``."""
        return await self._waited(positions, timeout_s, lambda: self._replica.wait_for(positions, timeout_s=0))

    def snapshot(self) -> Snapshot:
        """Return the current version without waiting; see ``Replica.snapshot``."""
        return self._replica.snapshot()

    def changes(
        self, *, since: int | None = None, incarnation: str | None = None, max_pending: int = DEFAULT_PENDING_CHANGES
    ) -> AsyncChanges:
        """Return an iterator of changes; see ``Replica.changes``. For a time limit use ``asyncio.timeout``."""
        return AsyncChanges(
            self._replica.changes(since=since, incarnation=incarnation, timeout_s=0, max_pending=max_pending)
        )

    async def _waited(
        self, positions: Mapping[Partition, int], timeout_s: float | None, result: Callable[[], Snapshot]
    ) -> Snapshot:
        """Return a result that is available when ``positions`` are reached; wait again if a rebuild has begun since."""
        call_when = self._replica._call_when  # noqa: SLF001 - for this class only
        give_up_s = math.inf if timeout_s is None else time.monotonic() + timeout_s
        while True:
            remaining_s = None if timeout_s is None else max(0.0, give_up_s - time.monotonic())
            await _called(lambda call: call_when(positions, call), remaining_s)
            try:
                return result()
            except WaitTimeoutError:
                if time.monotonic() >= give_up_s:
                    raise

    def __reduce__(self) -> NoReturn:
        self._replica.__reduce__()


class AsyncChanges(AsyncIterator[Change]):
    """An asynchronous iterator of the changes of a replica; ``aclose()`` or garbage collection ends it.

    Several tasks may use the same iterator: each change then goes to one of them.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._changes!r}>"

    async def __anext__(self) -> Change:
        """Return the next change.

        Raises:
            KafkaReplicaError: the replica failed, with this error.
        """
        await asyncio.sleep(0)  # let other tasks run, even if many changes are pending
        while True:
            if not self._changes.ready:
                await _called(self._changes.call_when_ready)
            try:
                return next(self._changes)
            except StopIteration:
                raise StopAsyncIteration from None
            except WaitTimeoutError:
                continue  # another task was faster

    async def aclose(self) -> None:
        """End the iteration: no more changes are kept for it."""
        self._changes.close()

    def __reduce__(self) -> NoReturn:
        self._changes.__reduce__()


async def _called(arrange: Callable[[Callable[[], None]], Callable[[], None]], timeout_s: float | None = None) -> None:
    """Pass a function to ``arrange``, and wait until any thread calls it, or until the timeout."""
    loop = asyncio.get_running_loop()
    news = loop.create_future()

    def call() -> None:
        with suppress(RuntimeError):  # the loop was closed, so no task waits there any more
            loop.call_soon_threadsafe(_set_done, news)

    cancel = arrange(call)
    try:
        await asyncio.wait([news], timeout=timeout_s)
    finally:
        cancel()


def _set_done(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)
