"""The contents of recorded transactions, as the relay reads them, and their fingerprints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, func, select, type_coerce
from sqlalchemy.types import NullType

from kafka_replica.producer.changes.fingerprint import Fingerprint, digest_of
from kafka_replica.producer.outbox.cleanup import newer_than_this
from kafka_replica.producer.outbox.database import outbox_errors, reading, reading_bytes, translate_errors
from kafka_replica.producer.outbox.modes import intent_of
from kafka_replica.producer.outbox.recorded_transactions import Content, Contents, RecordedTransaction
from kafka_replica.producer.outbox.tables import TransactionKind, change, detail

_AT_ONCE = 20  # rows in memory, because a row may have 16 MB
_TX_ID, _CONTENT, _HASHES = itemgetter(0), itemgetter(1, 2, 3), itemgetter(4, 5)


def _without_conversion(column: Column[Any]) -> ColumnElement[Any]:
    """Return a column whose values SQLAlchemy does not convert; otherwise it would copy each ``bytes``."""
    return type_coerce(column, NullType())


_CONTENT_COLUMNS = (
    _without_conversion(change.c.record_key),
    _without_conversion(change.c.record_value),
    change.c.content_type,
)
_BOTH_HASHES = (_without_conversion(change.c.key_hash), _without_conversion(change.c.content_hash))


class RecordedContents:
    """The contents of one producer's recorded transactions. None of them changes while the relay sends them."""

    def __init__(self, engine: Engine, producer_id: str) -> None:
        self._engine = engine
        self._id = producer_id

    @translate_errors("reading the transaction that arrived last")
    def fingerprint(self, tx_id: int) -> Fingerprint | None:
        """Return the fingerprint of a transaction; None if no transaction has that number.

        The digest is None for a sent transaction, because clean-up may delete its content; it keeps the row itself.
        """
        with reading(self._engine) as connection:
            this = (detail.c.producer_id == self._id, detail.c.tx_id == tx_id)
            row = connection.execute(select(detail.c.recorded_ms, detail.c.kind).where(*this)).first()
            hashes = self._hashes(connection, tx_id)
            # Read last: if the transaction is marked as sent now, its content may have been cleaned up before it was
            # read.
            sent_tx_id = intent_of(connection, self._id).sent_tx_id
        if row is None:
            return None
        return Fingerprint(row[0], digest_of(row[1], hashes) if tx_id > sent_tx_id else None)

    def _hashes(self, connection: Connection, tx_id: int) -> list[tuple[bytes, bytes | None]]:
        query = (
            select(change.c.key_hash, change.c.content_hash)
            .where(change.c.producer_id == self._id, change.c.tx_id == tx_id)
            .order_by(change.c.number)
        )
        return [(bytes(key), None if content is None else bytes(content)) for key, content in connection.execute(query)]

    def contents(self, transaction: RecordedTransaction) -> Contents:
        """Return the records of a transaction, which are read in batches; not for a sweep, unless it is skipped."""
        with outbox_errors(f"reading transaction {transaction.tx_id}"), reading(self._engine) as connection:
            digest = digest_of(transaction.kind, self._hashes(connection, transaction.tx_id))
        return Contents(*self._count_and_contents(transaction), Fingerprint(transaction.recorded_ms, digest))

    def _count_and_contents(self, transaction: RecordedTransaction) -> tuple[int, Iterator[Content]]:
        if transaction.kind is not TransactionKind.FLUSH or transaction.is_skipped:
            return transaction.messages, self._stream(change.c.tx_id == transaction.tx_id)
        condition = self._as_of(transaction.tx_id)
        with outbox_errors(f"reading transaction {transaction.tx_id}"), reading(self._engine) as connection:
            counted = select(func.count()).select_from(change).where(change.c.producer_id == self._id, condition)
            count = int(connection.execute(counted).scalar_one())
        return count, self._stream(condition)

    @translate_errors("reading the next records to send")
    def contents_of(self, transactions: Sequence[RecordedTransaction]) -> dict[int, Contents]:
        """Read the records of several consecutive transactions into memory, with one query; return them by number.

        Args:
            transactions: the transactions, without flushes and sweeps.
        """
        query = (
            select(change.c.tx_id, *_CONTENT_COLUMNS, *_BOTH_HASHES)
            .where(
                change.c.producer_id == self._id, change.c.tx_id.between(transactions[0].tx_id, transactions[-1].tx_id)
            )
            .order_by(change.c.tx_id, change.c.number)
        )
        with reading_bytes(self._engine) as connection:
            rows = connection.execute(query).all()
        if rows and type(rows[0][1]) is not bytes:  # some drivers use classes of their own
            rows = [tuple(bytes(each) if isinstance(each, memoryview) else each for each in row) for row in rows]  # type: ignore[misc]
        by_tx_id = {tx_id: [*some] for tx_id, some in groupby(rows, _TX_ID)}
        return {each.tx_id: _contents(each, by_tx_id.get(each.tx_id, [])) for each in transactions}

    @translate_errors("reading the keys of all content")
    def keys_as_of(self, tx_id: int) -> set[bytes]:
        """Return the keys that have content as of a transaction, by the transactions before it."""
        with reading(self._engine) as connection:
            query = select(change.c.record_key).where(change.c.producer_id == self._id, self._as_of(tx_id))
            rows = connection.execution_options(yield_per=_AT_ONCE).execute(query)
            return {bytes(key) for key in rows.scalars()}

    def _as_of(self, tx_id: int) -> ColumnElement[bool]:
        return and_(change.c.tx_id < tx_id, change.c.record_value.is_not(None), ~newer_than_this(tx_id))

    def _stream(self, condition: ColumnElement[bool]) -> Iterator[Content]:
        query = (
            select(*_CONTENT_COLUMNS)
            .where(change.c.producer_id == self._id, condition)
            .order_by(change.c.tx_id, change.c.number)
        )
        with outbox_errors("reading records to send"), reading_bytes(self._engine) as connection:
            for row in connection.execution_options(yield_per=_AT_ONCE).execute(query):
                yield _in_bytes(*row)


def _contents(transaction: RecordedTransaction, rows: Sequence[Any]) -> Contents:
    fingerprint = Fingerprint(transaction.recorded_ms, digest_of(transaction.kind, map(_HASHES, rows)))
    return Contents(len(rows), [*map(_CONTENT, rows)], fingerprint)


def _in_bytes(key: Any, value: Any, content_type: str | None) -> Content:
    return Content(bytes(key), None if value is None else bytes(value), content_type)
