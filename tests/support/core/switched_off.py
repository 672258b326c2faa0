"""The rules with one of them switched off each, to show that the checks find it."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica import Position, Record
from kafka_replica.transactions import Decision, Kind, MarkerDetector, QuiescenceDetector, Reading
from kafka_replica.transactions.assignment import TransactionAssigner
from kafka_replica.transactions.barrier import Barrier
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches
from kafka_replica.transactions.producers import ProducerState, Verdict
from support.core.model_follower import WatchedAssembly


class EveryRead(QuiescenceDetector):
    """A version after each read, as a plain consumer loop has it."""

    @property
    def _looks_quiet(self) -> bool:
        return True


class NeverAsks(QuiescenceDetector):
    """Quiet in every partition, each at its time, taken for quiet."""

    @property
    def wants_ends(self) -> bool:
        """No."""
        return False

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """As if there were one partition."""
        super().take(reading, every_point=every_point)
        return self._point(looked=True) if self._looks_quiet else []


class Uncommitted(MarkerDetector):
    """Records count as soon as they are read."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """As if there were no transactions."""
        return super().take(_with_kind(reading, Kind.DATA, Kind.PLAIN), every_point=every_point)


class AbortsCount(MarkerDetector):
    """The kind of a marker is not looked at."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """As if all were commits."""
        return super().take(_with_kind(reading, Kind.ABORT, Kind.COMMIT), every_point=every_point)


def _with_kind(reading: Reading, old: Kind, new: Kind) -> Reading:
    return reading._replace(batches=[b._replace(kind=new) if b.kind == old else b for b in reading.batches])


class _WithRounds(MarkerDetector):
    """The rule with other rounds."""

    rounds: type[TransactionAssigner]

    def __init__(self) -> None:
        super().__init__()
        self._rounds = self.rounds(self._tracks)


class _NoRounds(TransactionAssigner):
    @property
    def is_needed(self) -> bool:
        return False

    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        self.settled.append(decided)

    def advance(self) -> Position | None:
        return None


class FirstMarker(_WithRounds):
    """A transaction is whole where its first marker is."""

    rounds = _NoRounds

    def _point(self, position: Position, *, looked: bool = True) -> Iterator[Decision]:
        return super()._point(position, looked=True)


class _ImpatientRounds(TransactionAssigner):
    def _judge(self, target: Position) -> Verdict:
        return Verdict.CLOSED


class NoWaiting(_WithRounds):
    """The ends are asked for and read up to, but the other markers are not waited for."""

    rounds = _ImpatientRounds


class _UnconfirmedRounds(TransactionAssigner):
    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        super().sort(decided, is_late=False)


class NeverConfirmed(_WithRounds):
    """What turns up below the target makes nobody ask again."""

    rounds = _UnconfirmedRounds


class _OpenRounds(TransactionAssigner):
    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        self.settled.append(decided)
        self.note(decided)


class NoTarget(_WithRounds):
    """Whatever is decided goes into the round under way."""

    rounds = _OpenRounds


class _GreedyRounds(TransactionAssigner):
    def _judge_one(self, author: ProducerState, parts: list[OpenBatches], target: Position) -> Verdict:
        return Verdict.CLOSED if author.rest else super()._judge_one(author, parts, target)


class NeverMore(_WithRounds):
    """What was open of an old producer is taken in, and nobody asks whether there is more of it."""

    rounds = _GreedyRounds


class _TrustingRounds(TransactionAssigner):
    def _judge_one(self, author: ProducerState, parts: list[OpenBatches], target: Position) -> Verdict:
        verdict = super()._judge_one(author, parts, target)
        return Verdict.CLOSED if verdict is Verdict.UNCLEAR else verdict


class NeverGivesUp(_WithRounds):
    """Where it cannot be told whose a part is, it is left out."""

    rounds = _TrustingRounds


class _EpochRounds(TransactionAssigner):
    def note(self, decided: CommittedBatches, *, is_late: bool = False) -> None:
        super().note(decided, is_late=is_late)
        if decided.producer_id >= 0:
            self._authors[decided.producer_id].is_exact = True


class EpochsTell(_WithRounds):
    """The epoch is taken for a transaction's own, bump or not."""

    rounds = _EpochRounds


class LateOnesWin(WatchedAssembly):
    """The order of commits, instead of offsets."""

    def _is_outdated(self, key: bytes, record: Record) -> bool:
        return False


class Forgets(WatchedAssembly):
    """Deleted keys are not remembered."""

    def _add_tombstone(self, delta: object, position: Position) -> None:
        pass


class NoHoles(Barrier):
    """Missing offsets are not minded."""

    def gap(self) -> None:
        """Nothing."""


class NoBarrier(Barrier):
    """The first point is shown."""

    def __init__(self, high_watermarks: Position) -> None:
        super().__init__(Position())
