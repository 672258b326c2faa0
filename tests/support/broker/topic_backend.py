"""The backend of the contract of topics: a topic that a test writes to by hand, and a reader's view of it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from kafka_replica import Headers, Partition, Position, Replica
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.producer import TransactionalProducer
from kafka_replica.transactions import Batch, BoundaryDetector, Kind

PATIENCE_S = 60.0
FILLER = b"filler"
"""The key of the records that a backend writes itself to trigger compaction."""


class Writing(Protocol):
    """A transaction that a test writes by hand."""

    def put(
        self,
        key: str,
        value: bytes,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Write a record; it is in the log on return."""

    def delete(self, key: str, *, partition: int | None = None) -> None:
        """Write a tombstone; it is in the log on return."""

    def commit(self) -> object:
        """Commit; the markers are in the log on return."""

    def abort(self) -> None:
        """Abort; the markers are in the log on return."""


class Entry(NamedTuple):
    """The entry at one offset, as a reader sees it."""

    partition: int
    offset: int
    kind: Kind
    writer: int
    """The producers, numbered in order of appearance; -1 where there is none or it cannot be seen."""
    epoch: int
    """The epoch, relative to the first one seen of that producer."""
    key: bytes | None
    value: bytes | None


class Seen(NamedTuple):
    """A reader's view of a topic from its beginning to its end."""

    entries: list[Entry]
    positions: list[int]
    """The entries by partition, like all following fields."""
    stable: list[int]
    high: list[int]
    gap: bool
    """True if an offset was missing."""


class Backend(ABC):
    """A topic; ``make`` of the contract returns a fresh one."""

    name: str

    @abstractmethod
    def begin(self) -> Writing:
        """Begin a transaction, in addition to those that are open."""

    @abstractmethod
    def put(self, key: str | None, value: bytes | None, *, partition: int | None = None) -> object:
        """Write a record outside of transactions, or a tombstone without a value; it is in the log on return."""

    @abstractmethod
    def producer(self, transactional_id: str, *, timeout_s: float = 30.0) -> TransactionalProducer:
        """Return the producer that users have."""

    @abstractmethod
    def replica(self, **options: Any) -> Replica:
        """Return a replica of the topic, not started."""

    @abstractmethod
    def source(self, boundaries: Boundaries) -> tuple[LogReader, BoundaryDetector]:
        """The boundaries that the replica uses."""

    @abstractmethod
    def end(self) -> Position:
        """Return the high watermarks."""

    @abstractmethod
    def compact(self) -> None:
        """Write a filler, and have the log before it compacted; a second call may be needed."""

    @abstractmethod
    def delete_before(self, offset: int) -> None:
        """Delete all records below an offset of partition 0; the topic was created to accept any key."""

    @abstractmethod
    def drop(self) -> None:
        """Delete the topic."""

    @abstractmethod
    def recreate(self) -> None:
        """Create the topic again under its name."""

    @abstractmethod
    def add_partitions(self, total: int) -> None:
        """Add partitions."""

    @abstractmethod
    def outage(self) -> AbstractContextManager[object]:
        """Make the broker unavailable in the block."""

    # --- common to all backends ---

    def write(self, records: dict[str, bytes | None], *, commit: bool = True) -> Position:
        """Write a transaction, committed or aborted; return the end of the topic."""
        writing = self.begin()
        for key, value in records.items():
            if value is None:
                writing.delete(key)
            else:
                writing.put(key, value)
        (writing.commit if commit else writing.abort)()
        return self.end()

    def look(self, boundaries: Boundaries = Boundaries.MARKERS) -> Seen:
        """Return a reader's view of the topic now, without fillers."""
        source, _ = self.source(boundaries)
        try:
            return _look(source, boundaries)
        finally:
            source.close()

    def place(self, number: int = 0) -> Partition:
        """Return one of its partitions."""
        return Partition(self.name, number)


def _look(source: LogReader, boundaries: Boundaries) -> Seen:
    source.open()
    ends = source.ends()
    goal = ends.last_stable if boundaries is Boundaries.QUIESCENCE else ends.high_watermarks
    batches: list[Batch] = []
    positions = Position()
    gap = False
    give_up_s = time.monotonic() + PATIENCE_S
    while not positions.dominates(goal):
        assert time.monotonic() < give_up_s, f"the reader does not come to {goal}, it is at {positions}"
        fetched = source.read(0.2)
        batches += fetched.reading.batches
        positions = fetched.reading.positions
        gap |= bool(fetched.gaps)
    ends = source.ends()
    read, stable, high = (
        [each[partition] for partition in sorted(goal)] for each in (positions, ends.last_stable, ends.high_watermarks)
    )
    return Seen(_entries(batches), read, stable, high, gap)


def _entries(batches: list[Batch]) -> list[Entry]:
    writers: dict[int, int] = {}
    epochs: dict[int, int] = {}
    found: list[Entry] = []
    for batch in sorted(batches, key=lambda batch: (batch.partition, batch.first)):
        pid = batch.producer_id
        # A plain producer of librdkafka has no producer id; an idempotent one would.
        writer = writers.setdefault(pid, len(writers)) if batch.kind in {Kind.DATA, Kind.COMMIT, Kind.ABORT} else -1
        epoch = batch.producer_epoch - epochs.setdefault(pid, batch.producer_epoch) if writer >= 0 else 0
        if batch.kind in {Kind.COMMIT, Kind.ABORT}:
            found.append(Entry(batch.partition.partition, batch.first, batch.kind, writer, epoch, None, None))
            continue
        for key, value, offset, *_ in batch.content.records():
            found.append(Entry(batch.partition.partition, offset, batch.kind, writer, epoch, key, value))
    return [entry for entry in found if entry.key != FILLER]
