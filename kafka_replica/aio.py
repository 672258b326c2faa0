"""A replica for asyncio: the same, awaited.

::

    async with AsyncReplica(Replica({"bootstrap.servers": "localhost:9092"}, topic="sdmx.structures")) as replica:
        await replica.wait_ready(timeout_s=60)
        async for change in replica.changes():
            print(change.version, *change.changed, *change.deleted)

Nothing here blocks the event loop, polls, or has a thread for who waits: the thread that makes versions wakes the
loop (``call_soon_threadsafe``). An object is bound to no loop; tasks of several loops, in several threads, may wait
on one at the same time. A wait that is cancelled takes nothing with it: no change is lost, nothing is left behind.
Snapshots are read as they are, without waiting.
"""

from __future__ import annotations

import asyncio
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
    """The asyncio side of a replica; as a context manager it starts and closes it.

    Args:
        replica: the replica. It may be used beside this, by threads and by other loops.
    """

    def __init__(self, replica: Replica) -> None:
        self._replica = replica

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._replica!r}>"

    @property
    def replica(self) -> Replica:
        """The replica itself: its state and status, listeners, metrics."""
        return self._replica

    async def start(self) -> Self:
        """Begins to read; see ``Replica.start``."""
        self._replica.start()
        return self

    async def close(self) -> None:
        """Ends it; see ``Replica.close``. It is closed all the same if the waiting is cancelled."""
        await asyncio.to_thread(self._replica.close)

    async def __aenter__(self) -> Self:
        return await self.start()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def wait_ready(self, timeout_s: float | None = None) -> Snapshot:
        """Waits for the barrier; see ``Replica.wait_ready``, which raises the same."""
        await self._until({}, timeout_s)
        return self._replica.wait_ready(timeout_s=0)

    async def wait_for(self, positions: Mapping[Partition, int], timeout_s: float | None = None) -> Snapshot:
        """Waits for a version that includes what lies below these offsets; see ``Replica.wait_for``."""
        await self._until(positions, timeout_s)
        return self._replica.wait_for(positions, timeout_s=0)

    def snapshot(self) -> Snapshot:
        """Return the present version, without waiting: there is nothing to await. See ``Replica.snapshot``."""
        return self._replica.snapshot()

    def changes(
        self, *, since: int | None = None, incarnation: str | None = None, max_pending: int = DEFAULT_PENDING_CHANGES
    ) -> AsyncChanges:
        """The changes one by one; see ``Replica.changes``. Time limits are asyncio's: ``asyncio.timeout``."""
        return AsyncChanges(
            self._replica.changes(since=since, incarnation=incarnation, timeout_s=0, max_pending=max_pending)
        )

    async def _until(self, positions: Mapping[Partition, int], timeout_s: float | None) -> None:
        await _called(lambda call: self._replica.call_when(positions, call), timeout_s)

    def __reduce__(self) -> NoReturn:
        self._replica.__reduce__()


class AsyncChanges(AsyncIterator[Change]):
    """The changes of a replica, one by one; ``aclose()`` ends it, and so does letting go of it.

    Several tasks may take from one: each change then goes to one of them.
    """

    def __init__(self, changes: Changes) -> None:
        self._changes = changes

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self._changes!r}>"

    async def __anext__(self) -> Change:
        """The next change.

        Raises:
            KafkaReplicaError: the replica failed, with this error.
        """
        await asyncio.sleep(0)  # where much waits here, other tasks have their turn all the same
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
        """No more changes are kept for it."""
        self._changes.close()

    def __reduce__(self) -> NoReturn:
        self._changes.__reduce__()


async def _called(arrange: Callable[[Callable[[], None]], Callable[[], None]], timeout_s: float | None = None) -> None:
    """Waits until what it gives to ``arrange`` is called, from whatever thread, or the time is over."""
    loop = asyncio.get_running_loop()
    news = loop.create_future()

    def call() -> None:
        with suppress(RuntimeError):  # the loop was closed, and nobody waits there any more
            loop.call_soon_threadsafe(_settle, news)

    take_back = arrange(call)
    try:
        await asyncio.wait([news], timeout=timeout_s)
    finally:
        take_back()


def _settle(news: asyncio.Future[None]) -> None:
    if not news.done():
        news.set_result(None)
