"""The detector that uses the transaction markers of the log to determine where a version may end.

Each batch of the log names its producer (producer id and epoch), and a control batch, the marker, ends a
transaction. So the records of a transaction are held back until its marker is read, and are then committed together,
regardless of other open transactions. A version is made as follows:

*One partition.* At every offset between batches, the transactions whose markers lie below that offset are complete.
A version has the records of these transactions, and its position lists the transactions that were open there.

*Several partitions.* Each partition gets its own marker, at its own time. Once the first marker of a transaction is
seen, the transaction is decided, and all its records are in the log, because a producer commits only after they were
acknowledged. So they lie below the *ends* of all partitions, if the ends are requested after that. A version is made in
rounds (see ``transaction_assigner``):

1. Request all ends: they are the target of the round. Every transaction with a marker below the target is in the
    version. The transactions that it depends on were decided earlier, and so are in the version, too.
2. Read up to the target. If this reveals a marker of a transaction that was unknown when the target was requested,
    request the ends again, and read up to them as well. Now all parts of all these transactions have been read.
3. Wait until each of these parts has its own marker. The version is complete.

Epochs show which parts belong to a transaction if the producer bumps them (KIP-890): this is exact and needs no
further request. Without the bump, a part in another partition may belong to the producer's next transaction. What was
written between the requests then decides (see ``producer_epochs``): the version still has only complete transactions,
and the transactions that they depend on. The next transaction is included only if all of its records were written below
the target. If no decision is possible, the round is abandoned, and a later target is requested; therefore old producers
that never pause may delay a version.

If several brokers report their ends, one after the other, transactions of different partitions that depend on each
other may be shown one version apart. Each transaction is still complete.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from kafka_replica.records import OpenTransaction, Partition, Position
from kafka_replica.transactions.batches import Batch, Reading
from kafka_replica.transactions.contract import CommittedRecords, ConsistentPoint, Decision, Ends
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches, PartitionState, TransactionCounter
from kafka_replica.transactions.transaction_assigner import TransactionAssigner


class MarkerDetector:
    """The detector that uses markers, for any number of partitions; see the module."""

    boundaries: ClassVar[str] = "markers"

    def __init__(self) -> None:
        self._states: dict[Partition, PartitionState] = {}
        self._assigner = TransactionAssigner(self._states)
        self._unshown: dict[
            int, tuple[int, bool]
        ] = {}  # for a single partition: producer id -> epoch of its last marker, bumped?
        self._committed_batches: list[Batch] = []  # committed, but not returned in a decision yet
        self._transactions = TransactionCounter()  # committed since the last point
        self._pointed_at = Position()

    # --- state ---

    @property
    def held_records(self) -> int:
        """The number of records of open transactions, and of committed transactions that wait for their round."""
        return sum(commit.records for commit in self._assigner.later) + sum(part.records for part in self._parts())

    @property
    def needs_ends(self) -> bool:
        """True if a round needs the ends of the partitions to begin or to continue."""
        return not self._is_single and self._assigner.needs_ends

    @property
    def waits_for_open_transactions(self) -> bool:
        """True if a round waits for the markers of other parts of decided transactions."""
        return not self._is_single and self._assigner.waits

    @property
    def _is_single(self) -> bool:
        return len(self._states) == 1

    # --- input ---

    def add(self, partition: Partition, start: int) -> None:
        """Add a partition; it may hold other parts of transactions that are not shown yet."""
        if self._states:
            self._assigner.grow(self._unshown)
            self._unshown.clear()
        self._states[partition] = PartitionState(partition, start)

    def take_ends(self, ends: Ends) -> list[Decision]:
        """Begin a round with these ends, or continue the current one."""
        if not self._is_single:
            self._assigner.take_ends(ends.high_watermarks)
        return list(self._advance())

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Process the result of one read; see ``BoundaryDetector.take``."""
        decisions: list[Decision] = []
        states, is_single, sort = self._states, self._is_single, self._assigner.sort
        partition, take = None, None
        for batch in reading.batches:
            if batch.partition is not partition or take is None:  # most batches have the partition of the one before
                partition = batch.partition
                take = states[partition].take
            commit = take(batch)
            if commit is None:
                continue
            if not is_single:
                sort(commit)
                continue
            self._join(commit)
            self._unshown[commit.producer_id] = commit.epoch, commit.bumped
            if every_point:
                decisions += self._point(Position({batch.partition: batch.end}))
        for reached, position in reading.positions.items():
            states[reached].reach(position)
        for state in self._states.values():
            state.hold()
        return [*decisions, *self._advance()]

    def mark_shown(self) -> None:
        """Note that all committed records so far are in a version that readers see."""
        self._unshown.clear()  # the assigner clears its state on its own

    # --- decisions ---

    def _join(self, commit: CommittedBatches) -> None:
        self._committed_batches += commit.batches
        if commit.producer_id >= 0:
            self._transactions.add(commit)

    def _advance(self) -> Iterator[Decision]:
        """End the round if it is complete; with a single partition every read is a round."""
        positions = self._positions
        if not self._is_single:
            yield from self._advance_round(positions)
        elif positions != self._pointed_at:
            yield from self._point(positions)

    def _advance_round(self, positions: Position) -> Iterator[Decision]:
        position = self._assigner.advance()
        assigned, self._assigner.assigned = self._assigner.assigned, []
        for commit in assigned:
            self._join(commit)
        if position is not None:
            yield from self._point(position, looked=True)
        elif not self._assigner.is_needed and positions != self._pointed_at:
            yield from self._point(positions)  # no transaction was decided; only the position has changed
        else:
            yield from self._committed_records()

    def _committed_records(self) -> Iterator[Decision]:
        if self._committed_batches:
            committed, self._committed_batches = self._committed_batches, []
            yield CommittedRecords(committed)

    def _point(self, position: Position, *, looked: bool = False) -> Iterator[Decision]:
        yield from self._committed_records()
        self._pointed_at = position
        yield ConsistentPoint(Position(position, self._open_at(position)), self._transactions.take(), looked)

    # --- helpers ---

    @property
    def _positions(self) -> Position:
        return Position({partition: state.position for partition, state in self._states.items()})

    def _parts(self) -> Iterator[OpenBatches]:
        for state in self._states.values():
            yield from state.open.values()

    def _open_at(self, position: Position) -> tuple[OpenTransaction, ...]:
        later = (commit.part for commit in self._assigner.later if commit.part is not None)
        return tuple(
            part.as_open() for part in (*self._parts(), *later) if part.first < position.get(part.partition, 0)
        )
