"""What the contract of topics is run on: a topic that a test writes to by hand, and what a reader sees of it."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

from kafka_replica import Headers, Partition, Position, Replica
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.producer import TransactionalProducer
from kafka_replica.transactions import Batch, BoundaryDetector, Kind

PATIENCE_S = 30.0
FILLER = b"filler"
"""The key of what a backend writes itself to bring compaction about."""


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
        """Writes a record; it lies in the log when this returns."""

    def delete(self, key: str, *, partition: int | None = None) -> None:
        """Writes a tombstone, likewise."""

    def commit(self) -> object:
        """Commits; the markers lie in the log when this returns."""

    def abort(self) -> None:
        """Aborts, likewise."""


class Entry(NamedTuple):
    """What lies at one offset, as a reader sees it."""

    partition: int
    offset: int
    kind: Kind
    writer: int
    """Producers numbered as they turn up; -1 where there is none or it cannot be seen."""
    epoch: int
    """Counted from the first one seen of that producer."""
    key: bytes | None
    value: bytes | None


class Seen(NamedTuple):
    """What a reader sees of a topic from its beginning to its end."""

    entries: list[Entry]
    positions: list[int]
    """Of each partition, as all that follow."""
    stable: list[int]
    high: list[int]
    gap: bool
    """Whether an offset was missing."""


class Backend(ABC):
    """A topic; ``make`` of the contract gives a fresh one."""

    name: str

    @abstractmethod
    def begin(self) -> Writing:
        """Begins a transaction, beside those that are open."""

    @abstractmethod
    def put(self, key: str | None, value: bytes | None, *, partition: int | None = None) -> object:
        """Writes a record outside of transactions, a tombstone without a value; it lies in the log then."""

    @abstractmethod
    def producer(self, transactional_id: str, *, timeout_s: float = 30.0) -> TransactionalProducer:
        """The producer that users have."""

    @abstractmethod
    def replica(self, **options: Any) -> Replica:
        """A replica of it, not started."""

    @abstractmethod
    def source(self, boundaries: Boundaries) -> tuple[LogReader, BoundaryDetector]:
        """What a replica reads with."""

    @abstractmethod
    def end(self) -> Position:
        """The high watermarks."""

    @abstractmethod
    def compact(self) -> None:
        """Writes a filler, and has the log before it compacted; once more may be needed."""

    @abstractmethod
    def delete_before(self, offset: int) -> None:
        """Deletes all records below an offset of partition 0; the topic was made to take any key."""

    @abstractmethod
    def drop(self) -> None:
        """Deletes the topic."""

    @abstractmethod
    def recreate(self) -> None:
        """Makes it again under its name."""

    @abstractmethod
    def add_partitions(self, total: int) -> None:
        """Gives it more partitions."""

    @abstractmethod
    def unavailable(self) -> AbstractContextManager[object]:
        """In the block the broker is gone."""

    # --- the same for all ---

    def write(self, records: dict[str, bytes | None], *, commit: bool = True) -> Position:
        """One transaction, committed or aborted; returns the end of the topic."""
        writing = self.begin()
        for key, value in records.items():
            if value is None:
                writing.delete(key)
            else:
                writing.put(key, value)
        (writing.commit if commit else writing.abort)()
        return self.end()

    def look(self, boundaries: Boundaries = Boundaries.MARKERS) -> Seen:
        """What a reader sees of it now, fillers left out."""
        source, _ = self.source(boundaries)
        try:
            return _look(source, boundaries)
        finally:
            source.close()

    def place(self, number: int = 0) -> Partition:
        """One of its partitions."""
        return Partition(self.name, number)


def until(condition: Callable[[], object]) -> None:
    """Waits until it holds."""
    give_up_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < give_up_s, "it did not come to hold in time"
        time.sleep(0.003)


def _look(source: LogReader, boundaries: Boundaries) -> Seen:
    source.open()
    ends = source.ends()
    goal = ends.stable if boundaries is Boundaries.QUIESCENCE else ends.high
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
    cuts = (positions, ends.stable, ends.high)
    return Seen(_entries(batches), *([position[partition] for partition in sorted(goal)] for position in cuts), gap)


def _entries(batches: list[Batch]) -> list[Entry]:
    writers: dict[int, int] = {}
    epochs: dict[int, int] = {}
    found: list[Entry] = []
    for batch in sorted(batches, key=lambda batch: (batch.partition, batch.first)):
        pid = batch.producer_id
        # A plain producer of librdkafka has no id; an idempotent one would.
        writer = writers.setdefault(pid, len(writers)) if batch.kind in {Kind.DATA, Kind.COMMIT, Kind.ABORT} else -1
        epoch = batch.producer_epoch - epochs.setdefault(pid, batch.producer_epoch) if writer >= 0 else 0
        if batch.kind in {Kind.COMMIT, Kind.ABORT}:
            found.append(Entry(batch.partition.partition, batch.first, batch.kind, writer, epoch, None, None))
            continue
        for key, value, offset, *_ in batch.content.records():
            found.append(Entry(batch.partition.partition, offset, batch.kind, writer, epoch, key, value))
    return [entry for entry in found if entry.key != FILLER]
