"""Where a version may end: the rule of quiet points, as a state machine without I/O.

Kafka never tells a consumer where a transaction ends. A ``read_committed`` consumer stops at the last
stable offset (LSO): the first offset of the oldest transaction that is still open. That is not a safe
place to cut, for a transaction that is committed already can lie on both sides of it: offsets 9 A,
10 B, 11 A, 12 commit of A, with B still open. The LSO is 10 and the consumer has one half of A.

Where the position reached equals the *high watermark*, the LSO equals it too, so that at that point no
transaction is open, and none is cut. This is a **quiet point**. It also outruns compaction: whatever
could have erased a record below it lies below it as well, and has been read.

Events go in (``read``), a decision comes out (``Publish`` or None). Pending records wait in a delta
until the next quiet point; nothing else ever becomes visible. What the rule needs of its reader:

* records arrive in log order, committed ones only;
* ``position`` is the next offset to be read, moved past markers, aborted records and holes;
* ``high_watermark`` is at least the one that came with the newest fetch any of whose records,
  delivered or not, lies below ``position``. An older one would make a torn point look quiet.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from kafka_replica.delta import Delta
from kafka_replica.records import Cut, Partition, Record


class Publish(NamedTuple):
    """Decision: this delta, and with it this cut, may become the next version."""

    delta: Delta
    cut: Cut


class QuietPoints:
    """The rule for one partition, from the offset where its reading starts.

    ``position`` only moves forward; ``published`` is the offset of the last quiet point, None before
    the first.
    """

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.position: int | None = None
        self.published: int | None = None
        self._pending = Delta()

    @property
    def pending_records(self) -> int:
        """Records read that no version shows yet."""
        return self._pending.record_count

    def read(self, records: Sequence[Record], position: int | None, high_watermark: int | None) -> Publish | None:
        """Takes in what one read brought, and says whether a version may end here.

        Args:
            records: committed records of this partition, in log order; may be empty.
            position: the next offset to be read, None while it is not known.
            high_watermark: as the newest fetch reported it, None while it is not known.

        Raises:
            ValueError: the position went back: the reader broke its contract.
        """
        self._pending.add(records)
        if position is None:
            return None
        self._advance(position)
        if position != high_watermark or position == self.published:
            return None
        delta, self._pending = self._pending, Delta()
        self.published = position
        return Publish(delta, Cut({self.partition: position}))

    def _advance(self, position: int) -> None:
        if self.position is not None and position < self.position:
            raise ValueError(f"position of {self.partition} went back from {self.position} to {position}")
        self.position = position
