"""Recording changes, within the user's own database transaction.

What makes the numbers right: whoever records updates the producer's one row of ``kafka_producer_counter`` first, and
a database lets go of a row when its transaction has ended, visibly. So of two who record for one producer, the
second gets its number after the first has committed (or has given it back by rolling back): numbers have no gaps,
their order is the order of the commits, and whoever sees a number sees all
before it. A sequence would give none of this.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, delete, insert, select, update

from kafka_replica.errors import EncodingError, UsageError
from kafka_replica.producer.changes import Change, Delete, Put, Unreadable, apart, content_hash, key_hash
from kafka_replica.producer.outbox import modes
from kafka_replica.producer.outbox.amendments import request_replace, request_skip
from kafka_replica.producer.outbox.configuration import as_stored, is_stored, store
from kafka_replica.producer.outbox.present import changed, present_keys
from kafka_replica.producer.outbox.raw_connections import AnyConnection, usable
from kafka_replica.producer.outbox.tables import (
    Kind,
    Status,
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
    """What was recorded of all that a source holds."""

    tx_ids: list[int]
    """The numbers of the transactions; none where nothing has changed."""
    unreadable: list[Unreadable]
    """Content that cannot be read or sent; its keys keep what was recorded before."""


class Outbox:
    """The log of one producer. Its methods work on a connection of the caller, in the caller's transaction.

    The connection is one of SQLAlchemy, sqlite3 or psycopg.

    A database that supports transactions is all it needs. Under ``REPEATABLE READ`` and above, two who record at once
    may fail with a serialization error, as the database promises; do the transaction again then. Record last in a
    transaction: from then on until its commit, others wait.

    Args:
        producer_id: which producer's; there may be several in one database.
        skip_unchanged: leave out content that is the same as recorded last (by SHA-256 of content and media type).
        validator: is given each new content before it is recorded, and raises an error for one that cannot be sent.
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
        """Create the producer, or bring its stored topic, format and settings to those given.

        Nothing is written where nothing differs, and recording transactions of others are not waited for. Secrets
        among the settings are written as ``***``.
        """
        with usable(connection, f"writing the configuration of producer {self.producer_id}") as made:
            wanted = as_stored(topic, media_type, settings or {})
            if not is_stored(made, self.producer_id, wanted):
                store(made, self.producer_id, wanted)

    def record(self, connection: AnyConnection, changes: Iterable[Change]) -> list[int]:
        """Records changes as one transaction of the topic; deletions among them as one of their own, after it.

        Args:
            connection: the one on which the user's own data is changed; the caller commits.
            changes: additions, changes and deletions, in the order in which they are to be sent.

        Returns:
            The numbers of the transactions: none where nothing has changed.

        Raises:
            UsageError: there is no such producer, or something is not a change.
            EncodingError: content cannot be sent; nothing is recorded, and the caller's transaction can go on.
            OutboxError: the database refused; roll back.
        """
        puts, deletes = apart(changes)
        doing = f"recording {len(puts) + len(deletes)} changes for producer {self.producer_id}"
        with usable(connection, doing) as made:
            for _, error in self._refused(made, puts):
                raise error
            return self._record(made, puts, deletes)

    def record_differences(self, connection: AnyConnection, contents: Iterable[Put | Unreadable]) -> Differences:
        """Record what makes the recorded content the one given: for sources that tell all that they hold.

        Args:
            connection: the one on which the user's own data is changed; the caller commits.
            contents: all content. The key of an ``Unreadable``, or of content that cannot be sent, keeps the content it
                has; if an ``Unreadable`` has no key, nothing is deleted.

        Returns:
            The numbers of the transactions, and all content that was not taken in.

        Raises:
            UsageError: there is no such producer.
            OutboxError: the database refused; roll back.
        """
        given = list(contents)
        unreadable = [one for one in given if isinstance(one, Unreadable)]
        puts, _ = apart(one for one in given if not isinstance(one, Unreadable))
        with usable(connection, f"comparing contents for producer {self.producer_id}") as made:
            refused = [Unreadable(put.key, str(error)) for put, error in self._refused(made, puts)]
            unsendable = {one.key for one in refused}
            held = {None if one.key is None else key_bytes(one.key) for one in unreadable}
            held.update(key_bytes(put.key) for put in puts)
            self._queue_up(made)
            gone = [] if None in held else [Delete(k) for k in present_keys(made, self.producer_id) if k not in held]
            tx_ids = self._record(made, [put for put in puts if put.key not in unsendable], gone)
        return Differences(tx_ids, [*unreadable, *refused])

    def record_flush(self, connection: AnyConnection) -> list[int]:
        """Records a full flush: all content as of now in one transaction, and one of tombstones for all other keys.

        Raises:
            UsageError: there is no such producer.
            OutboxError: the database refused; roll back.
        """
        with usable(connection, f"recording a full flush for producer {self.producer_id}") as made:
            last = self._queue_up(made)
            self._write(made, last + 1, Kind.FLUSH, ())
            self._write(made, last + 2, Kind.SWEEP, ())
            self._count(made, 2)
        return [last + 1, last + 2]

    def begin_incarnation(self, connection: AnyConnection) -> None:
        """Let Kafka count anew: what it says of this producer's transactions so far is not believed any more.

        For a database that was restored, or that lost commits in a failover, and so has another history than Kafka.

        Raises:
            UsageError: there is no such producer, or it runs.
            OutboxError: the database refused; roll back.
        """
        with usable(connection, f"beginning a new incarnation of producer {self.producer_id}") as made:
            modes.begin_incarnation(made, self.producer_id)

    def resume(self, connection: AnyConnection) -> None:
        """Lets the producer run, whatever stopped it: what failed is pending again, and goes first."""
        with usable(connection, f"resuming producer {self.producer_id}") as made:
            modes.resume(made, self.producer_id, _now_ms())

    def suspend(self, connection: AnyConnection, reason: str = "by request") -> None:
        """Stops sending, until resumed or started again; recording goes on."""
        with usable(connection, f"suspending producer {self.producer_id}") as made:
            modes.suspend(made, self.producer_id, reason)

    def skip(
        self, connection: AnyConnection, tx_id: int, keys: Iterable[Key] | None = None, *, reason: str = "by request"
    ) -> None:
        """Skip a transaction that is not sent yet, or only its records of some keys, when the producer is resumed.

        The others keep their order, and nothing is sent twice: Kafka gets an empty transaction in its place. What is
        skipped stays in the database, is counted and listed, and does not count as present content. With a flush, the
        deletions that belong to it are skipped.

        Raises:
            UsageError: there is no such transaction or key, it was sent, or the producer is running; suspend it first.
        """
        with usable(connection, f"skipping transaction {tx_id}") as made:
            request_skip(made, self.producer_id, tx_id, keys, reason, _now_ms())

    def replace(
        self, connection: AnyConnection, tx_id: int, puts: Iterable[Put], *, reason: str = "by request"
    ) -> None:
        """Send other content for keys of a transaction that is not sent yet; its other records stay as they are.

        The content that is replaced stays in the database, and is listed.

        Raises:
            UsageError: there is no such transaction or key, the record is a deletion, it was sent, or the producer is
                running; suspend it first.
            EncodingError: the new content cannot be sent either.
        """
        checked, deletes = apart(puts)
        if deletes:
            raise UsageError(f"replacing records of transaction {tx_id}: a deletion is no content; skip the record")
        with usable(connection, f"replacing records of transaction {tx_id}") as made:
            if self._validator is not None:
                for put in checked:
                    self._validator(put)
            request_replace(made, self.producer_id, tx_id, checked, reason, _now_ms())

    def delete(self, connection: AnyConnection) -> None:
        """Deletes the producer and all that was recorded for it; the topic stays as it is."""
        with usable(connection, f"deleting producer {self.producer_id}") as made:
            self._queue_up(made)
            for table in (lease, state, change, amendment, detail, tx, counter):  # in the order in which relays lock
                made.execute(delete(table).where(table.c.producer_id == self.producer_id))
            for table in (config, properties):
                made.execute(delete(table).where(table.c.id == self.producer_id))

    # --- steps ---

    def _refused(self, connection: Connection, puts: Collection[Put]) -> Iterator[tuple[Put, EncodingError]]:
        """Return content that cannot be sent, before others have to wait; what is unchanged was validated before."""
        validator = self._validator
        if validator is None:
            return
        if self._skip_unchanged:
            puts, _ = changed(connection, self.producer_id, [*puts], [])
        for put in puts:
            try:
                validator(put)
            except EncodingError as error:
                yield put, error

    def _record(self, connection: Connection, puts: Sequence[Put], deletes: Sequence[Delete]) -> list[int]:
        last = self._queue_up(connection)
        if self._skip_unchanged:
            puts, deletes = changed(connection, self.producer_id, puts, deletes)
        recorded: list[int] = []
        groups: list[tuple[Kind, Sequence[Change]]] = [(Kind.CHANGES, puts), (Kind.DELETIONS, deletes)]
        for kind, group in groups:
            if group:
                recorded.append(last + len(recorded) + 1)
                self._write(connection, recorded[-1], kind, group)
        self._count(connection, len(recorded))
        return recorded

    def _queue_up(self, connection: Connection) -> int:
        """Waits for whoever records for this producer to end; returns the last number given."""
        mine = counter.c.producer_id == self.producer_id
        taken = connection.execute(update(counter).where(mine).values(last_tx_id=counter.c.last_tx_id))
        if not taken.rowcount:
            raise modes.unknown(connection, self.producer_id)
        return int(connection.execute(select(counter.c.last_tx_id).where(mine)).scalar_one())

    def _count(self, connection: Connection, more: int) -> None:
        if more:
            mine = counter.c.producer_id == self.producer_id
            connection.execute(update(counter).where(mine).values(last_tx_id=counter.c.last_tx_id + more))

    def _write(self, connection: Connection, tx_id: int, kind: Kind, changes: Sequence[Change]) -> None:
        rows = [
            {"producer_id": self.producer_id, "tx_id": tx_id, "number": number, **_row(each)}
            for number, each in enumerate(changes, 1)
        ]
        now_ms = _now_ms()
        size = sum(len(row["record_key"]) + len(row["record_value"] or b"") for row in rows)
        connection.execute(
            insert(tx).values(
                tx_id=tx_id, producer_id=self.producer_id, tx_status=int(Status.PENDING), tx_last_updated=now_ms,
                tx_size=size, tx_messages=len(rows),
            )
        )  # fmt: skip
        connection.execute(
            insert(detail).values(producer_id=self.producer_id, tx_id=tx_id, kind=str(kind), recorded_ms=now_ms)
        )
        for some in _pieces(rows, _AT_ONCE):
            connection.execute(insert(change), some)


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


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
