"""The detector that uses quiescence, instead of transaction markers, to determine where a version may end.

Kafka does not report to consumers where transactions end. A ``read_committed`` consumer stops at the last
stable offset (LSO): the first offset of the oldest transaction that is still open. A version must not end
there, because a transaction that is already committed can have records on both sides of the LSO. Example: the log
holds records of transaction A at offset 9, of B at 10, of A at 11, and the commit marker of A at 12, while B is still
open. The LSO is 10, and the consumer has only half of A.

If the position reached equals the *high watermark*, so does the LSO. Then no transaction is open at that position, and
none is split by it. This is a **quiescent point**. It is also safe from compaction: every record that could have
replaced a record below the point also lies below the point, and has been read.

Several partitions may be quiescent at different times. So when all of them look quiescent, Kafka is queried: first
for every last stable offset, then for every high watermark. If the two are equal for each partition, and equal to the
position reached, there was a moment between the two requests at which no transaction was open in any partition.

The detector requires the following of its reader:

* records arrive in log order, committed records only;
* a position is the next offset to be read, moved past markers, aborted records and gaps;
* the high watermark of a partition is not older than the newest fetch with any record, delivered or not, below the
  position. With an older high watermark, a position inside a transaction could look quiescent.
"""

from __future__ import annotations

from typing import ClassVar

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.batches import Batch, Reading
from kafka_replica.transactions.contract import CommittedRecords, ConsistentPoint, Decision, Ends


class QuiescenceDetector:
    """The detector that uses quiescence, for any number of partitions; see the module."""

    boundaries: ClassVar[str] = "quiescence"

    def __init__(self) -> None:
        self._positions: dict[Partition, int] = {}
        self._reported_partitions: set[Partition] = set()  # the partitions whose position was reported
        self._high: dict[Partition, int] = {}
        self._pending: list[Batch] = []
        self._has_requested = False  # true if the ends were requested since the last read
        self._pointed_at = Position()

    @property
    def held_records(self) -> int:
        """The number of records that wait for the next quiescent point."""
        return sum(batch.record_count for batch in self._pending)

    @property
    def needs_ends(self) -> bool:
        """True if all partitions look quiescent, which only Kafka can confirm."""
        if len(self._positions) == 1 or self._has_requested:
            return False
        return self._looks_quiescent and Position(self._positions) != self._pointed_at

    @property
    def waits_for_open_transactions(self) -> bool:
        """Always true: a reader of committed records stops at the first open transaction."""
        return True

    def add(self, partition: Partition, start: int) -> None:
        """Add a partition that is read from offset ``start`` on."""
        self._positions[partition] = start

    def take_ends(self, ends: Ends) -> list[Decision]:
        """Process the ends, ``last_stable`` requested first; return a point if no transaction is open anywhere."""
        self._has_requested = True
        position = Position(self._positions)
        if (
            ends.last_stable != position
            or ends.high_watermarks != position
            or self._reported_partitions != set(position)
        ):
            return []
        return self._point(looked=True)

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:  # noqa: ARG002 - a read has one point at most
        """Process the result of one read; see ``BoundaryDetector.take``."""
        self._pending += reading.batches
        self._has_requested = False
        for partition, position in reading.positions.items():
            if position < self._positions[partition]:
                raise ValueError(f"position of {partition} went back from {self._positions[partition]} to {position}")
            self._positions[partition] = position
            self._reported_partitions.add(partition)
        self._high.update(reading.high_watermarks)
        if len(self._positions) == 1 and self._looks_quiescent and Position(self._positions) != self._pointed_at:
            return self._point(looked=False)
        return []

    def mark_shown(self) -> None:
        """Do nothing: the detector keeps no state of committed records."""

    @property
    def _looks_quiescent(self) -> bool:
        return self._reported_partitions == self._positions.keys() and self._high == self._positions

    def _point(self, *, looked: bool) -> list[Decision]:
        committed, self._pending = self._pending, []
        self._pointed_at = Position(self._positions)
        decisions: list[Decision] = [CommittedRecords(committed)] if committed else []
        return [*decisions, ConsistentPoint(self._pointed_at, None, looked)]
