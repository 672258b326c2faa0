"""Recorded transactions and their contents, which the relay reads from the database and sends."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.outbox.modes import Intent
from kafka_replica.producer.outbox.tables import TransactionKind
from kafka_replica.records import Headers


class RecordedTransaction(NamedTuple):
    """A recorded transaction."""

    tx_id: int
    kind: TransactionKind
    recorded_ms: int
    size: int = 0
    messages: int = 0
    is_skipped: bool = False
    """True if an operator has skipped the transaction; it is sent without records, so that numbers have no gap."""
    trace: Headers = ()
    """The trace context in which the transaction was recorded, as headers of its records."""


class View(NamedTuple):
    """The state of the database at one moment."""

    intent: Intent
    last_tx_id: int
    """The last assigned number."""
    next: list[RecordedTransaction]
    """The first transactions that are not marked as sent."""


class Content(NamedTuple):
    """A record to send."""

    key: bytes
    value: bytes | None
    content_type: str | None


Raw: TypeAlias = tuple[bytes, bytes | None, str | None]
"""A ``Content`` as a plain tuple; with thousands of records, half of the time would be spent on creating objects."""


class Contents(NamedTuple):
    """The records of a transaction."""

    record_count: int
    records: Iterable[Raw]
    fingerprint: Fingerprint
    position: Mapping[str, Any] | None = None
    """The position after the transaction, for a source that stores its position in Kafka."""

    def close(self) -> None:
        """Release the connection from which records are read while they are sent, if they were not all read."""
        if isinstance(self.records, Generator):
            self.records.close()
