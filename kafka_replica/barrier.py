"""When a replica is ready: the barrier, as a state machine without I/O.

The high watermark of every partition is captured once, with READ_UNCOMMITTED, before reading starts.
The replica is ready when a *published version* has reached all of them. The last stable offset would be
too low a barrier (it leaves out what is behind an open transaction), and the offset of the last record
is one that may never come (the log may end in markers, aborted data or compacted holes).
"""

from __future__ import annotations

from kafka_replica.cuts import Publish
from kafka_replica.records import Cut, Partition


class Barrier:
    """Passed once, by the first point that dominates the captured high watermarks.

    What could be published before it is held back and comes with that point: a version that lacks
    records which were there when the replica started would be one of the past, not of the present.
    """

    def __init__(self, high_watermarks: Cut) -> None:
        self.high_watermarks = high_watermarks
        self.passed = False
        self._held: Publish | None = None

    def admit(self, publish: Publish) -> Publish | None:
        """Takes in what the rule lets through; hands out what readers may see of it."""
        if self.passed:
            return publish
        if self._held is not None:
            self._held.delta.merge(publish.delta)
            publish = Publish(self._held.delta, publish.cut)
        self.passed = publish.cut.dominates(self.high_watermarks)
        self._held = None if self.passed else publish
        return publish if self.passed else None

    def missing(self, positions: Cut) -> dict[Partition, int]:
        """Offsets still to be read before the barrier, a partition; empty when all are read."""
        return {
            partition: target - positions.get(partition, 0)
            for partition, target in self.high_watermarks.items()
            if positions.get(partition, 0) < target
        }
