"""Lists of recorded transactions, with the operators' amendments, and of their records."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Engine, and_, select

from kafka_replica.errors import UsageError
from kafka_replica.producer.outbox.amendments import WHOLE, Action
from kafka_replica.producer.outbox.database import reading, translate_errors
from kafka_replica.producer.outbox.modes import intent_of
from kafka_replica.producer.outbox.tables import Status, TransactionKind, amendment, change, detail, tx
from kafka_replica.records import key_text

_STATES = {Action.SKIP: "skipped", Action.REPLACE: "replaced"}


@dataclass(frozen=True)
class Amendment:
    """An operator's request to skip or replace a transaction or record."""

    action: Action
    key: str | None
    """The record's key; None for the whole transaction."""
    state: str
    """``requested`` until the producer is resumed, then ``applied``; ``too late`` if the transaction was sent before.
    """
    reason: str | None
    requested_ms: int


@dataclass(frozen=True)
class RecordedTransaction:
    """A recorded transaction in the database."""

    tx_id: int
    status: Status
    kind: TransactionKind
    recorded_ms: int
    updated_ms: int
    size: int
    """Bytes of keys and values before compression."""
    records: int
    error: str | None
    """The reason why the last attempt to send the transaction failed; None if none has failed."""
    amendments: tuple[Amendment, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields as plain values for JSON."""
        return {**asdict(self), "status": int(self.status), "status_name": self.status.name.lower()}


@dataclass(frozen=True)
class StoredRecord:
    """A record of a recorded transaction."""

    key: bytes
    value: bytes | None
    content_type: str | None
    state: str
    """``recorded``, ``skipped`` or ``replaced``; in the latter two cases this is the original record."""


@translate_errors("listing transactions")
def list_transactions(
    engine: Engine, producer_id: str, *, statuses: Collection[Status] = (), limit: int = 100
) -> list[RecordedTransaction]:
    """Return recorded transactions, newest first.

    Args:
        engine: the database.
        producer_id: the id of the producer.
        statuses: return only transactions with these statuses; all if empty.
        limit: the maximum number of transactions.

    Raises:
        UsageError: the producer does not exist.
    """
    with reading(engine) as connection:
        sent_tx_id = intent_of(connection, producer_id).sent_tx_id
        only = [tx.c.tx_status.in_([int(status) for status in statuses])] if statuses else []
        rows = connection.execute(
            select(
                tx.c.tx_id, tx.c.tx_status, detail.c.kind, detail.c.recorded_ms, tx.c.tx_last_updated, tx.c.tx_size,
                tx.c.tx_messages, detail.c.error,
            )
            .join(detail, and_(detail.c.producer_id == tx.c.producer_id, detail.c.tx_id == tx.c.tx_id))
            .where(tx.c.producer_id == producer_id, *only)
            .order_by(tx.c.tx_id.desc())
            .limit(limit)
        ).all()  # fmt: skip
        amended = _amendments(connection, producer_id, sent_tx_id, [row[0] for row in rows])
    return [
        RecordedTransaction(
            row[0], Status(row[1]), TransactionKind(row[2]), *row[3:], amendments=tuple(amended.get(row[0], ()))
        )
        for row in rows
    ]


@translate_errors("reading the records of a transaction")
def records_of(engine: Engine, producer_id: str, tx_id: int) -> list[StoredRecord]:
    """Return the records of a transaction, including those that were skipped or replaced.

    Raises:
        UsageError: the transaction does not exist, or was cleaned up.
    """
    with reading(engine) as connection:
        intent_of(connection, producer_id)
        query = select(tx.c.tx_id).where(tx.c.producer_id == producer_id, tx.c.tx_id == tx_id)
        if connection.execute(query).first() is None:
            raise UsageError(
                f"producer {producer_id} has no transaction {tx_id}; kafka-replica producer list shows the existing "
                "ones"
            )
        rows = connection.execute(
            select(change.c.number, change.c.record_key, change.c.record_value, change.c.content_type)
            .where(change.c.producer_id == producer_id, change.c.tx_id == tx_id)
        )  # fmt: skip
        records = [(row[0], 0, _record(row[1], row[2], row[3], "recorded")) for row in rows]
        amended = connection.execute(
            select(
                amendment.c.number, amendment.c.request, amendment.c.action, amendment.c.record_key,
                amendment.c.record_value, amendment.c.content_type,
            ).where(
                amendment.c.producer_id == producer_id, amendment.c.tx_id == tx_id, amendment.c.number != WHOLE,
                amendment.c.applied_ms.is_not(None),
            )
        )  # fmt: skip
        records += [(row[0], row[1], _record(row[3], row[4], row[5], _STATES[Action(row[2])])) for row in amended]
    return [record for _, _, record in sorted(records, key=lambda each: each[:2])]


def _amendments(
    connection: Connection, producer_id: str, sent_tx_id: int, tx_ids: Collection[int]
) -> dict[int, list[Amendment]]:
    if not tx_ids:
        return {}
    rows = connection.execute(
        select(
            amendment.c.tx_id, amendment.c.action, amendment.c.record_key, amendment.c.applied_ms, amendment.c.reason,
            amendment.c.requested_ms,
        )
        .where(amendment.c.producer_id == producer_id, amendment.c.tx_id.between(min(tx_ids), max(tx_ids)))
        .order_by(amendment.c.tx_id, amendment.c.request, amendment.c.number)
    )  # fmt: skip
    amendments: dict[int, list[Amendment]] = {}
    for tx_id, action, key, applied_ms, reason, requested_ms in rows:
        state = "applied" if applied_ms is not None else "too late" if tx_id <= sent_tx_id else "requested"
        name = None if key is None else key_text(bytes(key))
        amendments.setdefault(tx_id, []).append(Amendment(Action(action), name, state, reason, requested_ms))
    return amendments


def _record(key: Any, value: Any, content_type: Any, state: str) -> StoredRecord:
    return StoredRecord(bytes(key), None if value is None else bytes(value), content_type, state)
