"""The relay's queries and updates: the next transactions and their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import accumulate
from types import MappingProxyType
from typing import Final

from sqlalchemy import ColumnElement, Connection, Engine, and_, false, select, update

from kafka_replica.common.clock import now_ms
from kafka_replica.headers.current_trace import NAMES
from kafka_replica.producer.outbox.amendments import apply_requests, is_requested
from kafka_replica.producer.outbox.contents import RecordedContents
from kafka_replica.producer.outbox.database import reading, short_transaction, translate_errors
from kafka_replica.producer.outbox.lease import LeaseHolder, LeaseLostError
from kafka_replica.producer.outbox.modes import Mode, intent_of, set_mode, try_again
from kafka_replica.producer.outbox.recorded_transactions import RecordedTransaction, View
from kafka_replica.producer.outbox.tables import Status, TransactionKind, counter, detail, lease, state, tx

# The maximum number of transactions, and of their bytes, that are sent between two queries of the database.
_AHEAD = 64
_AHEAD_BYTES = 16 << 20
_RECORDED = (
    *(tx.c.tx_id, detail.c.kind, detail.c.recorded_ms, tx.c.tx_size, tx.c.tx_messages, tx.c.tx_status),
    *(detail.c[name] for name in NAMES),
)


class Queue:
    """The recorded transactions of one producer, for its relay.

    Attributes:
        recorded: their contents.
    """

    def __init__(self, engine: Engine, producer_id: str) -> None:
        self._engine = engine
        self._id = producer_id
        self.recorded: Final = RecordedContents(engine, producer_id)

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
        # A number that is not counted yet belongs to a transaction that is being recorded.
        recorded = [_transaction_of_row(*row) for row in rows if row[0] <= last_tx_id]
        return View(intent, int(last_tx_id), _within_limit(recorded))

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

    @translate_errors("marking transactions as sent")
    def mark_sent(
        self,
        holder: LeaseHolder | None,
        up_to: int,
        offset: int | None,
        sizes: Mapping[int, tuple[int, int]] = MappingProxyType({}),
        not_carried: Mapping[int, int] = MappingProxyType({}),
        recorded_ms: int | None = None,
        *,
        incarnation: str,
    ) -> bool:
        """Mark transactions as sent, because Kafka has acknowledged them.

        Only the owner of the lease may do so. If Kafka has lost the markers of an acknowledged transaction, an instance
        that takes over relies on the marks: it ends the transaction as committed if it is marked, and otherwise sends
        it again.

        Args:
            holder: this instance, with the term of its lease; None without the lease.
            up_to: the number up to which all transactions are marked.
            offset: an offset at or before that of the progress record of ``up_to``; None if it is not known.
            sizes: the sent bytes and records of transactions for which they differ from the recorded ones, by number.
            not_carried: the number of records that the format cannot represent, by number of the transaction.
            recorded_ms: the time when the arrived transaction ``up_to`` was recorded; None if it is not known.
            incarnation: the incarnation to which ``up_to`` belongs.

        Returns:
            False, without any update, if the lease was lost, if the producer was deleted or recreated, or if the
            database was restored, and so has another transaction with the number ``up_to``, or none.
        """
        with short_transaction(self._engine) as connection:
            sent_tx_id = self._lock_if_leased(connection, holder, incarnation)
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
            # With a progress record of this incarnation, those of the former ones do not count any more.
            known = {} if offset is None else {"former_incarnations": None}
            left_out = sum(number for tx_id, number in not_carried.items() if tx_id > sent_tx_id)
            connection.execute(
                update(state)
                .where(state.c.producer_id == self._id, state.c.sent_tx_id < up_to)
                .values(sent_tx_id=up_to, progress_offset=offset, not_carried=state.c.not_carried + left_out, **known)
            )
        return True

    @translate_errors("verifying the lease")
    def sent_while_leased(self, holder: LeaseHolder | None, *, incarnation: str) -> int:
        """Return the number up to which all transactions are marked as sent, which no other instance can change.

        Raises:
            LeaseLostError: the lease was lost, or the producer was deleted or recreated.
        """
        with short_transaction(self._engine) as connection:
            return self._lock_leased(connection, holder, incarnation)

    @translate_errors("recording the failure of a transaction")
    def mark_failed(
        self, holder: LeaseHolder | None, tx_id: int | None, status: Status, reason: str, *, incarnation: str
    ) -> bool:
        """Suspend the producer and store the reason, if this instance still has the lease; return whether it did.

        The transaction, if it is pending, gets the status.
        """
        with short_transaction(self._engine) as connection:
            if self._lock_if_leased(connection, holder, incarnation) is None:
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
    def show_failure(self, holder: LeaseHolder | None, reason: str | None) -> None:
        """Show in the status of a running producer why it is retrying; None shows that it is not.

        Nothing is written if the lease was lost.
        """
        ours = select(lease.c.producer_id).where(*self._is_held(holder)).exists()
        with short_transaction(self._engine) as connection:
            connection.execute(
                update(state)
                .where(state.c.producer_id == self._id, state.c.mode == str(Mode.RUNNING), ours)
                .values(reason=reason)
            )

    @translate_errors("applying requests of operators")
    def apply_requests(self, holder: LeaseHolder | None, arrived: int, *, incarnation: str) -> None:
        """Apply the operators' requests for transactions after ``arrived``; see ``amendments``.

        Args:
            holder: this instance, with the term of its lease; None without the lease.
            arrived: the number up to which Kafka has all transactions; all earlier senders are fenced.
            incarnation: the incarnation to which ``arrived`` belongs.

        Raises:
            LeaseLostError: the lease was lost, so that another instance may be sending these transactions.
        """
        if not self.is_requested(arrived):
            return
        with short_transaction(self._engine) as connection:
            sent_tx_id = self._lock_leased(connection, holder, incarnation)
            # If Kafka's progress record was lost, more transactions are marked as sent than have arrived by Kafka.
            # These must not be amended either.
            apply_requests(connection, self._id, max(arrived, sent_tx_id), now_ms())

    @translate_errors("looking for requests of operators")
    def is_requested(self, arrived: int) -> bool:
        """Return whether there are requests for transactions after ``arrived``; see ``amendments``."""
        with reading(self._engine) as connection:
            return is_requested(connection, self._id, arrived)

    @translate_errors("recording the publishing instance")
    def note_identity(self, holder: LeaseHolder | None, transactional_id: str, *, incarnation: str) -> None:
        """Store the transactional id under which the producer publishes, so that it can be fenced after a change.

        Raises:
            LeaseLostError: the lease was lost.
        """
        with short_transaction(self._engine) as connection:
            self._lock_leased(connection, holder, incarnation)
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

    def _lock_leased(self, connection: Connection, holder: LeaseHolder | None, incarnation: str) -> int:
        """Lock the state and the lease; return the number up to which all is sent, or raise LeaseLostError."""
        sent_tx_id = self._lock_if_leased(connection, holder, incarnation)
        if sent_tx_id is None:
            raise LeaseLostError(
                f"producer {self._id}: another instance has taken over, or the producer was recreated; standing by"
            )
        return sent_tx_id

    def _lock_if_leased(self, connection: Connection, holder: LeaseHolder | None, incarnation: str) -> int | None:
        """Lock the state, then the lease; return the number up to which all is sent, or None without the lease.

        The state is locked first: a user's transaction may lock it for long, and must not block the lease.
        """
        sent_tx_id = self._lock(connection, incarnation)
        return sent_tx_id if sent_tx_id is not None and self._holds_lease(connection, holder) else None

    def _holds_lease(self, connection: Connection, holder: LeaseHolder | None) -> bool:
        """Return whether this instance has the lease; lock the lease until the end of the database transaction."""
        mine = self._is_held(holder)
        return bool(connection.execute(update(lease).where(*mine).values(beat=lease.c.beat + 1)).rowcount)

    def _is_held(self, holder: LeaseHolder | None) -> tuple[ColumnElement[bool], ...]:
        if holder is None:
            return (false(),)
        return lease.c.producer_id == self._id, lease.c.owner == holder.owner, lease.c.term == holder.term

    def _lock(self, connection: Connection, incarnation: str) -> int | None:
        """Lock the producer's state; return the number up to which all is sent; None if the incarnation has changed."""
        mine = (state.c.producer_id == self._id, state.c.incarnation == incarnation)
        if not connection.execute(update(state).where(*mine).values(mode=state.c.mode)).rowcount:
            return None
        return int(connection.execute(select(state.c.sent_tx_id).where(*mine)).scalar_one())


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
