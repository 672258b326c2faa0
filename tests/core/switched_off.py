"""The rules with one of them switched off each, to show that the checks find it."""

from __future__ import annotations

from collections.abc import Iterator

from model_follower import WatchedAssembly

from kafka_replica import Cut, Record
from kafka_replica.barrier import Barrier
from kafka_replica.cuts import Kind, Markers, QuietPoints, Reading, Step
from kafka_replica.cuts.parts import Decided, Part


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


class FirstMarker(Markers):
    """A transaction is whole where its first marker is."""

    @property
    def wants_ends(self) -> bool:
        """No."""
        return False

    def _sort(self, decided: Decided) -> None:
        self._join(decided)

    def _advance(self) -> Iterator[Step]:
        yield from self._point(self._positions, looked=True)


class NoWaiting(Markers):
    """The ends are asked for and read up to, but the other markers are not waited for."""

    def _is_member(self, part: Part, confirmed: Cut) -> bool:
        return False


class NeverConfirmed(Markers):
    """What turns up below the target makes nobody ask again."""

    def _sort(self, decided: Decided) -> None:
        before = self._confirmed
        super()._sort(decided)
        self._confirmed = before


class NoTarget(Markers):
    """Whatever is decided goes into the round under way."""

    def _sort(self, decided: Decided) -> None:
        self._join(decided)


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
