"""The contract of boundary detectors: they take in what was read, and return decisions."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, TypeAlias

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.batches import Batch, Reading


class Ends(NamedTuple):
    """The ends of partitions: all transactions below ``stable`` are decided, all records below ``high`` replicated."""

    stable: Position
    high: Position


class CommittedRecords(NamedTuple):
    """Decision: these batches are committed and belong to the next version, whatever is read later."""

    batches: list[Batch]


class ConsistentPoint(NamedTuple):
    """Decision: the committed records so far are whole transactions, and a version of them is at this position."""

    position: Position
    transactions: int | None
    """The number of transactions committed since the last point; None where only Kafka knows."""
    looked: bool
    """True if the list of all partitions was requested after the transactions were decided."""


Decision: TypeAlias = CommittedRecords | ConsistentPoint


class BoundaryDetector(Protocol):
    """Decides where versions may end. One thread; no I/O; no clock."""

    boundaries: ClassVar[str]
    """The value of the replica's option ``boundaries`` that selects the detector."""

    @property
    def held_records(self) -> int:
        """The number of records read that no decision has covered yet."""

    @property
    def wants_ends(self) -> bool:
        """Return whether no decision is possible before the ends of the partitions are requested again."""

    @property
    def waits_for_the_open(self) -> bool:
        """Return whether an open transaction keeps committed records from being shown."""

    def add(self, partition: Partition, start: int) -> None:
        """Take in that another partition is read, from that offset on."""

    def answer(self, ends: Ends) -> list[Decision]:
        """Take in the ends of all partitions, requested after everything that was taken in before."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Take in the result of one read.

        Args:
            reading: the result.
            every_point: whether every consistent point is wanted, or only the last one.

        Raises:
            ValueError: the reader broke its contract.
        """

    def shown(self) -> None:
        """Take in that all committed records so far are in a version that readers see."""
