"""The contract of boundary detectors, which turn batches and positions into decisions."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, TypeAlias

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.batches import Batch, Reading


class Ends(NamedTuple):
    """The end offsets of partitions: all transactions below ``last_stable`` are decided."""

    last_stable: Position
    """The last stable offsets."""
    high_watermarks: Position
    """The high watermarks: all records below them are replicated by the brokers."""
    unconfirmed: frozenset[Partition] = frozenset()
    """Partitions whose leader too few brokers have confirmed, so that a newer leader may know a later end."""


class CommittedRecords(NamedTuple):
    """The decision that these batches are committed, and belong to the next version, whatever is read later."""

    batches: list[Batch]


class ConsistentPoint(NamedTuple):
    """The decision that the committed records so far are complete transactions: a version may end at this position."""

    position: Position
    transactions: int | None
    """The number of transactions committed since the last point; None if only Kafka knows it."""
    has_checked_partitions: bool
    """True if the list of all partitions was requested after these transactions had been decided."""


Decision: TypeAlias = CommittedRecords | ConsistentPoint
"""Records of committed transactions, or a point where a version may end."""


class BoundaryDetector(Protocol):
    """A state machine that decides where versions may end. One thread uses it; it has no I/O and no clock."""

    boundaries: ClassVar[str]
    """The value of the replica's option ``boundaries`` that selects the detector."""

    @property
    def held_records(self) -> int:
        """The number of records that were read, but that no decision covers yet."""

    @property
    def needs_ends(self) -> bool:
        """True if the ends of the partitions must be requested again before a decision is possible."""

    @property
    def waits_for_open_transactions(self) -> bool:
        """True if an open transaction prevents committed records from being shown."""

    def add(self, partition: Partition, start: int) -> None:
        """Add a partition that is read from offset ``start`` on."""

    def take_ends(self, ends: Ends) -> list[Decision]:
        """Process the ends of all partitions, which were requested after the latest reading was processed."""

    def take(self, reading: Reading, *, every_point: bool) -> list[Decision]:
        """Process the result of one read.

        Args:
            reading: the result.
            every_point: whether every consistent point is wanted, or only the last one.

        Raises:
            ValueError: the reader broke its contract.
        """

    def mark_shown(self) -> None:
        """Note that all committed records so far are in a version that readers see."""
