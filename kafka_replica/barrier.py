"""When a replica is ready: the barrier, as a state machine without I/O.

The high watermark of every partition is captured once, with READ_UNCOMMITTED, before reading starts.
The replica is ready when a *published version* has reached all of them. The last stable offset would be
too low a barrier (it leaves out what is behind an open transaction), and the offset of the last record
is one that may never come (the log may end in markers, aborted data or compacted holes).
"""

from __future__ import annotations

from kafka_replica.records import Cut, Partition


class Barrier:
    """Passed once, by the first published cut that dominates the captured high watermarks."""

    def __init__(self, high_watermarks: Cut) -> None:
        self.high_watermarks = high_watermarks
        self.passed = False

    def publish(self, cut: Cut) -> bool:
        """Takes in a cut that could be published; tells whether readers may see it.

        What comes before the barrier is held back: a version that lacks records which were there
        when the replica started would be a state of the past, and could not be told from the present.
        """
        self.passed = self.passed or cut.dominates(self.high_watermarks)
        return self.passed

    def missing(self, positions: Cut) -> dict[Partition, int]:
        """Offsets still to be read before the barrier, a partition; empty when all are read."""
        return {
            partition: target - positions.get(partition, 0)
            for partition, target in self.high_watermarks.items()
            if positions.get(partition, 0) < target
        }
