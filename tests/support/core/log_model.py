"""A Kafka cluster as far as transactions and compaction are concerned: the content of its logs, and its producers.

The model follows measurements; histories like these run on a real broker in tests/integration/broker.

A transaction is begun by its first record, *decided* when its commit or abort begins (after all its records
were acknowledged), and then gets its markers, one partition at a time, with other things in between. Only
after the last one the producer may begin the next. With KIP-890 a marker's epoch is one higher than the data's,
and the next transaction has that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from kafka_replica import Partition, Record
from kafka_replica.transactions import Kind

TOPIC = "model"
P0, P1, P2 = (Partition(TOPIC, number) for number in range(3))
NO_DATA = -1  # the first offset of a transaction in a partition where it has only a marker

Written = tuple[str, str | None]
"""A key and its value; None deletes."""


class Logged(NamedTuple):
    """A batch of a log: as it was written, or as compaction left it."""

    first: int
    end: int
    kind: Kind
    transaction: int
    epoch: int
    records: tuple[Record, ...]

    @property
    def is_marker(self) -> bool:
        """True if the batch ends a transaction."""
        return self.kind in {Kind.COMMIT, Kind.ABORT}


@dataclass
class Transaction:
    """A transaction, or a batch of plain records; ``commits`` is None until that is decided."""

    number: int
    producer: int
    epoch: int
    is_plain: bool = False
    commits: bool | None = None
    first: dict[Partition, int] = field(default_factory=dict)
    markers: dict[Partition, int] = field(default_factory=dict)
    after: frozenset[int] = frozenset()
    """Transactions of which something was visible before all of this one was written: it may depend on them."""

    @property
    def is_complete(self) -> bool:
        """True if it has all its markers."""
        return self.commits is not None and self.markers.keys() == self.first.keys()


@dataclass
class Log:
    """A partition: the batches as written, and those that compaction left."""

    end: int = 0
    start: int = 0
    written: list[Logged] = field(default_factory=list)
    left: list[Logged] = field(default_factory=list)

    def append(self, batch: Logged) -> None:
        """Write a batch."""
        self.written.append(batch)
        self.left.append(batch)
        self.end = batch.end


class Cluster:
    """The partitions of one topic, and the transactions over them.

    Args:
        partitions: how many there are at first.
        old_producers: ids of producers without KIP-890's bump of the epoch; the others have it.
    """

    def __init__(self, partitions: int = 1, old_producers: Sequence[int] = ()) -> None:
        self.logs = {Partition(TOPIC, number): Log() for number in range(partitions)}
        self.transactions: list[Transaction] = []
        self.current: dict[int, int] = {}  # the transaction of each producer
        self.epochs: dict[int, int] = {}
        self.old_producers = frozenset(old_producers)
        self.visible: frozenset[int] = frozenset()  # of which a reader may have seen something

    def fork(self) -> Cluster:
        """Return a copy that can be continued differently."""
        other = Cluster(0)
        other.logs = {p: Log(log.end, log.start, log.written[:], log.left[:]) for p, log in self.logs.items()}
        other.transactions = [replace(t, first={**t.first}, markers={**t.markers}) for t in self.transactions]
        other.current, other.epochs = {**self.current}, {**self.epochs}
        other.old_producers, other.visible = self.old_producers, self.visible
        return other

    # --- actions of producers ---

    def grow(self) -> Partition:
        """Add a partition."""
        partition = Partition(TOPIC, len(self.logs))
        self.logs[partition] = Log()
        return partition

    def write(self, producer: int, partition: Partition, *records: Written) -> None:
        """Write a batch of the producer's transaction, which begins it if needed; an empty one adds the partition."""
        transaction = self._of(producer)
        assert transaction.commits is None, "decided already"
        log = self.logs[partition]
        transaction.first.setdefault(partition, NO_DATA)
        if records:
            transaction.after |= self.visible
            if transaction.first[partition] == NO_DATA:
                transaction.first[partition] = log.end
            self._append(partition, Kind.DATA, transaction.number, transaction.epoch, records)

    def plain(self, partition: Partition, *records: Written) -> None:
        """Write a batch outside of transactions."""
        end = self.logs[partition].end
        number = len(self.transactions)
        own = Transaction(number, -1, -1, True, True, {partition: end}, {partition: end}, self.visible)
        self.transactions.append(own)
        self._append(partition, Kind.PLAIN, number, -1, records)
        self.visible |= {number}

    def decide(self, producer: int, *, commits: bool = True) -> None:
        """Begin the end of its transaction: from now on the outcome is certain."""
        transaction = self.transactions[self.current[producer]]
        assert transaction.commits is None, "decided already"
        transaction.commits = commits

    def mark(self, producer: int, partition: Partition) -> None:
        """Write a marker; the last one lets the producer continue."""
        transaction = self.transactions[self.current[producer]]
        assert transaction.commits is not None, "not decided"
        assert partition in transaction.first, "no part of it"
        assert partition not in transaction.markers, "marked already"
        epoch = transaction.epoch + (producer not in self.old_producers)
        transaction.markers[partition] = self.logs[partition].end
        self._append(partition, Kind.COMMIT if transaction.commits else Kind.ABORT, transaction.number, epoch, ())
        if transaction.commits:
            self.visible |= {transaction.number}
        if transaction.is_complete:
            del self.current[producer]
            self.epochs[producer] = epoch

    def end(self, producer: int, *, commits: bool = True) -> None:
        """Decide its transaction and write all markers."""
        self.decide(producer, commits=commits)
        for partition in self.unmarked(producer):
            self.mark(producer, partition)

    def unmarked(self, producer: int) -> list[Partition]:
        """Return the partitions of its transaction that have no marker yet."""
        transaction = self.transactions[self.current[producer]]
        return [partition for partition in transaction.first if partition not in transaction.markers]

    def _of(self, producer: int) -> Transaction:
        if producer not in self.current:
            self.current[producer] = len(self.transactions)
            self.transactions.append(Transaction(len(self.transactions), producer, self.epochs.get(producer, 0)))
        return self.transactions[self.current[producer]]

    def _append(
        self, partition: Partition, kind: Kind, transaction: int, epoch: int, written: Sequence[Written]
    ) -> None:
        log = self.logs[partition]
        records = tuple(
            Record(key.encode(), None if value is None else value.encode(), log.end + at, 0, (), partition)
            for at, (key, value) in enumerate(written)
        )
        log.append(Logged(log.end, log.end + max(len(records), 1), kind, transaction, epoch, records))

    # --- actions of brokers ---

    def stable(self, partition: Partition) -> int:
        """Return the last stable offset: the first one of the oldest transaction without a marker there."""
        firsts = (
            transaction.first[partition]
            for number in self.current.values()
            if partition not in (transaction := self.transactions[number]).markers
            and transaction.first.get(partition, NO_DATA) != NO_DATA
        )
        return max(self.logs[partition].start, min(firsts, default=self.logs[partition].end))

    def trim(self, partition: Partition, start: int) -> None:
        """Delete the records below an offset, as by age or by DeleteRecords; the batch that contains it stays whole."""
        log = self.logs[partition]
        log.start = max(start, log.start)
        log.left = [batch for batch in log.left if batch.end > log.start]

    def compact(self, partition: Partition, read: int | None = None) -> None:
        """Remove what is replaced or aborted below the last stable offset, and whole batches emptied by that.

        With ``read``, the offset up to which the reader has come, also remove what Kafka keeps for a while after that
        (``delete.retention.ms``) and a reader that keeps up has read, or never needs: tombstones below it, and
        markers without remaining data, except those of transactions of which it has read a part.
        """
        log, stable = self.logs[partition], self.stable(partition)
        latest: dict[bytes, int] = {}
        for batch in log.left:
            if batch.end <= stable and self.transactions[batch.transaction].commits:
                latest.update({record.key: record.offset for record in batch.records})
        alive = {batch.transaction for batch in log.left if batch.records}
        left = []
        for batch in log.left:
            if batch.end > stable:
                left.append(batch)
            elif batch.is_marker:
                if read is None or batch.transaction in alive or self._is_half_read(batch, partition, read):
                    left.append(batch)
            elif self.transactions[batch.transaction].commits:
                kept = tuple(
                    record
                    for record in batch.records
                    if latest[record.key] == record.offset
                    and not (record.is_tombstone and read is not None and record.offset < read)
                )
                if kept:
                    left.append(batch._replace(records=kept))
        log.left = left

    def _is_half_read(self, marker: Logged, partition: Partition, read: int) -> bool:
        transaction = self.transactions[marker.transaction]
        return not transaction.is_complete or NO_DATA < transaction.first[partition] < read <= marker.first

    # --- required results ---

    def state(self, numbers: Mapping[int, object] | frozenset[int]) -> dict[bytes, Record]:
        """Return everything that these transactions have written: per partition and key the highest offset."""
        found: dict[bytes, Record] = {}
        for log in self.logs.values():
            for batch in log.written:
                if batch.transaction in numbers:
                    found.update({record.key: record for record in batch.records})
        return {key: record for key, record in found.items() if not record.is_tombstone}

    def independent(self) -> dict[bytes, Record]:
        """Return the final state of a plain reader of the compacted log."""
        found: dict[bytes, Record] = {}
        for log in self.logs.values():
            for batch in log.left:
                if self.transactions[batch.transaction].commits and not batch.is_marker:
                    found.update({record.key: record for record in batch.records if record.offset >= log.start})
        return {key: record for key, record in found.items() if not record.is_tombstone}
