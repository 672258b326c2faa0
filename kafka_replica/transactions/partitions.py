"""The records that transactions wrote to one partition, held until their markers are read."""

from __future__ import annotations

from kafka_replica.records import OpenTransaction, Partition
from kafka_replica.transactions.batches import Batch, Kind


class OpenBatches:
    """The batches that one open transaction wrote to one partition: a part of the transaction."""

    __slots__ = (
        "batches",
        "detached_count",
        "epoch",
        "first",
        "marker",
        "partition",
        "producer_id",
        "records",
        "spans",
    )

    def __init__(self, batch: Batch) -> None:
        self.partition = batch.partition
        self.producer_id = batch.producer_id
        self.epoch = batch.producer_epoch
        self.first = batch.first
        self.marker: int | None = None  # the offset of its marker, once the marker was read
        self.batches = [batch]
        self.spans = [(batch.first, batch.end)]
        self.records = batch.record_count
        self.detached_count = 0  # how many of the batches share no buffer with others

    @property
    def last(self) -> int:
        """The last offset so far. Ends may lie within a batch, if adjacent batches were read together."""
        return self.spans[-1][1] - 1

    def add(self, batch: Batch) -> None:
        """Add a batch of the transaction."""
        self.batches.append(batch)
        self.epoch = batch.producer_epoch
        self.records += batch.record_count
        self.spans.append((batch.first, batch.end))

    def hold(self) -> None:
        """Detach the batches from shared buffers, because they are needed beyond this reading."""
        for batch in self.batches[self.detached_count :]:
            batch.content.hold()
        self.detached_count = len(self.batches)

    def as_open(self) -> OpenTransaction:
        """Return the open transaction in the form in which a position lists it."""
        return OpenTransaction(self.partition, self.producer_id, self.epoch, self.first, self.spans, len(self.spans))


class CommittedBatches:
    """The batches of a committed part of a transaction, or a batch outside of transactions."""

    __slots__ = ("batches", "bumped", "end", "epoch", "part", "partition", "producer_id", "records", "unbumped")

    def __init__(self, end: Batch, part: OpenBatches | None) -> None:
        self.partition = end.partition
        self.end = end.end  # the offset after the marker; outside of transactions, after the batch itself
        self.part = part  # None if compaction left nothing but the marker
        self.batches, self.records = ([], 0) if part is None else (part.batches, part.records)
        if part is not None:
            part.marker = end.first
        is_marker = end.kind == Kind.COMMIT
        self.producer_id = end.producer_id if is_marker else -1
        self.epoch = end.producer_epoch  # the marker's epoch, the same in all partitions, with or without records
        # KIP-890: the epoch of the marker is that of the records plus one, and each transaction has its own epoch.
        bump = end.producer_epoch - part.epoch if is_marker and part is not None else -1
        self.bumped, self.unbumped = bump == 1, bump == 0

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
        self._markers: dict[tuple[int, int], dict[Partition, int]] = {}

    def add(self, commit: CommittedBatches) -> None:
        """Count a marker."""
        own = commit.producer_id, commit.epoch if commit.bumped else -1
        markers = self._markers.setdefault(own, {})
        markers[commit.partition] = markers.get(commit.partition, 0) + 1

    def take(self) -> int:
        """Return the number of transactions since the last call."""
        count = sum(max(markers.values()) for markers in self._markers.values())
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
        if batch.first < self.position:
            raise ValueError(f"batch at {self.partition}, offset {batch.first} is below the position {self.position}")
        self.position = batch.end
        kind = batch.kind
        if kind == Kind.DATA:
            part = self.open.get(batch.producer_id)
            if part is None:
                self.open[batch.producer_id] = OpenBatches(batch)
            else:
                part.add(batch)
            self._touched.add(batch.producer_id)
            return None
        if kind == Kind.COMMIT:
            return CommittedBatches(batch, self.open.pop(batch.producer_id, None))
        if kind == Kind.ABORT:
            self.open.pop(batch.producer_id, None)
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
