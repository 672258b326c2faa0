"""Which parts of a producer belong to the transactions that a round shows.

With KIP-890 a transaction's marker has an epoch of its own, higher than that of its data: an open part with a lower
epoch than the marker is of the same transaction, one with the same epoch is of the next. That is *exact*.

Without it, one epoch carries many transactions, so that a part with a marker beyond the target may be the *rest* of
a transaction of the round or of the *next* one. Two things are known. All of the round's transactions were written
before ends were asked for after their markers (``asked``). And a producer begins a transaction only when the one
before has all its markers. So, of the parts that begin below ``asked``:

* One that goes on beyond ``asked`` is of the next.
* If such a one began below the target, the one before had all its markers by then, so below the ``second`` ends,
  asked for after the target: whatever was open there is of the next, too.
* Otherwise it is taken in once it has its marker. If it is the rest, that is right. If it is the next one, that
  is right, too, as long as it is all of it: it was written below the target, and so has all it may depend on there.
  So ends are asked for once more (``third``). If nothing else of this producer was written below them that may
  belong to it, that is all.
* Where none of this tells, the round is given up for one with a later target.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from kafka_replica.records import Position
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches


class Verdict(Enum):
    """What is to be done with the parts of a producer."""

    CLOSED = auto()
    """Nothing: its transactions in the round are whole."""
    WAITS = auto()
    """More is to be read or asked first."""
    RESTS = auto()
    """Those in ``rest`` are taken in, and the ends are asked for."""
    UNCLEAR = auto()
    """It cannot be told at this target."""


class ProducerState:
    """A producer with a transaction that is settled and in no version yet."""

    __slots__ = ("is_exact", "is_late", "marked", "rest")

    def __init__(self) -> None:
        self.marked = -1  # the highest epoch of its markers
        self.is_exact = False  # whether that marker's transaction is known by the epoch
        self.is_late = False  # whether a marker of it was seen after the target was asked for
        self.rest: Sequence[OpenBatches] = ()  # taken in, with markers beyond the target

    def add(self, epoch: int, *, has_bump: bool, is_late: bool) -> None:
        """One more of its transactions."""
        self.is_late |= is_late
        if epoch > self.marked:
            self.marked, self.is_exact = epoch, has_bump
        elif epoch == self.marked:
            self.is_exact |= has_bump

    def begin(self) -> None:
        """A target is asked for after all that was seen of it."""
        self.is_late, self.rest = False, ()

    def knows(self, decided: CommittedBatches) -> bool:
        """Whether it is of a transaction that was added, or of one before, wherever it lies."""
        if decided.epoch == self.marked:
            return self.is_exact or decided.bumped
        return decided.epoch < self.marked

    def may_own(self, part: OpenBatches) -> bool:
        """Whether an open part may be of its transactions."""
        return part.epoch < self.marked or (part.epoch == self.marked and not self.is_exact)

    def judge(self, parts: Sequence[OpenBatches], target: Position, second: Position | None) -> Verdict:
        """Decides about parts that it may own and that have no marker below the target; all was read up to the ends."""
        if any(part.epoch < self.marked for part in parts):
            return Verdict.WAITS  # they are of it, and have no marker yet
        asked = second if second is not None and self.is_late else target
        begun = [part for part in parts if _is_below(asked, part, part.first)]
        doubtful = [part for part in begun if _is_below(asked, part, part.last)]
        if not doubtful:
            return Verdict.CLOSED
        if second is None:
            return Verdict.WAITS
        next_ones = [part for part in begun if part not in doubtful]
        return self._judge_doubtful(doubtful, next_ones, target, second)

    def _judge_doubtful(
        self, doubtful: list[OpenBatches], next_ones: list[OpenBatches], target: Position, second: Position
    ) -> Verdict:
        had_all_markers = any(_is_below(target, part, part.first) for part in next_ones)
        if had_all_markers and all(_was_open(second, part) for part in doubtful):
            return Verdict.CLOSED
        if not all(_is_below(target, part, part.last) for part in doubtful):
            return Verdict.UNCLEAR
        if any(part.marker is None for part in doubtful):
            return Verdict.WAITS
        self.rest = doubtful
        return Verdict.RESTS

    def judge_rest(self, others: Sequence[OpenBatches], second: Position, third: Position) -> Verdict:
        """Decides whether what was taken in is whole; ``others`` are its parts that were not."""
        # A producer that was not done below the second ends has begun nothing else before its marker.
        done = {part.partition for part in self.rest if _was_open(second, part)}
        if any(_is_below(third, part, part.last) and part.partition not in done for part in others):
            return Verdict.UNCLEAR
        return Verdict.CLOSED


def _is_below(ends: Position, part: OpenBatches, offset: int) -> bool:
    return offset < ends.get(part.partition, 0)


def _was_open(ends: Position, part: OpenBatches) -> bool:
    return part.marker is None or not _is_below(ends, part, part.marker)
