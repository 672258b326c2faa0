"""Reads what is sent next while Kafka is waited for: small transactions in groups, by one query and in another thread.

What a transaction holds does not change once it is recorded, so it does not matter when it is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final

from kafka_replica.producer.outbox.queue import Contents, Queue, Recorded
from kafka_replica.producer.outbox.tables import Kind

_GROUP_BYTES: Final = 1 << 20  # in memory are two groups at most: one that is sent, one that is read
_GROUP_RECORDS: Final = 1000


class Prefetcher:
    """The contents of transactions, one after the other, read before they are asked for.

    Args:
        queue: where they are read from.
    """

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._thread = ThreadPoolExecutor(1, "kafka_replica outbox")
        self._rest: Iterator[list[Recorded]] = iter(())
        self._reading: tuple[list[Recorded], Future[dict[int, Contents]]] | None = None
        self._ready: dict[int, Contents] = {}
        self._due = False

    def look_at(self, pending: Sequence[Recorded]) -> None:
        """Begins to read what will be asked for, and forgets what was read before."""
        self._ready, self._reading = {}, None
        self._rest, self._due = grouped(pending), True
        self.read_on()  # it is asked for next

    def contents(self, recorded: Recorded) -> Contents:
        """Return the records of a transaction; not for a sweep.

        Raises:
            OutboxError: they could not be read.
        """
        if self._reading is not None and recorded in self._reading[0]:
            self._ready, self._due = self._reading[1].result(), True
        found = self._ready.pop(recorded.tx_id, None)
        return self._queue.contents(recorded) if found is None else found

    def read_on(self) -> None:
        """Begins to read what comes after that, if it is time; best called where Kafka is waited for.

        Reading needs the interpreter as handing over does: at once, both take longer.
        """
        if not self._due:
            return
        self._due = False
        group = next(self._rest, None)
        self._reading = None if group is None else (group, self._thread.submit(self._queue.contents_of, group))

    def close(self) -> None:
        """Ends."""
        self._thread.shutdown(cancel_futures=True)


def grouped(pending: Iterable[Recorded]) -> Iterator[list[Recorded]]:
    """Transactions that follow each other, small enough to be read at once; large ones and flushes are left out."""
    group: list[Recorded] = []
    for each in pending:
        is_small = (
            each.kind in {Kind.CHANGES, Kind.DELETIONS}
            and each.size <= _GROUP_BYTES
            and each.messages <= _GROUP_RECORDS
        )
        if group and not (is_small and _fits(group, each)):
            yield group
            group = []
        if is_small:
            group.append(each)
    if group:
        yield group


def _fits(group: list[Recorded], each: Recorded) -> bool:
    return (
        sum(one.size for one in group) + each.size <= _GROUP_BYTES
        and sum(one.messages for one in group) + each.messages <= _GROUP_RECORDS
    )
