"""What a reader tells a rule: the batches of the log, and how far reading has come.

A reader that sees the log's own batches tells whose they are and where transactions end (``DATA``,
``COMMIT``, ``ABORT``). One that sees committed records only has one kind of batch (``COMMITTED``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from kafka_replica.records import Partition, Position, Stored


class Kind(IntEnum):
    """What a batch of the log is."""

    PLAIN = 0
    """Records written outside of any transaction: each stands for itself."""
    DATA = 1
    """Records of a transaction whose end is not known yet."""
    COMMIT = 2
    """The marker that ends a transaction: what it wrote counts."""
    ABORT = 3
    """The marker that ends a transaction: what it wrote never was."""
    COMMITTED = 4
    """Records of decided transactions, and plain ones, which of them is not known."""


class Content(Protocol):
    """The records of a batch, not parsed yet."""

    def records(self) -> Sequence[Stored]:
        """Parses them.

        Raises:
            DataError: they cannot be parsed.
        """

    def hold(self) -> None:
        """They are needed beyond this reading: lets go of what they share with others."""


class Parsed:
    """Records that are parsed already, and stand on their own; a ``Content``."""

    __slots__ = ("_records",)

    def __init__(self, records: Sequence[Stored]) -> None:
        self._records = records

    def records(self) -> Sequence[Stored]:
        """The records."""
        return self._records

    def hold(self) -> None:
        """They share nothing with others."""


class Batch(NamedTuple):
    """One batch of the log, or several in one piece."""

    partition: Partition
    kind: Kind
    first: int
    """Its first offset."""
    end: int
    """The offset after its last."""
    record_count: int
    """How many records are in it; fewer than its offsets when compaction took some."""
    producer_id: int
    producer_epoch: int
    content: Content


class Reading(NamedTuple):
    """What one read brought: batches in the log's order within each partition, then where reading is."""

    batches: list[Batch]
    positions: Position
    """The next offset to be read of each partition: past markers, aborted records and holes."""
    high_watermarks: Position
    """As they came with the newest fetch of each partition."""
