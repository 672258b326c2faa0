"""From where on what was decided may be shown: the barrier, as a state machine without I/O.

*Ready.* The high watermark of every partition is captured once, with READ_UNCOMMITTED, before reading
starts. The first version is the first point that has come as far. The last stable offset would be too
low (it leaves out what is behind an open transaction), and the offset of the last record is one that may
never come (the log may end in markers, aborted data or compacted holes).

*Holes.* Whoever lags reads a log that is being compacted. Transaction 150 wrote a and b, offset 900 wrote
a again, the cleaner took 150's a: at 150's marker a reader has b new and a old. Whatever took a record
lies below the ends of the log as they were when its absence was seen. So where an offset is missing the
ends are asked for, and nothing is shown before it has come as far, in all partitions: a record that is
missing in one may be of a transaction that has its other records in another.
"""

from __future__ import annotations

from kafka_replica.records import Position


class Barrier:
    """The least cut that may be shown. It only rises."""

    def __init__(self, high_watermarks: Position) -> None:
        self.least = high_watermarks
        self.passed = False
        self._holes = False

    @property
    def wants_ends(self) -> bool:
        """Whether the ends are to be asked for before anything can be shown."""
        return self._holes

    def gap(self) -> None:
        """An offset is missing in what was read."""
        self._holes = True

    def answer(self, high_watermarks: Position) -> None:
        """The ends of all partitions, asked for after the last hole was seen."""
        if self._holes:
            self._holes = False
            self.raise_to(high_watermarks)

    def raise_to(self, high_watermarks: Position) -> None:
        """Nothing below that is shown."""
        higher = {
            partition: offset for partition, offset in high_watermarks.items() if offset > self.least.get(partition, 0)
        }
        if higher:
            self.least = self.least.advanced(higher)

    def would_admit(self, position: Position) -> bool:
        """Whether only a hole, if anything, keeps a point from being shown."""
        return position.dominates(self.least)

    def admits(self, position: Position) -> bool:
        """Whether a point may be shown; the first one that may passes the barrier."""
        if self._holes or not self.would_admit(position):
            return False
        self.passed = True
        return True
