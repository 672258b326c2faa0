"""Recording of changes within the user's own database transaction.

Each transaction gets a number. Numbers have no gaps, their order is the order of the commits, and a reader who sees a
number sees all lower numbers. This holds because a recording transaction first updates the producer's row of
``kafka_producer_counter``, and the database keeps the row locked until the transaction has ended and its changes are
visible. So the second of two concurrent recording transactions gets its number after the first has committed, or has
released its number by a rollback. A database sequence would guarantee none of this.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, delete, insert, select, update

from kafka_replica.common.clock import now_ms
from kafka_replica.errors import UsageError
from kafka_replica.headers.current_trace import current_trace
from kafka_replica.producer.changes.changes import (
    Change,
    Delete,
    Put,
    UnreadableKey,
    content_hash,
    key_hash,
    puts_and_deletes,
)
from kafka_replica.producer.errors import EncodingError
from kafka_replica.producer.outbox import modes
from kafka_replica.producer.outbox.amendments import request_replace, request_skip
from kafka_replica.producer.outbox.configuration import as_stored, is_stored, store
from kafka_replica.producer.outbox.present import drop_unchanged, present_keys
from kafka_replica.producer.outbox.raw_connections import AnyConnection, usable
from kafka_replica.producer.outbox.tables import (
    Status,
    TransactionKind,
    amendment,
    change,
    config,
    counter,
    detail,
    lease,
    properties,
    state,
    tx,
)
from kafka_replica.records import Key, key_bytes

T = TypeVar("T")
_AT_ONCE = 500


class Differences(NamedTuple):
    """The result of recording the differences between a source and the outbox."""

    tx_ids: list[int]
    """The numbers of the transactions; empty if nothing has changed."""
    unreadable: list[UnreadableKey]
    """The content that cannot be read or sent; its keys keep the content that was recorded before."""


class Outbox:
    """The outbox of one producer. Its methods use the caller's connection and transaction.

    The connection may be a SQLAlchemy, sqlite3 or psycopg connection.

    Any database with transactions is suitable. Under ``REPEATABLE READ`` and above, concurrent recording transactions
    may fail with a serialization error, as the database documents; retry the transaction in this case. Record changes
    at the end of a transaction, because other recording transactions wait from this point until the commit.

    Args:
        producer_id: the id of the producer; a database may have several.
        skip_unchanged: whether to leave out content that equals the last recorded content, by ``content_hash``.
        validator: called with new content before it is recorded; raises EncodingError if the content cannot be sent.
    """

    def __init__(
        self, producer_id: str, *, skip_unchanged: bool = True, validator: Callable[[Put], None] | None = None
    ) -> None:
        self.producer_id = producer_id
        self._skip_unchanged = skip_unchanged
        self._validator = validator

    def __repr__(self) -> str:
        return f"<Outbox of producer {self.producer_id}>"

    def create(
        self,
        connection: AnyConnection,
        *,
        topic: str,
        media_type: str = "",
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Create the producer, or update its stored topic, format and settings.

        Nothing is written if nothing differs, and the method does not wait for open recording transactions. Secret
        settings are written as ``***``.
        """
        with usable(connection, f"writing the configuration of producer {self.producer_id}") as sql_connection:
            configuration = as_stored(topic, media_type, settings or {})
            if not is_stored(sql_connection, self.producer_id, configuration):
                store(sql_connection, self.producer_id, configuration)

    def record(self, connection: AnyConnection, changes: Iterable[Change]) -> list[int]:
        """Record changes as one transaction of the topic, and deletions as a second transaction after it.

        Args:
            connection: the connection on which the user's own data is changed; the caller commits.
            changes: additions, changes and deletions, in the order in which they are to be sent.

        Returns:
            The numbers of the transactions; empty if nothing has changed.

        Raises:
            UsageError: the producer does not exist, or something is not a change.
            EncodingError: content cannot be sent; nothing is recorded, and the caller's transaction can continue.
            OutboxError: the database refused; roll back.
        """
        puts, deletes = puts_and_deletes(changes)
        doing = f"recording {len(puts) + len(deletes)} changes for producer {self.producer_id}"
        with usable(connection, doing) as sql_connection:
            for _, error in self._unsendable(sql_connection, puts):
                raise error
            return self._record(sql_connection, puts, deletes)

    def record_differences(self, connection: AnyConnection, contents: Iterable[Put | UnreadableKey]) -> Differences:
        """Record the differences between the given and the recorded content, for sources that list all their content.

        Args:
            connection: the connection on which the user's own data is changed; the caller commits.
            contents: all content. The key of an ``UnreadableKey``, or of content that cannot be sent, keeps its
                recorded content; if an ``UnreadableKey`` has no key, nothing is deleted.

        Returns:
            The numbers of the transactions, and all content that was not recorded.

        Raises:
            UsageError: the producer does not exist.
            OutboxError: the database refused; roll back.
        """
        every_content = list(contents)
        unreadable = [each for each in every_content if isinstance(each, UnreadableKey)]
        puts, _ = puts_and_deletes(each for each in every_content if not isinstance(each, UnreadableKey))
        with usable(connection, f"comparing contents for producer {self.producer_id}") as sql_connection:
            rejections = [UnreadableKey(put.key, str(error)) for put, error in self._unsendable(sql_connection, puts)]
            unsendable_keys = {each.key for each in rejections}
            kept_keys = {None if each.key is None else key_bytes(each.key) for each in unreadable}
            kept_keys.update(key_bytes(put.key) for put in puts)
            self._lock_counter(sql_connection)
            deletions = (
                []
                if None in kept_keys
                else [Delete(k) for k in present_keys(sql_connection, self.producer_id) if k not in kept_keys]
            )
            tx_ids = self._record(sql_connection, [put for put in puts if put.key not in unsendable_keys], deletions)
        return Differences(tx_ids, [*unreadable, *rejections])

    def record_flush(self, connection: AnyConnection) -> list[int]:
        """Record a full flush: all present content in one transaction, and tombstones for all other keys in another.

        Raises:
            UsageError: the producer does not exist.
            OutboxError: the database refused; roll back.
        """
        with usable(connection, f"recording a full flush for producer {self.producer_id}") as sql_connection:
            last = self._lock_counter(sql_connection)
            self._write(sql_connection, last + 1, TransactionKind.FLUSH, ())
            self._write(sql_connection, last + 2, TransactionKind.SWEEP, ())
            self._count(sql_connection, 2)
        return [last + 1, last + 2]

    def begin_incarnation(self, connection: AnyConnection) -> None:
        """Begin a new incarnation, in which Kafka's progress records of earlier transactions no longer count.

        Use this method if the database was restored or lost commits in a failover, so that its history differs from
        Kafka's. If it does not differ, nothing is sent again that has arrived.

        Raises:
            UsageError: the producer does not exist, or is running.
            OutboxError: the database refused; roll back.
        """
        with usable(connection, f"beginning a new incarnation of producer {self.producer_id}") as sql_connection:
            # First, as when changes are recorded: two transactions that lock in different orders can block each other.
            self._lock_counter(sql_connection)
            modes.begin_incarnation(sql_connection, self.producer_id)

    def resume(self, connection: AnyConnection) -> None:
        """Set the producer to running, whatever stopped it; failed transactions become pending and are sent first."""
        with usable(connection, f"resuming producer {self.producer_id}") as sql_connection:
            modes.resume(sql_connection, self.producer_id, now_ms())

    def suspend(self, connection: AnyConnection, reason: str = "by request") -> None:
        """Stop sending until the producer is resumed or started again; recording continues."""
        with usable(connection, f"suspending producer {self.producer_id}") as sql_connection:
            modes.suspend(sql_connection, self.producer_id, reason)

    def skip(
        self, connection: AnyConnection, tx_id: int, keys: Iterable[Key] | None = None, *, reason: str = "by request"
    ) -> None:
        """Skip a transaction that is not sent yet, or only its records with some keys, when the producer is resumed.

        Other transactions keep their numbers and order, because Kafka receives an empty transaction instead. Skipped
        content stays in the database, is counted and listed, and is not part of the present content. A flush is skipped
        together with its deletions.

        Raises:
            UsageError: no such transaction or key exists, it was sent, or the producer is running; suspend it first.
        """
        with usable(connection, f"skipping transaction {tx_id}") as sql_connection:
            request_skip(sql_connection, self.producer_id, tx_id, keys, reason, now_ms())

    def replace(
        self, connection: AnyConnection, tx_id: int, puts: Iterable[Put], *, reason: str = "by request"
    ) -> None:
        """Send other content for keys of a transaction that is not sent yet; its other records stay unchanged.

        The replaced content stays in the database, and is listed.

        Raises:
            UsageError: no such transaction or key exists, the record is a deletion, it was sent, or the producer is
                running; suspend it first.
            EncodingError: the new content cannot be sent either.
        """
        checked, deletes = puts_and_deletes(puts)
        if deletes:
            raise UsageError(f"replacing records of transaction {tx_id}: a deletion is not content; skip the record")
        with usable(connection, f"replacing records of transaction {tx_id}") as sql_connection:
            if self._validator is not None:
                for put in checked:
                    self._validator(put)
            request_replace(sql_connection, self.producer_id, tx_id, checked, reason, now_ms())

    def delete(self, connection: AnyConnection) -> None:
        """Delete the producer and everything that was recorded for it; the topic stays unchanged."""
        with usable(connection, f"deleting producer {self.producer_id}") as sql_connection:
            self._lock_counter(sql_connection)
            for table in (state, lease, change, amendment, detail, tx, counter):  # in the relays' locking order
                sql_connection.execute(delete(table).where(table.c.producer_id == self.producer_id))
            for table in (config, properties):
                sql_connection.execute(delete(table).where(table.c.id == self.producer_id))

    # --- helpers ---

    def _unsendable(self, connection: Connection, puts: Collection[Put]) -> Iterator[tuple[Put, EncodingError]]:
        """Yield content that cannot be sent, with the error; called before this transaction blocks others.

        Unchanged content is not validated again.
        """
        validator = self._validator
        if validator is None:
            return
        if self._skip_unchanged:
            puts, _ = drop_unchanged(connection, self.producer_id, [*puts], [])
        for put in puts:
            try:
                validator(put)
            except EncodingError as error:
                yield put, error

    def _record(self, connection: Connection, puts: Sequence[Put], deletes: Sequence[Delete]) -> list[int]:
        last = self._lock_counter(connection)
        if self._skip_unchanged:
            puts, deletes = drop_unchanged(connection, self.producer_id, puts, deletes)
        tx_ids: list[int] = []
        groups: list[tuple[TransactionKind, Sequence[Change]]] = [
            (TransactionKind.CHANGES, puts),
            (TransactionKind.DELETIONS, deletes),
        ]
        for kind, group in groups:
            if group:
                tx_ids.append(last + len(tx_ids) + 1)
                self._write(connection, tx_ids[-1], kind, group)
        self._count(connection, len(tx_ids))
        return tx_ids

    def _lock_counter(self, connection: Connection) -> int:
        """Wait until concurrent recording transactions of this producer have ended; return the last assigned number."""
        mine = counter.c.producer_id == self.producer_id
        result = connection.execute(update(counter).where(mine).values(last_tx_id=counter.c.last_tx_id))
        if not result.rowcount:
            raise modes.unknown_producer(connection, self.producer_id)
        return int(connection.execute(select(counter.c.last_tx_id).where(mine)).scalar_one())

    def _count(self, connection: Connection, more: int) -> None:
        if more:
            mine = counter.c.producer_id == self.producer_id
            connection.execute(update(counter).where(mine).values(last_tx_id=counter.c.last_tx_id + more))

    def _write(self, connection: Connection, tx_id: int, kind: TransactionKind, changes: Sequence[Change]) -> None:
        rows = [
            {"producer_id": self.producer_id, "tx_id": tx_id, "number": number, **_row(each)}
            for number, each in enumerate(changes, 1)
        ]
        recorded_ms = now_ms()
        size = sum(len(row["record_key"]) + len(row["record_value"] or b"") for row in rows)
        # The transaction is inserted after its records, so that no reader ever sees it without them.
        for piece in _pieces(rows, _AT_ONCE):
            connection.execute(insert(change), piece)
        connection.execute(
            insert(tx).values(
                tx_id=tx_id, producer_id=self.producer_id, tx_status=int(Status.PENDING), tx_last_updated=recorded_ms,
                tx_size=size, tx_messages=len(rows),
            )
        )  # fmt: skip
        connection.execute(
            insert(detail).values(
                producer_id=self.producer_id, tx_id=tx_id, kind=str(kind), recorded_ms=recorded_ms,
                **{name: (content or b"").decode("ascii") for name, content in current_trace()},
            )
        )  # fmt: skip


def _row(each: Change) -> dict[str, Any]:
    if isinstance(each, Delete):
        content: dict[str, Any] = {"record_value": None, "content_type": None, "content_hash": None}
    else:
        content = {"record_value": each.value, "content_type": each.content_type, "content_hash": content_hash(each)}
    return {"record_key": key_bytes(each.key), "key_hash": key_hash(each.key), **content}


def _pieces(whole: Iterable[T], size: int) -> Iterator[list[T]]:
    rest = iter(whole)
    while piece := list(islice(rest, size)):
        yield piece
