"""Amendments, by which an operator skips or replaces records of transactions that cannot be sent.

A request is first only stored. The relay applies it when it connects, after it has fenced all earlier senders and has
read from Kafka which transactions have arrived. Only then it is certain that a transaction that has not arrived is not
being sent by another process. Skipped and replaced content is kept.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from sqlalchemy import Connection, delete, func, insert, select, update

from kafka_replica.errors import UsageError
from kafka_replica.producer.changes.changes import Put, content_hash
from kafka_replica.producer.outbox.modes import Mode, intent_of
from kafka_replica.producer.outbox.tables import Status, TransactionKind, amendment, change, detail, state, tx
from kafka_replica.records import Key, key_bytes, key_text

WHOLE = 0
"""The number that means the whole transaction in an amendment; records are numbered from 1."""
_NAMED = 10  # the maximum number of keys that an error message names
_CONTENT = ("record_key", "record_value", "content_type", "content_hash")


class Action(StrEnum):
    """The action that an operator requests for a transaction, or for one of its records."""

    SKIP = "skip"
    REPLACE = "replace"


def request_skip(
    connection: Connection, producer_id: str, tx_id: int, keys: Iterable[Key] | None, reason: str, now_ms: int
) -> None:
    """Request to skip a transaction, or only its records with some keys; a flush is skipped with its deletions.

    Raises:
        UsageError: no such transaction or key exists, it was sent, or the producer is running.
    """
    kind = _check_unsent(connection, producer_id, tx_id)
    if keys is None:
        whole = [{"number": WHOLE, "action": str(Action.SKIP)}]
        for each in (tx_id, tx_id + 1) if kind is TransactionKind.FLUSH else (tx_id,):
            _request(connection, producer_id, each, whole, reason, now_ms)
        return
    numbers = _numbers(connection, producer_id, tx_id, [key_bytes(key) for key in keys])
    rows = [{"number": number, "action": str(Action.SKIP), "record_key": key} for key, number in numbers.items()]
    _request(connection, producer_id, tx_id, rows, reason, now_ms)


def request_replace(
    connection: Connection, producer_id: str, tx_id: int, puts: Sequence[Put], reason: str, now_ms: int
) -> None:
    """Request that records of a transaction are sent with other content; its other records stay unchanged.

    Raises:
        UsageError: no such transaction or key exists, the record is a deletion, it was sent, or the producer is
            running.
    """
    kind = _check_unsent(connection, producer_id, tx_id)
    if kind is not TransactionKind.CHANGES:
        raise UsageError(f"transaction {tx_id} of producer {producer_id} is of the kind {kind}; it can only be skipped")
    numbers = _numbers(connection, producer_id, tx_id, [key_bytes(put.key) for put in puts])
    rows = [
        {
            "number": numbers[key_bytes(put.key)], "action": str(Action.REPLACE), "record_key": key_bytes(put.key),
            "record_value": put.value, "content_type": put.content_type, "content_hash": content_hash(put),
        }
        for put in puts
    ]  # fmt: skip
    _request(connection, producer_id, tx_id, rows, reason, now_ms)


def is_requested(connection: Connection, producer_id: str, arrived: int) -> bool:
    """Return whether there are requests for transactions after ``arrived``."""
    return (
        connection.execute(select(amendment.c.tx_id).where(*_open(producer_id, arrived)).limit(1)).first() is not None
    )


def apply_requests(connection: Connection, producer_id: str, arrived: int, now_ms: int) -> None:
    """Apply the requests for transactions after ``arrived``; the caller knows that these were not sent."""
    rows = connection.execute(
        select(amendment.c.tx_id, amendment.c.request, amendment.c.number, amendment.c.action)
        .where(*_open(producer_id, arrived))
        .order_by(amendment.c.tx_id, amendment.c.request, amendment.c.number)
    ).all()
    for tx_id, request, number, action in rows:
        _AmendedTransaction(connection, producer_id, tx_id, request, now_ms).apply(number, Action(action))
    for tx_id in dict.fromkeys(row[0] for row in rows):
        _update_counts(connection, producer_id, tx_id, now_ms)


def count_skipped(connection: Connection, producer_id: str) -> tuple[int, int]:
    """Return the number of transactions that were skipped as a whole, and the total number of skipped records."""
    amended = select(amendment.c.tx_id).where(amendment.c.producer_id == producer_id)
    is_skipped = tx.c.tx_status == int(Status.SKIPPED)
    skipped = connection.execute(
        select(func.count()).where(tx.c.producer_id == producer_id, tx.c.tx_id.in_(amended), is_skipped)
    ).scalar_one()
    records = connection.execute(
        select(func.count()).where(
            amendment.c.producer_id == producer_id, amendment.c.action == str(Action.SKIP),
            amendment.c.applied_ms.is_not(None), amendment.c.number != WHOLE,
        )
    ).scalar_one()  # fmt: skip
    return int(skipped), int(records)


class _AmendedTransaction(NamedTuple):
    """A transaction to which a request is applied."""

    connection: Connection
    producer_id: str
    tx_id: int
    request: int
    now_ms: int

    def apply(self, number: int, action: Action) -> None:
        connection = self.connection
        this = (
            amendment.c.producer_id == self.producer_id, amendment.c.tx_id == self.tx_id,
            amendment.c.request == self.request, amendment.c.number == number,
        )  # fmt: skip
        request = connection.execute(select(amendment).where(*this)).mappings().one()
        connection.execute(update(amendment).where(*this).values(applied_ms=self.now_ms))
        originals = connection.execute(select(change).where(*self._changes(number))).mappings().all()
        if number == WHOLE:
            kept = [
                {
                    **request,
                    "applied_ms": self.now_ms,
                    "number": row["number"],
                    **{name: row[name] for name in _CONTENT},
                }
                for row in originals
            ]
            if kept:
                connection.execute(insert(amendment), kept)
        elif originals:
            connection.execute(update(amendment).where(*this).values({name: originals[0][name] for name in _CONTENT}))
        if action is Action.SKIP:
            connection.execute(delete(change).where(*self._changes(number)))
        else:
            content = {name: request[name] for name in _CONTENT}
            connection.execute(update(change).where(*self._changes(number)).values(content))

    def _changes(self, number: int) -> tuple[Any, ...]:
        mine = (change.c.producer_id == self.producer_id, change.c.tx_id == self.tx_id)
        return mine if number == WHOLE else (*mine, change.c.number == number)


def _update_counts(connection: Connection, producer_id: str, tx_id: int, now_ms: int) -> None:
    """Update the size and number of a transaction's records; without any record left, mark it as skipped."""
    sizes = func.length(change.c.record_key) + func.coalesce(func.length(change.c.record_value), 0)
    count, size = connection.execute(
        select(func.count(), func.coalesce(func.sum(sizes), 0)).where(
            change.c.producer_id == producer_id, change.c.tx_id == tx_id
        )
    ).one()
    values = {"tx_messages": count, "tx_size": int(size)} if count else {"tx_status": int(Status.SKIPPED)}
    connection.execute(
        update(tx).where(tx.c.producer_id == producer_id, tx.c.tx_id == tx_id).values(tx_last_updated=now_ms, **values)
    )


def _open(producer_id: str, arrived: int) -> tuple[Any, ...]:
    return amendment.c.producer_id == producer_id, amendment.c.tx_id > arrived, amendment.c.applied_ms.is_(None)


def _check_unsent(connection: Connection, producer_id: str, tx_id: int) -> TransactionKind:
    """Check that a transaction may be amended; return its kind."""
    # The row is locked, so that the producer cannot be resumed before the request is stored.
    connection.execute(update(state).where(state.c.producer_id == producer_id).values(mode=state.c.mode))
    intent = intent_of(connection, producer_id)
    row = connection.execute(
        select(tx.c.tx_status, detail.c.kind)
        .join(detail, (detail.c.producer_id == tx.c.producer_id) & (detail.c.tx_id == tx.c.tx_id))
        .where(tx.c.producer_id == producer_id, tx.c.tx_id == tx_id)
    ).first()
    doing = f"amending transaction {tx_id} of producer {producer_id}"
    if tx_id <= intent.sent_tx_id or (row is not None and row[0] == Status.SENT):
        raise UsageError(f"{doing}: it was sent; record further changes instead")
    if row is None:
        raise UsageError(
            f"{doing}: this transaction does not exist; kafka-replica producer list shows the existing ones"
        )
    if row[0] == Status.SKIPPED:
        raise UsageError(f"{doing}: it is already skipped")
    if intent.mode is Mode.RUNNING:
        raise UsageError(f"{doing}: the producer is running and may be sending it; suspend the producer first")
    return TransactionKind(row[1])


def _numbers(connection: Connection, producer_id: str, tx_id: int, keys: Sequence[bytes]) -> dict[bytes, int]:
    rows = connection.execute(
        select(change.c.record_key, change.c.number)
        .where(change.c.producer_id == producer_id, change.c.tx_id == tx_id)
        .order_by(change.c.number)
    )
    numbers = {bytes(key): number for key, number in rows}
    missing = [key for key in keys if key not in numbers]
    if missing or not keys:
        names = ", ".join(map(key_text, [*numbers][:_NAMED])) or "none"
        what = f"has no record of {', '.join(map(key_text, missing))}" if missing else "is amended by key"
        raise UsageError(f"transaction {tx_id} of producer {producer_id} {what}; its keys ({len(numbers)}): {names}")
    return {key: numbers[key] for key in keys}


def _request(
    connection: Connection, producer_id: str, tx_id: int, rows: Iterable[dict[str, Any]], reason: str, now_ms: int
) -> None:
    """Store a request, which replaces earlier requests for the same records that are not applied yet."""
    mine = (amendment.c.producer_id == producer_id, amendment.c.tx_id == tx_id)
    request = connection.execute(select(func.coalesce(func.max(amendment.c.request), 0)).where(*mine)).scalar_one() + 1
    for row in rows:
        number = row["number"]
        same = () if number == WHOLE else (amendment.c.number.in_([number, WHOLE]),)
        connection.execute(delete(amendment).where(*mine, *same, amendment.c.applied_ms.is_(None)))
        connection.execute(
            insert(amendment).values(
                producer_id=producer_id, tx_id=tx_id, request=request, requested_ms=now_ms, reason=reason, **row
            )
        )
