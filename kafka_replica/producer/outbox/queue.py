"""The relay's queries and updates: the next transactions, their contents, and their outcomes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, func, select, type_coerce, update
from sqlalchemy.types import NullType

from kafka_replica.common.clock import now_ms
from kafka_replica.headers.current_trace import NAMES
from kafka_replica.producer.changes.fingerprint import Fingerprint, digest_of
from kafka_replica.producer.outbox.amendments import apply_requests, is_requested
from kafka_replica.producer.outbox.cleanup import newer_than_this
from kafka_replica.producer.outbox.database import (
    outbox_errors,
    reading,
    reading_bytes,
    short_transaction,
    translate_errors,
)
from kafka_replica.producer.outbox.modes import Mode, intent_of, set_mode, try_again
from kafka_replica.producer.outbox.recorded_transactions import Content, Contents, RecordedTransaction, View
from kafka_replica.producer.outbox.tables import Status, TransactionKind, change, counter, detail, lease, state, tx

_AT_ONCE = 20  # rows in memory, because a row may have 16 MB
# The maximum number of transactions, and of their bytes, that are sent between two queries of the database.
_AHEAD = 64
_AHEAD_BYTES = 16 << 20
_TX_ID, _CONTENT, _HASHES = itemgetter(0), itemgetter(1, 2, 3), itemgetter(4, 5)


def _without_conversion(column: Column[Any]) -> ColumnElement[Any]:
    """Return a column whose values SQLAlchemy does not convert; otherwise it would copy each ``bytes``."""
    return type_coerce(column, NullType())


_CONTENT_COLUMNS = (
    _without_conversion(change.c.record_key),
    _without_conversion(change.c.record_value),
    change.c.content_type,
)
_RECORDED = (
    *(tx.c.tx_id, detail.c.kind, detail.c.recorded_ms, tx.c.tx_size, tx.c.tx_messages, tx.c.tx_status),
    *(detail.c[name] for name in NAMES),
)
_BOTH_HASHES = (_without_conversion(change.c.key_hash), _without_conversion(change.c.content_hash))


class Queue:
    """The recorded transactions of one producer, for its relay."""

    def __init__(self, engine: Engine, producer_id: str) -> None:
        self._engine = engine
        self._id = producer_id

    @translate_errors("looking for transactions to send")
    def view(self) -> View:
        """Return the requested mode of the producer, and the next transactions to send.

        Raises:
            UsageError: the producer does not exist.
        """
        with reading(self._engine) as connection:
            # The state is read first, so that everything that is read later is at least as new.
            intent = intent_of(connection, self._id)
            rows = connection.execute(
                select(*_RECORDED)
                .join(detail, and_(detail.c.producer_id == tx.c.producer_id, detail.c.tx_id == tx.c.tx_id))
                .where(tx.c.producer_id == self._id, tx.c.tx_id > intent.sent_tx_id)
                .order_by(tx.c.tx_id)
                .limit(_AHEAD)
            ).all()
            last_tx_id = connection.execute(
                select(counter.c.last_tx_id).where(counter.c.producer_id == self._id)
            ).scalar_one()
        return View(intent, int(last_tx_id), _within_limit([_transaction_of_row(*row) for row in rows]))

    @translate_errors("looking for a flush to send")
    def pending_flushes(self, sent_tx_id: int) -> list[RecordedTransaction]:
        """Return the flushes that are not sent yet."""
        with reading(self._engine) as connection:
            query = select(detail.c.tx_id, detail.c.kind, detail.c.recorded_ms).where(
                detail.c.producer_id == self._id,
                detail.c.tx_id > sent_tx_id,
                detail.c.kind == str(TransactionKind.FLUSH),
            )
            return [
                RecordedTransaction(tx_id, TransactionKind(kind), recorded_ms)
                for tx_id, kind, recorded_ms in connection.execute(query)
            ]

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

    @translate_errors("marking transactions as sent")
    def mark_sent(
        self,
        up_to: int,
        offset: int | None,
        sizes: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        not_carried: int = 0,
        recorded_ms: int | None = None,
        *,
        incarnation: str,
    ) -> bool:
        """Mark transactions as sent, because Kafka has acknowledged them; the lease is not needed to store this fact.

        Args:
            up_to: the number up to which all transactions are marked.
            offset: an offset at or before that of the progress record of ``up_to``; None if it is not known.
            sizes: the sent bytes and records of transactions for which they differ from the recorded ones, by number.
            not_carried: the number of records that the format cannot represent.
            recorded_ms: the time when the arrived transaction ``up_to`` was recorded; None if it is not known.
            incarnation: the incarnation to which ``up_to`` belongs.

        Returns:
            False, without any update, if the producer was deleted or recreated, or if the database was restored, and so
            has another transaction with the number ``up_to``, or none.
        """
        with short_transaction(self._engine) as connection:
            sent_tx_id = self._lock(connection, incarnation)
            if sent_tx_id is None:
                return False
            if recorded_ms is not None:
                this = (detail.c.producer_id == self._id, detail.c.tx_id == up_to)
                if connection.execute(select(detail.c.recorded_ms).where(*this)).scalar() != recorded_ms:
                    return False
            unmarked = tx.c.tx_status.not_in([int(Status.SENT), int(Status.SKIPPED)])
            mine = (tx.c.producer_id == self._id, tx.c.tx_id > sent_tx_id, unmarked)
            for tx_id, (size, messages) in sizes.items():
                connection.execute(
                    update(tx).where(*mine, tx.c.tx_id == tx_id).values(tx_size=size, tx_messages=messages)
                )
            connection.execute(
                update(tx)
                .where(*mine, tx.c.tx_id <= up_to)
                .values(tx_status=int(Status.SENT), tx_last_updated=now_ms())
            )
            connection.execute(
                update(state)
                .where(state.c.producer_id == self._id, state.c.sent_tx_id < up_to)
                .values(sent_tx_id=up_to, progress_offset=offset, not_carried=state.c.not_carried + not_carried)
            )
        return True

    @translate_errors("recording the failure of a transaction")
    def mark_failed(
        self, term: int | None, tx_id: int | None, status: Status, reason: str, *, incarnation: str
    ) -> bool:
        """Suspend the producer and store the reason, if this instance still has the lease; return whether it did.

        The transaction, if it is pending, gets the status.
        """
        with short_transaction(self._engine) as connection:
            if not self._holds_lease(connection, term) or self._lock(connection, incarnation) is None:
                return False
            if tx_id is not None:
                pending = (tx.c.producer_id == self._id, tx.c.tx_id == tx_id, tx.c.tx_status == int(Status.PENDING))
                values = {"tx_status": int(status), "tx_last_updated": now_ms()}
                if not connection.execute(update(tx).where(*pending).values(values)).rowcount:
                    tx_id = None
            if tx_id is not None:
                this = (detail.c.producer_id == self._id, detail.c.tx_id == tx_id)
                connection.execute(update(detail).where(*this).values(error=reason))
            return set_mode(connection, self._id, Mode.FAILED, reason, only=[Mode.RUNNING])

    @translate_errors("recording why the producer retries")
    def show_failure(self, term: int | None, reason: str | None) -> None:
        """Show in the status of a running producer why it is retrying; None shows that it is not.

        Nothing is written if the lease was lost.
        """
        ours = select(lease.c.producer_id).where(lease.c.producer_id == self._id, lease.c.term == term).exists()
        with short_transaction(self._engine) as connection:
            connection.execute(
                update(state)
                .where(state.c.producer_id == self._id, state.c.mode == str(Mode.RUNNING), ours)
                .values(reason=reason)
            )

    @translate_errors("applying requests of operators")
    def apply_requests(self, term: int | None, arrived: int, *, incarnation: str) -> bool:
        """Apply the operators' requests for transactions after ``arrived``; see ``amendments``.

        Args:
            term: the term of this instance's lease.
            arrived: the number up to which Kafka has all transactions; all earlier senders are fenced.
            incarnation: the incarnation to which ``arrived`` belongs.

        Returns:
            False if the lease was lost, so that another instance may be sending these transactions.
        """
        with reading(self._engine) as connection:
            if not is_requested(connection, self._id, arrived):
                return True
        with short_transaction(self._engine) as connection:
            sent_tx_id = self._lock(connection, incarnation) if self._holds_lease(connection, term) else None
            if sent_tx_id is None:
                return False
            # If Kafka's progress record was lost, more transactions are marked as sent than have arrived by Kafka.
            # These must not be amended either.
            apply_requests(connection, self._id, max(arrived, sent_tx_id), now_ms())
        return True

    @translate_errors("recording the publishing instance")
    def note_identity(self, transactional_id: str, *, incarnation: str) -> None:
        """Store the transactional id under which the producer publishes, so that it can be fenced after a change."""
        with short_transaction(self._engine) as connection:
            mine = (state.c.producer_id == self._id, state.c.incarnation == incarnation)
            connection.execute(update(state).where(*mine).values(transactional_id=transactional_id))

    @translate_errors("recording the start of the producer")
    def change_mode(self, mode: Mode, *, only: list[Mode], request_count: int, incarnation: str) -> bool:
        """Change the producer's mode, unless there was another request; return whether it was changed."""
        with short_transaction(self._engine) as connection:
            if self._lock(connection, incarnation) is None:
                return False
            return set_mode(connection, self._id, mode, None, only=only, request_count=request_count)

    @translate_errors("recording that the producer retries")
    def try_again(self, request_count: int) -> bool:
        """Resume a producer that suspended itself, unless there was another request; return whether it was resumed."""
        with short_transaction(self._engine) as connection:
            return try_again(connection, self._id, now_ms(), request_count)

    def _holds_lease(self, connection: Connection, term: int | None) -> bool:
        """Return whether this instance has the lease; lock the lease until the end of the database transaction."""
        mine = (lease.c.producer_id == self._id, lease.c.term == term)
        return bool(connection.execute(update(lease).where(*mine).values(beat=lease.c.beat + 1)).rowcount)

    def _lock(self, connection: Connection, incarnation: str) -> int | None:
        """Lock the producer's state; return the number up to which all is sent; None if the incarnation has changed."""
        mine = (state.c.producer_id == self._id, state.c.incarnation == incarnation)
        if not connection.execute(update(state).where(*mine).values(mode=state.c.mode)).rowcount:
            return None
        return int(connection.execute(select(state.c.sent_tx_id).where(*mine)).scalar_one())

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


def _transaction_of_row(
    tx_id: int, kind: str, recorded_ms: int, size: int, messages: int, status: int, *trace: str | None
) -> RecordedTransaction:
    """Return a recorded transaction to send; a skipped transaction is sent without records."""
    if status == Status.SKIPPED:
        return RecordedTransaction(tx_id, TransactionKind(kind), recorded_ms, is_skipped=True)
    headers = tuple((name, content.encode()) for name, content in zip(NAMES, trace, strict=True) if content)
    return RecordedTransaction(tx_id, TransactionKind(kind), recorded_ms, size, messages, trace=headers)


def _within_limit(pending: list[RecordedTransaction]) -> list[RecordedTransaction]:
    """Return the first transactions that do not exceed ``_AHEAD_BYTES`` together; at least one, if there is any."""
    return [
        each
        for each, size in zip(pending, accumulate(each.size for each in pending), strict=True)
        if size <= _AHEAD_BYTES or each is pending[0]
    ]
