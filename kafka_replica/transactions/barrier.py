"""The barrier: the position that a consistent point must reach before it may be shown. A state machine without I/O.

*Readiness.* The high watermark of every partition is requested once, with READ_UNCOMMITTED, before reading starts. The
first version is the first consistent point that has reached all of them. The last stable offset would be too low,
because it excludes the records behind an open transaction. The offset of the last record would not do either: it may
never be delivered, because the log may end in markers, aborted records or records that were compacted away.

*Gaps.* A reader that lags reads a log that is being compacted. Suppose that the transaction at offset 150 wrote a and
b, that a was written again at offset 900, and that the cleaner removed the a at offset 150. At the marker of that
transaction, the reader has the new b and an old a. The record that replaced a removed record lies below the ends that
the log had when the gap was noticed. So when an offset is missing, the ends are requested, and nothing is shown before
reading has reached them in all partitions: a record that is missing in one partition may belong to a transaction with
records in another.
"""

from __future__ import annotations

from kafka_replica.records import Position


class Barrier:
    """The lowest position that may be shown. It only rises."""

    def __init__(self, high_watermarks: Position) -> None:
        self.least = high_watermarks
        self.passed = False
        self._has_gap = False

    @property
    def needs_ends(self) -> bool:
        """True if the ends must be requested before anything can be shown."""
        return self._has_gap

    def note_gap(self) -> None:
        """Note that an offset is missing in the records that were read."""
        self._has_gap = True

    def take_ends(self, high_watermarks: Position) -> None:
        """Raise the barrier to the ends of all partitions, requested after the last gap was noticed."""
        if self._has_gap:
            self._has_gap = False
            self.raise_to(high_watermarks)

    def raise_to(self, high_watermarks: Position) -> None:
        """Raise the barrier: nothing below these offsets is shown."""
        higher = {
            partition: offset for partition, offset in high_watermarks.items() if offset > self.least.get(partition, 0)
        }
        if higher:
            self.least = self.least.advanced(higher)

    def would_admit(self, position: Position) -> bool:
        """Return whether a point has reached the barrier; only an unresolved gap can still prevent its display."""
        return position.dominates(self.least)

    def admits(self, position: Position) -> bool:
        """Return whether a point may be shown; the first point for which this is true passes the barrier."""
        if self._has_gap or not self.would_admit(position):
            return False
        self.passed = True
        return True
