"""Where a version may end, by quiet points.

Kafka never tells a consumer where a transaction ends. A ``read_committed`` consumer stops at the last
stable offset (LSO): the first offset of the oldest transaction that is still open. That is not a safe
place to cut, for a transaction that is committed already can lie on both sides of it: offsets 9 A,
10 B, 11 A, 12 commit of A, with B still open. The LSO is 10 and the consumer has one half of A.

Where the position reached equals the *high watermark*, the LSO equals it too, so that at that point no
transaction is open, and none is cut. This is a **quiet point**. It also outruns compaction: whatever
could have erased a record below it lies below it as well, and has been read.

In several partitions each may be quiet at a time of its own. So, when all look quiet, Kafka is asked: first
for every stable offset, then for every high watermark. Where they are equal, pair by pair, and equal to
what was read, there was a moment between the two questions at which nothing was open anywhere.

What the rule needs of its reader:

* records arrive in log order, committed ones only;
* a position is the next offset to be read, moved past markers, aborted records and holes;
* a high watermark is at least the one that came with the newest fetch any of whose records,
  delivered or not, lies below the position. An older one would make a torn point look quiet.
"""

from __future__ import annotations

from typing import ClassVar

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.batches import Batch, Reading
from kafka_replica.transactions.detector import CommittedRecords, ConsistentPoint, Decision, Ends


class QuiescenceDetector:
    """The rule for any number of partitions; see the module."""

    boundaries: ClassVar[str] = "quiescence"

    def __init__(self) -> None:
        self._positions: dict[Partition, int] = {}
        self._known: set[Partition] = set()  # whose position was seen
        self._high: dict[Partition, int] = {}
        self._pending: list[Batch] = []
        self._asked = False  # since the last reading
        self._pointed_at = Position()

    @property
    def held_records(self) -> int:
        """Records that wait for the next quiet point."""
        return sum(batch.record_count for batch in self._pending)

    @property
    def wants_ends(self) -> bool:
        """Whether all partitions look quiet, which only Kafka can confirm."""
        if len(self._positions) == 1 or self._asked:
            return False
        return self._looks_quiet and Position(self._positions) != self._pointed_at

    @property
    def waits_for_the_open(self) -> bool:
        """Always: a reader of committed records stops at the first one that is open."""
        return True

    def add(self, partition: Partition, start: int) -> None:
        """One more partition is read."""
        self._positions[partition] = start

    def answer(self, ends: Ends) -> list[Decision]:
        """Takes in the ends, stable ones asked for first: a point, if nothing is open anywhere."""
        self._asked = True
        read = Position(self._positions)
        if ends.stable != read or ends.high != read or self._known != set(read):
            return []
        return self._point(looked=True)

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:  # noqa: ARG002 - it has only the last
        """Takes in what one read brought; see ``BoundaryDetector.take``."""
        self._pending += reading.batches
        self._asked = False
        for partition, position in reading.positions.items():
            if position < self._positions[partition]:
                raise ValueError(f"position of {partition} went back from {self._positions[partition]} to {position}")
            self._positions[partition] = position
            self._known.add(partition)
        self._high.update(reading.high_watermarks)
        if len(self._positions) == 1 and self._looks_quiet and Position(self._positions) != self._pointed_at:
            return self._point(looked=False)
        return []

    def shown(self) -> None:
        """Nothing is remembered of what was settled."""

    @property
    def _looks_quiet(self) -> bool:
        return self._known == self._positions.keys() and self._high == self._positions

    def _point(self, *, looked: bool) -> list[Decision]:
        settled, self._pending = self._pending, []
        self._pointed_at = Position(self._positions)
        steps: list[Decision] = [CommittedRecords(settled)] if settled else []
        return [*steps, ConsistentPoint(self._pointed_at, None, looked)]
