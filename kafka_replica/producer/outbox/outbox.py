"""Recording changes, within the user's own database transaction.

What makes the numbers right: whoever records updates the producer's one row of ``kafka_producer_counter`` first, and
a database lets go of a row when its transaction has ended, visibly. So of two who record for one producer, the
second gets its number after the first has committed (or has given it back by rolling back): numbers have no gaps,
their order is the order of the commits, and whoever sees a number sees all
before it. A sequence would give none of this.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Table, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from kafka_replica.producer.changes import Change, Delete, Put, apart, content_hash, key_hash
from kafka_replica.producer.outbox import modes
from kafka_replica.producer.outbox.database import outbox_errors
from kafka_replica.producer.outbox.modes import Mode
from kafka_replica.producer.outbox.secret_values import shown
from kafka_replica.producer.outbox.tables import (
    Kind,
    Status,
    change,
    config,
    connection_settings,
    counter,
    detail,
    lease,
    properties,
    state,
    tx,
)
from kafka_replica.records import key_bytes

T = TypeVar("T")
_AT_ONCE = 500


class Outbox:
    """The log of one producer. Its methods work on a connection of the caller, in the caller's transaction.

    A database that supports transactions is all it needs. Under ``REPEATABLE READ`` and above, two who record at once
    may fail with a serialization error, as the database promises; do the transaction again then. Record last in a
    transaction: from then on until its commit, others wait.

    Args:
        producer_id: which producer's; there may be several in one database.
        skip_unchanged: leave out content that is the same as recorded last (by SHA-256 of content and media type).
    """

    def __init__(self, producer_id: str, *, skip_unchanged: bool = True) -> None:
        self.producer_id = producer_id
        self._skip_unchanged = skip_unchanged

    def create(
        self,
        connection: Connection,
        *,
        topic: str,
        media_type: str = "",
        settings: Mapping[str, object] | None = None,
    ) -> None:
        """Makes the producer's rows, or brings its topic, format and settings to what they are now.

        Secrets among the settings are written as ``********``.
        """
        with outbox_errors(f"writing the configuration of producer {self.producer_id}"):
            first: list[tuple[Table, dict[str, Any]]] = [
                (counter, {"last_tx_id": 0}),
                (
                    state,
                    {
                        "incarnation": uuid.uuid4().hex,
                        "mode": str(Mode.IDLE),
                        "sent_tx_id": 0,
                        "not_carried": 0,
                        "asked": 0,
                    },
                ),
                (lease, {"term": 0, "beat": 0}),
            ]
            for table, values in first:
                mine = table.c.producer_id == self.producer_id
                if connection.execute(select(table.c.producer_id).where(mine)).first() is not None:
                    continue
                try:
                    with connection.begin_nested():
                        connection.execute(insert(table).values(producer_id=self.producer_id, **values))
                except IntegrityError:  # another instance was faster
                    pass
            connection.execute(
                update(counter).where(counter.c.producer_id == self.producer_id).values(last_tx_id=counter.c.last_tx_id)
            )  # one at a time from here on
            self._write_config(connection, topic, media_type, settings or {})

    def record(self, connection: Connection, changes: Iterable[Change]) -> list[int]:
        """Records changes as one transaction of the topic; deletions among them as one of their own, after it.

        Args:
            connection: the one on which the user's own data is changed; the caller commits.
            changes: additions, changes and deletions, in the order in which they are to be sent.

        Returns:
            The numbers of the transactions: none where nothing has changed.

        Raises:
            UsageError: there is no such producer.
            OutboxError: the database refused; roll back.
        """
        puts, deletes = apart(changes)
        with outbox_errors(f"recording {len(puts) + len(deletes)} changes for producer {self.producer_id}"):
            last = self._queue_up(connection)
            if self._skip_unchanged:
                puts, deletes = self._changed(connection, puts, deletes)
            recorded: list[int] = []
            groups: list[tuple[Kind, Sequence[Change]]] = [(Kind.CHANGES, puts), (Kind.DELETIONS, deletes)]
            for kind, group in groups:
                if group:
                    recorded.append(last + len(recorded) + 1)
                    self._write(connection, recorded[-1], kind, group)
            self._count(connection, len(recorded))
        return recorded

    def record_differences(self, connection: Connection, contents: Iterable[Put]) -> list[int]:
        """Records what makes the recorded content the one given: for sources that tell all that they hold.

        Raises:
            UsageError: there is no such producer.
            OutboxError: the database refused; roll back.
        """
        with outbox_errors(f"comparing contents for producer {self.producer_id}"):
            self._queue_up(connection)
            now = {key_bytes(put.key): put for put in contents}
            known = connection.execute(
                select(change.c.record_key).where(
                    change.c.producer_id == self.producer_id,
                    change.c.record_value.is_not(None),
                    self._is_newest(),
                )
            ).scalars()
            gone = [Delete(key) for key in known if key not in now]
        return self.record(connection, [*now.values(), *gone])

    def record_flush(self, connection: Connection) -> list[int]:
        """Records a full flush: all content as of now in one transaction, and one of tombstones for all other keys.

        Raises:
            UsageError: there is no such producer.
            OutboxError: the database refused; roll back.
        """
        with outbox_errors(f"recording a full flush for producer {self.producer_id}"):
            last = self._queue_up(connection)
            self._write(connection, last + 1, Kind.FLUSH, ())
            self._write(connection, last + 2, Kind.SWEEP, ())
            self._count(connection, 2)
        return [last + 1, last + 2]

    def begin_incarnation(self, connection: Connection) -> None:
        """Let Kafka count anew: what it says of this producer's transactions so far is not believed any more.

        For a database that was restored, or that lost commits in a failover, and so has another history than Kafka.

        Raises:
            UsageError: there is no such producer, or it runs.
            OutboxError: the database refused; roll back.
        """
        with outbox_errors(f"beginning a new incarnation of producer {self.producer_id}"):
            modes.begin_incarnation(connection, self.producer_id)

    def resume(self, connection: Connection) -> None:
        """Lets the producer run, whatever stopped it: what failed is pending again, and goes first."""
        with outbox_errors(f"resuming producer {self.producer_id}"):
            modes.resume(connection, self.producer_id, _now_ms())

    def suspend(self, connection: Connection, reason: str = "by request") -> None:
        """Stops sending, until resumed or started again; recording goes on."""
        with outbox_errors(f"suspending producer {self.producer_id}"):
            modes.suspend(connection, self.producer_id, reason)

    def delete(self, connection: Connection) -> None:
        """Deletes the producer and all that was recorded for it; the topic stays as it is."""
        with outbox_errors(f"deleting producer {self.producer_id}"):
            self._queue_up(connection)
            for table in (change, detail, tx, state, lease, counter):
                connection.execute(delete(table).where(table.c.producer_id == self.producer_id))
            for table in (config, properties):
                connection.execute(delete(table).where(table.c.id == self.producer_id))

    # --- steps ---

    def _queue_up(self, connection: Connection) -> int:
        """Waits for whoever records for this producer to end; returns the last number given."""
        mine = counter.c.producer_id == self.producer_id
        taken = connection.execute(update(counter).where(mine).values(last_tx_id=counter.c.last_tx_id))
        if not taken.rowcount:
            raise modes.unknown(self.producer_id)
        return int(connection.execute(select(counter.c.last_tx_id).where(mine)).scalar_one())

    def _count(self, connection: Connection, more: int) -> None:
        if more:
            mine = counter.c.producer_id == self.producer_id
            connection.execute(update(counter).where(mine).values(last_tx_id=counter.c.last_tx_id + more))

    def _changed(
        self, connection: Connection, puts: list[Put], deletes: list[Delete]
    ) -> tuple[list[Put], list[Delete]]:
        known = self._newest(connection, [*(put.key for put in puts), *(gone.key for gone in deletes)])
        missing = object()
        return (
            [put for put in puts if known.get(key_hash(put.key), missing) != content_hash(put)],
            # One that we never heard of may be in the topic all the same.
            [gone for gone in deletes if known.get(key_hash(gone.key), missing) is not None],
        )

    def _newest(self, connection: Connection, keys: list[bytes | str]) -> dict[bytes, bytes | None]:
        """Of keys that were ever recorded: the hash of the key -> that of its present content; None if deleted."""
        found: dict[bytes, bytes | None] = {}
        for some in _pieces([key_hash(key) for key in keys], _AT_ONCE):
            rows = connection.execute(
                select(change.c.key_hash, change.c.content_hash).where(
                    change.c.producer_id == self.producer_id, change.c.key_hash.in_(some), self._is_newest()
                )
            )
            found.update((bytes(key), None if content is None else bytes(content)) for key, content in rows)
        return found

    def _is_newest(self) -> ColumnElement[bool]:
        newer = change.alias("newer")
        return ~(
            select(newer.c.tx_id)
            .where(
                newer.c.producer_id == change.c.producer_id,
                newer.c.key_hash == change.c.key_hash,
                newer.c.tx_id > change.c.tx_id,
            )
            .exists()
        )

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

    def _write_config(
        self, connection: Connection, topic: str, media_type: str, settings: Mapping[str, object]
    ) -> None:
        connection.execute(delete(properties).where(properties.c.id == self.producer_id))
        connection.execute(delete(config).where(config.c.id == self.producer_id))
        connection.execute(insert(config).values(id=self.producer_id, topic=topic, format=media_type))
        own, shared = shown(settings)
        lines = [f"{name}={value}" for name, value in own.items()]
        for number, line in enumerate(lines, 1):
            connection.execute(insert(properties).values(id=self.producer_id, line_number=number, property=line))
        for name, value in shared.items():
            connection.execute(delete(connection_settings).where(connection_settings.c.conn_key == name))
            connection.execute(insert(connection_settings).values(conn_key=name, conn_value=value))


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
