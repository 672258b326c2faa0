"""The records that transactions wrote to one partition, held until their markers are read."""

from __future__ import annotations

from kafka_replica.records import OpenTransaction, Partition
from kafka_replica.transactions.batches import Batch, Kind

_DATA, _COMMIT, _ABORT = Kind.DATA, Kind.COMMIT, Kind.ABORT


class OpenBatches:
    """The batches that one open transaction wrote to one partition: a part of the transaction."""

    __slots__ = ("_spans", "batches", "detached_count", "marker", "records")

    def __init__(self, batch: Batch) -> None:
        self.batches = [batch]
        self.records = batch.record_count
        self.marker: int | None = None  # the offset of its marker, once the marker was read
        self.detached_count = 0  # how many of the batches share no buffer with others
        self._spans: list[tuple[int, int]] | None = None  # made when they are needed: most transactions end before that

    @property
    def partition(self) -> Partition:
        """The partition."""
        return self.batches[0].partition

    @property
    def producer_id(self) -> int:
        """The producer."""
        return self.batches[0].producer_id

    @property
    def epoch(self) -> int:
        """The producer's epoch in the last batch."""
        return self.batches[-1].producer_epoch

    @property
    def first(self) -> int:
        """The first offset."""
        return self.batches[0].first

    @property
    def last(self) -> int:
        """The last offset so far. Ends may lie within a batch, if adjacent batches were read together."""
        return self.batches[-1].end - 1

    def add(self, batch: Batch) -> None:
        """Add a batch of the transaction."""
        self.batches.append(batch)
        self.records += batch.record_count
        if self._spans is not None:
            self._spans.append((batch.first, batch.end))

    def hold(self) -> None:
        """Detach the batches from shared buffers, because they are needed beyond this reading."""
        for batch in self.batches[self.detached_count :]:
            batch.content.hold()
        self.detached_count = len(self.batches)

    def as_open(self) -> OpenTransaction:
        """Return the open transaction in the form in which a position lists it."""
        if self._spans is None:
            self._spans = [(batch.first, batch.end) for batch in self.batches]
        return OpenTransaction(self.partition, self.producer_id, self.epoch, self.first, self._spans, len(self._spans))


class CommittedBatches:
    """The batches of a committed part of a transaction, or a batch outside of transactions.

    Attributes:
        end: the offset after the marker; outside of transactions, after the batch itself.
    """

    __slots__ = ("bumped", "end", "epoch", "part", "partition", "producer_id", "unbumped")

    def __init__(self, end: Batch, part: OpenBatches | None) -> None:
        # The epoch is that of the marker, which is the same in all partitions, with or without records.
        self.partition, kind, first, self.end, _, producer_id, self.epoch, _ = end
        self.part = part  # None if compaction left nothing but the marker
        self.producer_id = -1
        self.bumped = self.unbumped = False
        if part is not None:
            part.marker = first
        if kind is _COMMIT:
            self.producer_id = producer_id
            if part is not None:
                # KIP-890: the epoch of the marker is that of the records plus one: each transaction has its own epoch.
                bump = self.epoch - part.batches[-1].producer_epoch
                self.bumped, self.unbumped = bump == 1, bump == 0

    @property
    def batches(self) -> list[Batch]:
        """The batches."""
        return [] if self.part is None else self.part.batches

    @property
    def records(self) -> int:
        """The number of records."""
        return 0 if self.part is None else self.part.records

    def hold(self) -> None:
        """Detach the batches from shared buffers, because they are needed beyond this reading."""
        if self.part is not None:
            self.part.hold()


class TransactionCounter:
    """A counter of transactions, based on their parts.

    Where epochs do not distinguish the transactions of a producer, the count is the number of its markers in the
    partition where it has most of them, which is a lower bound.
    """

    def __init__(self) -> None:
        self._exact: set[tuple[int, int]] = set()  # producer ids and epochs that identify a transaction
        self._markers: dict[int, dict[Partition, int]] = {}  # the other markers by producer id

    def add(self, commit: CommittedBatches) -> None:
        """Count a marker."""
        if commit.bumped:
            self._exact.add((commit.producer_id, commit.epoch))
            return
        markers = self._markers.setdefault(commit.producer_id, {})
        markers[commit.partition] = markers.get(commit.partition, 0) + 1

    def take(self) -> int:
        """Return the number of transactions since the last call."""
        count = len(self._exact) + sum(max(markers.values()) for markers in self._markers.values())
        self._exact.clear()
        self._markers.clear()
        return count


class PartitionState:
    """The position reached in a partition, and the transactions open there."""

    __slots__ = ("_touched", "open", "partition", "position")

    def __init__(self, partition: Partition, start: int) -> None:
        self.partition = partition
        self.position = start
        self.open: dict[int, OpenBatches] = {}
        self._touched: set[int] = set()

    def take(self, batch: Batch) -> CommittedBatches | None:
        """Process a batch; return the batches that it committed, if any.

        Raises:
            ValueError: the batch lies below the position.
        """
        _, kind, first, end, _, producer_id, _, _ = batch
        if first < self.position:
            raise ValueError(f"batch at {self.partition}, offset {first} is below the position {self.position}")
        self.position = end
        if kind is _DATA:
            part = self.open.get(producer_id)
            if part is None:
                self.open[producer_id] = OpenBatches(batch)
            else:
                part.add(batch)
            self._touched.add(producer_id)
            return None
        if kind is _COMMIT:
            return CommittedBatches(batch, self.open.pop(producer_id, None))
        if kind is _ABORT:
            self.open.pop(producer_id, None)
            return None
        return CommittedBatches(batch, OpenBatches(batch))

    def reach(self, position: int) -> None:
        """Note that reading has reached this position, past offsets without records.

        Raises:
            ValueError: the position went back.
        """
        if position < self.position:
            raise ValueError(f"position of {self.partition} went back from {self.position} to {position}")
        self.position = position

    def hold(self) -> None:
        """Detach the batches of open transactions from shared buffers: they are needed beyond this reading."""
        for producer_id in self._touched:
            part = self.open.get(producer_id)
            if part is not None:
                part.hold()
        self._touched.clear()
