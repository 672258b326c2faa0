"""Where a version may end, by the log's own markers.

Each batch of the log says who wrote it (producer id, epoch), and a control batch says that a
transaction ended. So a transaction is held back until its marker, then all of it is settled; others that
are open do not matter. What makes it a version:

*One partition.* At every offset between batches the transactions whose markers lie below it are whole.
A version is what they wrote, and the cut says who was open there.

*Several partitions.* Each gets a marker of its own, at a time of its own. When the first marker of a
transaction is seen it is decided, and all it wrote is in the log, for a commit begins only after that
was acknowledged: so it lies below the *ends* of all partitions, asked for then. A version is made in ``rounds``:

1. Ask for all ends: the round's target. Every transaction with a marker below the target is in the
   version; whatever one of them depends on was decided earlier, so that is in it, too.
2. Read up to the target. If a marker was seen there of a transaction not known when the target was asked
   for, ask again and read up to that as well: now all parts of all of them have been seen.
3. Wait until each part of theirs has met its own marker. That is the version.

Which parts are theirs is said by epochs where the producer has KIP-890's bump: exact, and no question more.
Where it has not, a part in another partition may be of its next transaction. Then it is told by what was
written between the questions, see ``authors``: exact in what is whole and in what it depends on. A next
transaction is taken in only if all of it was written below the target. Where it cannot be told the round is
given up and a later target asked for, so that old producers which never pause may put a version off.

Where several brokers tell their ends, one after the other, what depends on each other across partitions may be
shown one version apart. Transactions are whole all the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from kafka_replica.records import OpenTransaction, Partition, Position
from kafka_replica.transactions.assignment import TransactionAssigner
from kafka_replica.transactions.batches import Batch, Reading
from kafka_replica.transactions.detector import CommittedRecords, ConsistentPoint, Decision, Ends
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches, PartitionState, Tally


class MarkerDetector:
    """The rule for any number of partitions; see the module."""

    boundaries: ClassVar[str] = "markers"

    def __init__(self) -> None:
        self._tracks: dict[Partition, PartitionState] = {}
        self._rounds = TransactionAssigner(self._tracks)
        self._unshown: dict[int, tuple[int, bool]] = {}  # of one partition: producer -> last marker's epoch, bumped?
        self._settled: list[Batch] = []  # not handed out yet
        self._transactions = Tally()  # settled since the last point
        self._pointed_at = Position()

    # --- what it knows ---

    @property
    def held_records(self) -> int:
        """Records of open transactions, and of decided ones that wait for their round."""
        return sum(decided.records for decided in self._rounds.later) + sum(part.records for part in self._parts())

    @property
    def wants_ends(self) -> bool:
        """Whether a round needs the ends to begin or to go on."""
        return not self._is_single and self._rounds.wants_ends

    @property
    def waits_for_the_open(self) -> bool:
        """Only for other parts of transactions that are decided."""
        return not self._is_single and self._rounds.waits

    @property
    def _is_single(self) -> bool:
        return len(self._tracks) == 1

    # --- evidence ---

    def add(self, partition: Partition, start: int) -> None:
        """One more partition; what was settled and not shown may have parts in it."""
        if self._tracks:
            self._rounds.grow(self._unshown)
            self._unshown.clear()
        self._tracks[partition] = PartitionState(partition, start)

    def answer(self, ends: Ends) -> list[Decision]:
        """Begins a round, or goes on with the one under way."""
        if not self._is_single:
            self._rounds.answer(ends.high)
        return list(self._advance())

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Takes in what one read brought; see ``BoundaryDetector.take``."""
        steps: list[Decision] = []
        for batch in reading.batches:
            decided = self._tracks[batch.partition].take(batch)
            if decided is None:
                continue
            if not self._is_single:
                self._rounds.sort(decided)
                continue
            self._join(decided)
            self._unshown[decided.producer_id] = decided.epoch, decided.bumped
            if every_point:
                steps += self._point(Position({batch.partition: batch.end}))
        for partition, position in reading.positions.items():
            self._tracks[partition].reach(position)
        for track in self._tracks.values():
            track.hold()
        return [*steps, *self._advance()]

    def shown(self) -> None:
        """All that was settled is in a version that readers see."""
        self._unshown.clear()  # rounds forget by themselves

    # --- steps ---

    def _join(self, decided: CommittedBatches) -> None:
        self._settled += decided.batches
        if decided.producer_id >= 0:
            self._transactions.add(decided)

    def _advance(self) -> Iterator[Decision]:
        """Ends a round, if it has come to its end; in one partition, every read is one."""
        positions = self._positions
        if not self._is_single:
            yield from self._advance_round(positions)
        elif positions != self._pointed_at:
            yield from self._point(positions)

    def _advance_round(self, positions: Position) -> Iterator[Decision]:
        position = self._rounds.advance()
        settled, self._rounds.settled = self._rounds.settled, []
        for decided in settled:
            self._join(decided)
        if position is not None:
            yield from self._point(position, looked=True)
        elif not self._rounds.is_needed and positions != self._pointed_at:
            yield from self._point(positions)  # nothing was decided, only read
        else:
            yield from self._settle()

    def _settle(self) -> Iterator[Decision]:
        if self._settled:
            settled, self._settled = self._settled, []
            yield CommittedRecords(settled)

    def _point(self, position: Position, *, looked: bool = False) -> Iterator[Decision]:
        yield from self._settle()
        self._pointed_at = position
        yield ConsistentPoint(Position(position, self._open_at(position)), self._transactions.take(), looked)

    # --- helpers ---

    @property
    def _positions(self) -> Position:
        return Position({partition: track.position for partition, track in self._tracks.items()})

    def _parts(self) -> Iterator[OpenBatches]:
        for track in self._tracks.values():
            yield from track.open.values()

    def _open_at(self, position: Position) -> tuple[OpenTransaction, ...]:
        later = (decided.part for decided in self._rounds.later if decided.part is not None)
        return tuple(
            part.as_open() for part in (*self._parts(), *later) if part.first < position.get(part.partition, 0)
        )
