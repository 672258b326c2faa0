"""Where a version may end, by the log's own markers.

Each batch of the log says who wrote it (producer id, epoch), and a control batch says that a
transaction ended. So a transaction is held back until its marker, then all of it is settled; others that
are open do not matter. What makes it a version:

*One partition.* At every offset between batches the transactions whose markers lie below it are whole.
A version is what they wrote, and the cut says who was open there.

*Several partitions.* Each gets a marker of its own, at a time of its own. When the first marker of a
transaction is seen it is decided, and all it wrote is in the log, for a commit begins only after that
was acknowledged: so it lies below the *ends* of all partitions, asked for then. A version is made in rounds:

1. Ask for all ends: the round's target. Every transaction with a marker below the target is in the
   version; whatever one of them depends on was decided earlier, so that is in it, too.
2. Read up to the target. If a marker was seen there of a transaction not known when the target was asked
   for, ask again and read up to that as well: now all parts of all of them have been seen.
3. Wait until each part that turned up has met its own marker. That is the version.

Before KIP-890 a producer used one epoch for all its transactions, so that the part in another partition
may be of its next one. Then that is waited for and becomes part of the version, too: too much is whole,
too little never.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from kafka_replica.cuts.evidence import Batch, Reading
from kafka_replica.cuts.parts import Decided, Part, Tally, Track
from kafka_replica.cuts.rule import Ends, Point, Settle, Step
from kafka_replica.records import Cut, OpenTransaction, Partition

_NONE = (-1, False)


class Markers:
    """The rule for any number of partitions; see the module."""

    evidence: ClassVar[str] = "markers"

    def __init__(self) -> None:
        self._tracks: dict[Partition, Track] = {}
        self._settled: list[Batch] = []  # not handed out yet
        self._transactions = Tally()  # settled since the last point
        # Producer -> the highest epoch of a marker, and whether its data had a lower one, of what no version shows.
        self._members: dict[int, tuple[int, bool]] = {}
        self._grown = False  # what was settled and not shown may depend on what a partition added holds
        self._target: Cut | None = None  # of the round
        self._confirmed: Cut | None = None  # all parts of the round lie below it; None: not known
        self._later: list[Decided] = []  # for the next round
        self._pointed_at = Cut()

    # --- what it knows ---

    @property
    def held_records(self) -> int:
        """Records of open transactions, and of decided ones that wait for their round."""
        return sum(decided.records for decided in self._later) + sum(part.records for part in self._parts())

    @property
    def wants_ends(self) -> bool:
        """Whether a round needs the ends to begin or to go on."""
        if self._is_single:
            return False
        if self._target is None:
            return bool(self._later or self._members or self._grown)
        return self._confirmed is None and self._has_read(self._target)

    @property
    def waits_for_the_open(self) -> bool:
        """Only for other parts of transactions that are decided."""
        confirmed = self._confirmed
        return confirmed is not None and any(self._is_member(part, confirmed) for part in self._parts())

    @property
    def _is_single(self) -> bool:
        return len(self._tracks) == 1

    # --- evidence ---

    def add(self, partition: Partition, start: int) -> None:
        """One more partition; what was settled and not shown may have parts in it."""
        self._grown = bool(self._tracks)
        self._tracks[partition] = Track(partition, start)
        self._target = self._confirmed = None

    def answer(self, ends: Ends) -> list[Step]:
        """Begins a round, or confirms the one under way."""
        if self._target is None:
            self._target, self._grown = ends.high, False
            self._recall()
        self._confirmed = ends.high
        return list(self._advance())

    def take(self, reading: Reading, *, every_point: bool) -> list[Step]:
        """Takes in what one read brought; see ``Rule.take``."""
        steps: list[Step] = []
        for batch in reading.batches:
            decided = self._tracks[batch.partition].take(batch)
            if decided is None:
                continue
            if not self._is_single:
                self._sort(decided)
                continue
            self._join(decided)
            if every_point:
                steps += self._point(Cut({batch.partition: batch.end}))
        for partition, position in reading.positions.items():
            self._tracks[partition].reach(position)
        for track in self._tracks.values():
            track.hold()
        return [*steps, *self._advance()]

    def shown(self) -> None:
        """All that was settled is in a version that readers see."""
        if self._is_single:  # rounds forget by themselves
            self._members.clear()

    # --- rounds ---

    def _sort(self, decided: Decided) -> None:
        """Puts what was decided into this round or the next."""
        target = self._target
        is_known = self._members.get(decided.producer_id, _NONE)[0] >= decided.epoch >= 0
        if is_known or (target is not None and decided.end <= target.get(decided.partition, 0)):
            if decided.producer_id >= 0 and not (is_known and decided.bumped):
                self._confirmed = None  # parts of it may lie beyond what was asked for
            self._join(decided)
        else:
            decided.hold()
            self._later.append(decided)

    def _recall(self) -> None:
        """Takes back what was put off before another part of it turned out to be in this round."""
        later, self._later = self._later, []
        for decided in later:
            self._sort(decided)

    def _join(self, decided: Decided) -> None:
        self._settled += decided.batches
        if decided.producer_id < 0:
            return
        self._transactions.add(decided)
        marked = decided.epoch, decided.bumped
        self._members[decided.producer_id] = max(marked, self._members.get(decided.producer_id, _NONE))

    def _advance(self) -> Iterator[Step]:
        """Ends a round, if it has come to its end; in one partition, every read is one."""
        positions = self._positions
        if self._is_single:
            if positions != self._pointed_at:
                yield from self._point(positions)
            return
        if self._later and self._members:
            self._recall()
        yield from self._settle()
        if self._target is None:
            if not self.wants_ends and positions != self._pointed_at:
                yield from self._point(positions)  # nothing was decided, only read
            return
        if self._confirmed is None or not self._has_read(self._confirmed) or not self._has_read(self._target):
            return
        if any(self._is_member(part, self._confirmed) for part in self._parts()):
            return
        target, self._target, self._confirmed = self._target, None, None
        yield from self._point(target, looked=True)
        self._members.clear()

    def _is_member(self, part: Part, confirmed: Cut) -> bool:
        """Whether an open part may be of a transaction of this round."""
        epoch, bumped = self._members.get(part.producer_id, _NONE)
        return part.first < confirmed.get(part.partition, 0) and part.epoch <= epoch - bumped

    def _settle(self) -> Iterator[Step]:
        if self._settled:
            settled, self._settled = self._settled, []
            yield Settle(settled)

    def _point(self, cut: Cut, *, looked: bool = False) -> Iterator[Step]:
        yield from self._settle()
        self._pointed_at = cut
        yield Point(Cut(cut, self._open_at(cut)), self._transactions.take(), looked)

    # --- helpers ---

    @property
    def _positions(self) -> Cut:
        return Cut({partition: track.position for partition, track in self._tracks.items()})

    def _has_read(self, cut: Cut) -> bool:
        return all(
            partition in self._tracks and self._tracks[partition].position >= offset
            for partition, offset in cut.items()
        )

    def _parts(self) -> Iterator[Part]:
        for track in self._tracks.values():
            yield from track.open.values()

    def _open_at(self, cut: Cut) -> tuple[OpenTransaction, ...]:
        parts = [*self._parts(), *(decided.part for decided in self._later if decided.part is not None)]
        return tuple(part.as_open() for part in parts if part.first < cut.get(part.partition, 0))
