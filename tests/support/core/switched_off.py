"""The rules with one of them switched off each, to show that the checks find it."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica import Position, Record
from kafka_replica.transactions import Decision, Kind, MarkerDetector, QuiescenceDetector, Reading
from kafka_replica.transactions.barrier import Barrier
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches
from kafka_replica.transactions.producer_epochs import ProducerState, Verdict
from kafka_replica.transactions.transaction_assigner import TransactionAssigner
from support.core.model_follower import WatchedAssembly


class EveryRead(QuiescenceDetector):
    """A detector that ends a version after each read, like a plain consumer loop."""

    @property
    def _looks_quiescent(self) -> bool:
        return True


class NeverAsks(QuiescenceDetector):
    """A detector that takes partitions as quiescent although each is so at another time."""

    @property
    def needs_ends(self) -> bool:
        """Return False."""
        return False

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Check as if there were one partition."""
        super().take(reading, every_point=every_point)
        return self._point(looked=True) if self._looks_quiescent else []


class Uncommitted(MarkerDetector):
    """A detector whose records count as soon as they are read."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Handle batches as if there were no transactions."""
        return super().take(_with_kind(reading, Kind.DATA, Kind.PLAIN), every_point=every_point)


class AbortsCount(MarkerDetector):
    """A detector that ignores the kind of a marker."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Handle markers as if all were commits."""
        return super().take(_with_kind(reading, Kind.ABORT, Kind.COMMIT), every_point=every_point)


def _with_kind(reading: Reading, old: Kind, new: Kind) -> Reading:
    return reading._replace(batches=[b._replace(kind=new) if b.kind == old else b for b in reading.batches])


class _WithRounds(MarkerDetector):
    """A detector with another assignment of transactions."""

    rounds: type[TransactionAssigner]

    def __init__(self) -> None:
        super().__init__()
        self._assigner = self.rounds(self._states)


class _NoRounds(TransactionAssigner):
    @property
    def is_needed(self) -> bool:
        return False

    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        self.assigned.append(decided)

    def advance(self) -> Position | None:
        return None


class FirstMarker(_WithRounds):
    """An assignment in which a transaction is whole at its first marker."""

    rounds = _NoRounds

    def _point(self, position: Position, *, looked: bool = True) -> Iterator[Decision]:
        return super()._point(position, looked=True)


class _ImpatientRounds(TransactionAssigner):
    def _judge(self, target: Position) -> Verdict:
        return Verdict.CLOSED


class NoWaiting(_WithRounds):
    """An assignment that queries the ends and reads up to them, but does not wait for the other markers."""

    rounds = _ImpatientRounds


class _UnconfirmedRounds(TransactionAssigner):
    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        super().sort(decided, is_late=False)


class NeverConfirmed(_WithRounds):
    """An assignment that does not query again for transactions that turn up below the target."""

    rounds = _UnconfirmedRounds


class _OpenRounds(TransactionAssigner):
    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        self.assigned.append(decided)
        self.note(decided)


class NoTarget(_WithRounds):
    """An assignment that puts every decided transaction into the current round."""

    rounds = _OpenRounds


class _GreedyRounds(TransactionAssigner):
    def _judge_one(self, author: ProducerState, parts: list[OpenBatches], target: Position) -> Verdict:
        return Verdict.CLOSED if author.rest else super()._judge_one(author, parts, target)


class NeverMore(_WithRounds):
    """An assignment that includes an old producer's open part, without checking that this is all of it."""

    rounds = _GreedyRounds


class _TrustingRounds(TransactionAssigner):
    def _judge_one(self, author: ProducerState, parts: list[OpenBatches], target: Position) -> Verdict:
        verdict = super()._judge_one(author, parts, target)
        return Verdict.CLOSED if verdict is Verdict.UNCLEAR else verdict


class NeverGivesUp(_WithRounds):
    """An assignment that leaves out a part whose transaction is unknown."""

    rounds = _TrustingRounds


class _EpochRounds(TransactionAssigner):
    def note(self, decided: CommittedBatches, *, is_late: bool = False) -> None:
        super().note(decided, is_late=is_late)
        if decided.producer_id >= 0:
            self._producers[decided.producer_id].is_exact = True


class EpochsTell(_WithRounds):
    """An assignment that treats every epoch as a transaction's own, with or without the bump."""

    rounds = _EpochRounds


class LateOnesWin(WatchedAssembly):
    """A delta builder that uses the order of commits instead of offsets."""

    def _is_outdated(self, key: bytes, record: Record) -> bool:
        return False


class Forgets(WatchedAssembly):
    """A delta builder that does not remember deleted keys."""

    def _add_tombstone(self, delta: object, position: Position) -> None:
        pass


class NoHoles(Barrier):
    """A barrier that ignores missing offsets."""

    def note_gap(self) -> None:
        """Do nothing."""


class NoBarrier(Barrier):
    """A barrier that shows the first boundary."""

    def __init__(self, high_watermarks: Position) -> None:
        super().__init__(Position())
