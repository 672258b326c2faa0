"""The input of a boundary detector: the batches of the log, and the positions that reading has reached.

A reader that sees the batches of the log reports their producers and where transactions end (``DATA``,
``COMMIT``, ``ABORT``). A reader that sees only committed records has a single kind of batch (``COMMITTED``).
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple, Protocol

from kafka_replica.records import Partition, Position, Stored


class Kind(IntEnum):
    """The kind of a batch of the log."""

    PLAIN = 0
    """Records written outside of any transaction: each is committed by itself."""
    DATA = 1
    """Records of a transaction whose marker has not been read yet."""
    COMMIT = 2
    """The marker that commits a transaction."""
    ABORT = 3
    """The marker that aborts a transaction: its records are discarded."""
    COMMITTED = 4
    """Records of committed transactions and records outside of transactions, which cannot be distinguished."""


class Content(Protocol):
    """The records of a batch; they may not be parsed yet."""

    def records(self) -> Sequence[Stored]:
        """Return the records, parsed.

        Raises:
            DataError: they cannot be parsed.
        """

    def hold(self) -> None:
        """Detach the records from buffers that other batches share, because they are needed beyond this reading."""


class ParsedContent:
    """Records that are parsed already and share no buffer with others; a ``Content``."""

    __slots__ = ("_records",)

    def __init__(self, records: Sequence[Stored]) -> None:
        self._records = records

    def records(self) -> Sequence[Stored]:
        """Return the records."""
        return self._records

    def hold(self) -> None:
        """Do nothing: the records share no buffer with others."""


class Batch(NamedTuple):
    """A batch of the log, or several adjacent batches combined."""

    partition: Partition
    kind: Kind
    first: int
    """The first offset of the batch."""
    end: int
    """The offset after the last offset of the batch."""
    record_count: int
    """The number of records; lower than the number of offsets if compaction removed some."""
    producer_id: int
    producer_epoch: int
    content: Content


class Reading(NamedTuple):
    """The result of one read: batches, in log order within each partition, and the positions after them."""

    batches: list[Batch]
    positions: Position
    """The next offset to be read in each partition: past markers, aborted records and gaps."""
    high_watermarks: Position
    """The high watermarks that the newest fetch of each partition returned."""
