"""The rules with one of them switched off each, to show that the checks find it."""

from __future__ import annotations

from collections.abc import Iterator

from model_follower import WatchedAssembly

from kafka_replica import Cut, Record
from kafka_replica.barrier import Barrier
from kafka_replica.cuts import Kind, Markers, QuietPoints, Reading, Step
from kafka_replica.cuts.authors import Author, Verdict
from kafka_replica.cuts.parts import Decided, Part
from kafka_replica.cuts.rounds import Rounds


class EveryRead(QuietPoints):
    """A version after each read, as a plain consumer loop has it."""

    @property
    def _looks_quiet(self) -> bool:
        return True


class NeverAsks(QuietPoints):
    """Quiet in every partition, each at its time, taken for quiet."""

    @property
    def wants_ends(self) -> bool:
        """No."""
        return False

    def take(self, reading: Reading, *, every_point: bool) -> list[Step]:
        """As if there were one partition."""
        super().take(reading, every_point=every_point)
        return self._point(looked=True) if self._looks_quiet else []


class Uncommitted(Markers):
    """Records count as soon as they are read."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Step]:
        """As if there were no transactions."""
        return super().take(_with_kind(reading, Kind.DATA, Kind.PLAIN), every_point=every_point)


class AbortsCount(Markers):
    """The kind of a marker is not looked at."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Step]:
        """As if all were commits."""
        return super().take(_with_kind(reading, Kind.ABORT, Kind.COMMIT), every_point=every_point)


def _with_kind(reading: Reading, old: Kind, new: Kind) -> Reading:
    return reading._replace(batches=[b._replace(kind=new) if b.kind == old else b for b in reading.batches])


class _WithRounds(Markers):
    """The rule with other rounds."""

    rounds: type[Rounds]

    def __init__(self) -> None:
        super().__init__()
        self._rounds = self.rounds(self._tracks)


class _NoRounds(Rounds):
    @property
    def is_needed(self) -> bool:
        return False

    def sort(self, decided: Decided, *, is_late: bool = True) -> None:
        self.settled.append(decided)

    def advance(self) -> Cut | None:
        return None


class FirstMarker(_WithRounds):
    """A transaction is whole where its first marker is."""

    rounds = _NoRounds

    def _point(self, cut: Cut, *, looked: bool = True) -> Iterator[Step]:
        return super()._point(cut, looked=True)


class _ImpatientRounds(Rounds):
    def _judge(self, target: Cut) -> Verdict:
        return Verdict.CLOSED


class NoWaiting(_WithRounds):
    """The ends are asked for and read up to, but the other markers are not waited for."""

    rounds = _ImpatientRounds


class _UnconfirmedRounds(Rounds):
    def sort(self, decided: Decided, *, is_late: bool = True) -> None:
        super().sort(decided, is_late=False)


class NeverConfirmed(_WithRounds):
    """What turns up below the target makes nobody ask again."""

    rounds = _UnconfirmedRounds


class _OpenRounds(Rounds):
    def sort(self, decided: Decided, *, is_late: bool = True) -> None:
        self.settled.append(decided)
        self.note(decided)


class NoTarget(_WithRounds):
    """Whatever is decided goes into the round under way."""

    rounds = _OpenRounds


class _GreedyRounds(Rounds):
    def _judge_one(self, author: Author, parts: list[Part], target: Cut) -> Verdict:
        return Verdict.CLOSED if author.rest else super()._judge_one(author, parts, target)


class NeverMore(_WithRounds):
    """What was open of an old producer is taken in, and nobody asks whether there is more of it."""

    rounds = _GreedyRounds


class _TrustingRounds(Rounds):
    def _judge_one(self, author: Author, parts: list[Part], target: Cut) -> Verdict:
        verdict = super()._judge_one(author, parts, target)
        return Verdict.CLOSED if verdict is Verdict.UNCLEAR else verdict


class NeverGivesUp(_WithRounds):
    """Where it cannot be told whose a part is, it is left out."""

    rounds = _TrustingRounds


class _EpochRounds(Rounds):
    def note(self, decided: Decided, *, is_late: bool = False) -> None:
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

    def _bury(self, delta: object, cut: Cut) -> None:
        pass


class NoHoles(Barrier):
    """Missing offsets are not minded."""

    def hole(self) -> None:
        """Nothing."""


class NoBarrier(Barrier):
    """The first point is shown."""

    def __init__(self, high_watermarks: Cut) -> None:
        super().__init__(Cut())
