"""A snapshot of a table, with its bounds and the rows that are new in it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

from psycopg import Connection, sql

from kafka_replica.producer.errors import SourceUnavailableError
from kafka_replica.producer.postgres.catalog import TableDefinition
from kafka_replica.producer.postgres.position import Position, Snapshot
from kafka_replica.producer.postgres.rows import RowMapping, Texts
from kafka_replica.producer.postgres.settings import TableSourceSettings

_SNAPSHOT: Final = """
    SELECT pg_current_snapshot()::text, pg_is_in_recovery(),
        CASE WHEN pg_is_in_recovery() THEN '' ELSE left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) END,
        CASE WHEN pg_is_in_recovery() THEN 0 ELSE pg_current_wal_insert_lsn() - '0/0' END::bigint
"""
_FLUSHED: Final = "SELECT (pg_current_wal_flush_lsn() - '0/0')::bigint"
_HIDDEN = 1  # the number of columns before the copied columns: whether the row is inactive

_ID: Final = "({last} - (({last} - this.xmin::text::bigint) & 4294967295))"
"""SQL for ``position.full_id`` of a row."""


class Row(NamedTuple):
    """A row of the table: whether it is active, and its values in text form."""

    is_active: bool
    texts: Texts


class SnapshotSummary(NamedTuple):
    """A summary of the row versions that are new in a snapshot."""

    new: int
    """The number of rows that ``rows`` returns."""
    position: Position
    """The position after these rows have been copied."""


def read_snapshot(connection: Connection[Any], database_id: str) -> Snapshot:
    """Return the bounds of the snapshot of a connection's transaction, and its place in the database's history.

    Raises:
        SourceUnavailableError: the database is a standby, whose snapshots may be older than those of the primary.
    """
    row = connection.execute(_SNAPSHOT).fetchone()
    text, is_standby, timeline, log_position = row or ("", True, "", 0)
    if is_standby:
        raise SourceUnavailableError("the database is a standby; connect to the primary, or wait until it is promoted")
    return Snapshot(text, database_id, timeline, log_position)


def transaction_id(snapshot: Snapshot) -> sql.Composed:
    """Return SQL for the 64-bit id of the transaction that wrote a row of the table with the alias ``this``."""
    return sql.SQL(_ID).format(last=snapshot.xmax - 1)


def is_new(position: Position, row_id: sql.Composable) -> sql.Composed:
    """Return SQL for the condition that a position does not contain a transaction: ``not position.contains(id)``."""
    condition = (
        "({id} >= {bound} AND {id} <> ALL ({visible_ids}::bigint[]))" if position.visible_ids else "({id} >= {bound})"
    )
    return sql.SQL(condition).format(id=row_id, bound=position.snapshot.xmin, visible_ids=sorted(position.visible_ids))


class TableSnapshot:
    """A snapshot of a table.

    Args:
        connection: a connection with a read-only transaction that keeps one snapshot.
        settings: the settings of the source.
        definition: the definition of the table.
        snapshot: the bounds of the snapshot.
        flush: writes the database's log to disk.
    """

    def __init__(
        self,
        connection: Connection[Any],
        settings: TableSourceSettings,
        definition: TableDefinition,
        snapshot: Snapshot,
        flush: Callable[[], None],
    ) -> None:
        self._flush = flush
        self._connection = connection
        self._settings = settings
        self._definition = definition
        self.snapshot = snapshot

    @property
    def mapping(self) -> RowMapping:
        """The mapping of rows to records."""
        return self._definition.mapping

    def survey(self, since: Position | None) -> SnapshotSummary:
        """Return the number of rows that are new since a position, and the position after they have been copied.

        All transactions that the new position contains are durable. Otherwise a crash could lose a transaction that was
        committed with ``synchronous_commit = off``, and PostgreSQL would assign its id a second time. So this method
        flushes the write-ahead log if there are new rows; otherwise it returns the old position until the log is
        flushed, because an idle server may not flush the end of its log, which also has records without a commit.

        Raises:
            SourceUnavailableError: the log cannot be flushed.
            psycopg.Error: the database cannot be reached, or refused.
        """
        row_id, xmin = transaction_id(self.snapshot), self.snapshot.xmin
        is_copied = sql.SQL("true") if since is None else is_new(since, row_id)
        lowest = 0 if since is None else since.snapshot.xmin
        query = sql.SQL(
            "SELECT CASE WHEN {id} >= {xmin} THEN {id} END, count(*) FILTER (WHERE {new}) "
            "FROM {table} this WHERE {id} >= {lowest} GROUP BY 1"
        ).format(
            id=row_id, xmin=xmin, lowest=lowest, table=self._definition.table.name,
            new=sql.SQL(" AND ").join([is_copied, *self._conditions()]),
        )  # fmt: skip
        rows = self._connection.execute(query).fetchall()
        visible_ids = frozenset(transaction for transaction, _ in rows if transaction is not None)
        new = sum(count for _, count in rows)
        if not self._is_durable():
            if not new and since is not None:
                return SnapshotSummary(0, since)
            self._flush()
        return SnapshotSummary(new, Position(self.snapshot, visible_ids, self.mapping.digest))

    def _is_durable(self) -> bool:
        """Return whether the write-ahead log is flushed up to all commits that are visible in the snapshot."""
        (flushed,) = self._connection.execute(_FLUSHED).fetchone() or (0,)
        return bool(flushed >= self.snapshot.log_position)

    @contextmanager
    def rows(self, since: Position | None = None) -> Iterator[Iterator[Row]]:
        """Read the rows that are new since a position, ordered by the timestamp and the incrementing column.

        An inactive row is left out if an active row has the same key. The rows are iterated once, within the block.

        Args:
            since: the position; None to read all rows.

        Raises:
            psycopg.Error: the database cannot be reached, or refused.
        """
        settings = self._settings
        conditions = self._conditions()
        if since is not None:
            conditions.append(is_new(since, transaction_id(self.snapshot)))
        order = [name for name in (settings.timestamp_column, settings.incrementing_column) if name]
        query = sql.SQL("COPY (SELECT {inactive}, {columns} FROM {table} this WHERE {conditions}{order}) TO STDOUT")
        filled = query.format(
            inactive=self._inactive(), columns=_columns(self._definition.columns), table=self._definition.table.name,
            conditions=sql.SQL(" AND ").join(conditions),
            order=sql.SQL(" ORDER BY {}").format(_columns(order)) if order else sql.SQL(""),
        )  # fmt: skip
        with self._connection.cursor() as cursor, cursor.copy(filled) as copy:
            yield (Row(row[0] == "f", row[_HIDDEN:]) for row in copy.rows())

    def _inactive(self) -> sql.Composable:
        active = self._settings.active_column
        return sql.SQL("this.{} IS FALSE").format(sql.Identifier(active)) if active else sql.SQL("false")

    def _conditions(self) -> list[sql.Composable]:
        """Return the conditions for rows that determine the record of their key."""
        if not self._settings.active_column or not self._definition.keys_may_repeat:
            return [sql.SQL("true")]
        condition = sql.SQL(
            "NOT ({inactive} AND EXISTS (SELECT FROM {table} other "
            "WHERE other.{key} = this.{key} AND other.{active} IS NOT FALSE))"
        ).format(
            inactive=self._inactive(), table=self._definition.table.name,
            key=sql.Identifier(self._settings.key_column), active=sql.Identifier(self._settings.active_column),
        )  # fmt: skip
        return [condition]


def _columns(names: Sequence[str]) -> sql.Composed:
    return sql.SQL(", ").join(sql.SQL("this.{}").format(sql.Identifier(name)) for name in names)
