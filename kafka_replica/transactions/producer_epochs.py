"""The rules that decide which of a producer's parts belong to the transactions that a round shows.

With KIP-890 the marker of a transaction has its own epoch, higher than that of its records: an open part with a lower
epoch than the marker belongs to the same transaction, a part with the same epoch to the next one. This is *exact*.

Without KIP-890, many transactions have the same epoch, so that a part with a marker beyond the target may be the *rest*
of a transaction of the round, or a part of the *next* transaction. Two facts are known. All transactions of the round
were written below the ends that were requested after their markers (``requested_ends``). And a producer begins a
transaction only after all markers of the previous one were written. The following therefore holds for the parts that
begin below ``requested_ends``:

* A part that continues beyond ``requested_ends`` belongs to the next transaction.
* If such a part began below the target, all markers of the previous transaction had been written by then, and lie below
  the ``second`` ends, which were requested after the target: every part that was open there belongs to the next
  transaction, too.
* Any other part is included in the round once its marker was read. This is correct for the rest of a transaction. It is
  also correct for the next transaction, provided that all of it is included: it was written below the target, and so
  was everything that it may depend on. Therefore the ends are requested once more (``third``). If the producer wrote
  nothing else below them that may belong to that transaction, the transaction is complete.
* If no decision is possible, the round is abandoned, and another one begins with a later target.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum, auto

from kafka_replica.records import Position
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches


class Verdict(Enum):
    """The decision about a producer's parts."""

    CLOSED = auto()
    """The transactions of the round are complete."""
    WAITS = auto()
    """More must be read, or requested, first."""
    RESTS = auto()
    """The parts in ``rest`` are included in the round, and the ends are requested."""
    UNCLEAR = auto()
    """No decision is possible with this target."""


class ProducerState:
    """The state of a producer whose transaction is in the round, and in no version yet."""

    __slots__ = ("is_exact", "is_late", "marked", "rest")

    def __init__(self) -> None:
        self.marked = -1  # the highest epoch of the producer's markers
        self.is_exact = False  # whether the epoch identifies the transaction of that marker
        self.is_late = False  # whether a marker of the producer was read after the target was requested
        self.rest: Sequence[OpenBatches] = ()  # parts included in the round with markers beyond the target

    def add(self, epoch: int, *, has_bump: bool, is_late: bool) -> None:
        """Add a transaction of the producer."""
        self.is_late |= is_late
        if epoch > self.marked:
            self.marked, self.is_exact = epoch, has_bump
        elif epoch == self.marked:
            self.is_exact |= has_bump

    def add_known(self, commit: CommittedBatches) -> None:
        """Add batches that the producer ``knows``."""
        if commit.epoch == self.marked:
            self.is_exact = True  # it was already, or the bump of this marker shows it

    def is_not_bumped(self, epoch: int) -> None:
        """Note that several transactions may have this epoch."""
        if epoch == self.marked:
            self.is_exact = False

    def begin(self) -> None:
        """Begin a round; its target was requested after all of the producer's batches so far were read."""
        self.is_late, self.rest = False, ()

    def knows(self, commit: CommittedBatches) -> bool:
        """Return whether batches belong to an added transaction or an earlier one, whatever their offsets."""
        if commit.epoch == self.marked:
            return self.is_exact or commit.bumped
        return commit.epoch < self.marked

    def may_own(self, part: OpenBatches) -> bool:
        """Return whether an open part may belong to the transactions that were added."""
        return part.epoch < self.marked or (part.epoch == self.marked and not self.is_exact)

    def judge(self, parts: Sequence[OpenBatches], target: Position, second: Position | None) -> Verdict:
        """Decide about parts without a marker below the target that may belong to the round; the ends are reached."""
        if any(part.epoch < self.marked for part in parts):
            return Verdict.WAITS  # they belong to the round, and have no marker yet
        requested_ends = second if second is not None and self.is_late else target
        begun = [part for part in parts if _is_below(requested_ends, part, part.first)]
        doubtful = [part for part in begun if _is_below(requested_ends, part, part.last)]
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
        """Decide whether the included rest is complete; ``others`` are the parts that were not included."""
        # If a part was still open at the second ends, the producer began nothing else before the part's marker.
        partitions = {part.partition for part in self.rest if _was_open(second, part)}
        if any(_is_below(third, part, part.last) and part.partition not in partitions for part in others):
            return Verdict.UNCLEAR
        return Verdict.CLOSED


def _is_below(ends: Position, part: OpenBatches, offset: int) -> bool:
    return offset < ends.get(part.partition, 0)


def _was_open(ends: Position, part: OpenBatches) -> bool:
    return part.marker is None or not _is_below(ends, part, part.marker)
