"""What every rule promises: evidence in, steps out."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, TypeAlias

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.batches import Batch, Reading


class Ends(NamedTuple):
    """Where partitions end: below ``stable`` all is decided, below ``high`` all is replicated."""

    stable: Position
    high: Position


class CommittedRecords(NamedTuple):
    """Decision: these batches are committed and belong to the next version, whatever comes."""

    batches: list[Batch]


class ConsistentPoint(NamedTuple):
    """Decision: what was settled so far is a whole number of transactions, and stands for this cut."""

    position: Position
    transactions: int | None
    """How many transactions were settled since the last point; None where only Kafka knows."""
    looked: bool
    """Whether all partitions that there are were asked for after the transactions were decided."""


Decision: TypeAlias = CommittedRecords | ConsistentPoint


class BoundaryDetector(Protocol):
    """Decides where versions may end. One thread; no I/O; no clock."""

    boundaries: ClassVar[str]
    """Its kind of evidence, as users name it."""

    @property
    def held_records(self) -> int:
        """Records read that no step has settled."""

    @property
    def wants_ends(self) -> bool:
        """Whether nothing can be decided before the partitions' ends are asked for, from now on."""

    @property
    def waits_for_the_open(self) -> bool:
        """Whether an open transaction keeps what is committed from being shown."""

    def add(self, partition: Partition, start: int) -> None:
        """One more partition is read, from that offset on."""

    def answer(self, ends: Ends) -> list[Decision]:
        """Takes in the ends of all partitions, asked for after all that was taken in before."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Takes in what one read brought.

        Args:
            reading: what it brought.
            every_point: whether each place where a version may end is wanted, or only the last.

        Raises:
            ValueError: the reader broke its contract.
        """

    def shown(self) -> None:
        """All that was settled is in a version that readers see."""
