"""Connections to PostgreSQL, which read a table in one snapshot, and lock and wake the copying instance."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from kafka_replica.common.secret_values import Secret, without_frames
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer.errors import SourceError, SourceUnavailableError
from kafka_replica.producer.postgres.catalog import find_table, read_definition
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.postgres.table_snapshot import TableSnapshot, read_snapshot
from kafka_replica.producer.postgres.values import SETTINGS

_OLDEST: Final = 130000  # the first version with pg_current_snapshot()
CHANNEL: Final = "kafka_replica_source"
"""The channel of NOTIFY that wakes a source."""
_CONNECT: Final = {
    "connect_timeout": "10", "keepalives_idle": "10", "keepalives_interval": "5", "keepalives_count": "3",
    "tcp_user_timeout": "30000", "application_name": "kafka-replica source",
}  # fmt: skip
_SESSION: Final = {
    **SETTINGS,
    "lock_timeout": "10s",
    # A snapshot stays open while its rows are sent, which may take long; shorter limits are meant for other sessions.
    # An instance that is frozen then is ended, so that another instance can take over.
    "statement_timeout": "0", "idle_in_transaction_session_timeout": "1h",
    # The server ends the session of an instance that is gone.
    "tcp_keepalives_idle": "10", "tcp_keepalives_interval": "5", "tcp_keepalives_count": "3",
}  # fmt: skip
_IDLE_S: Final = 60.0
_SESSION_ENDED: Final = frozenset({"25P03", "25P04"})
"""The SQLSTATEs of sessions that the server has ended, because a transaction was idle, or was open, for too long."""
_SYSTEM = "SELECT has_function_privilege('pg_control_system()', 'EXECUTE')"
_DATABASE = "SELECT oid::text FROM pg_database WHERE datname = current_database()"
_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(%s, 0))"


@contextmanager
def database_errors(doing: str) -> Iterator[None]:
    """Translate errors of PostgreSQL.

    Raises:
        SourceUnavailableError: the database cannot be reached, or does not answer; this may be temporary.
        SourceError: the database refused.
    """
    try:
        yield
    except psycopg.Error as error:
        is_outage = isinstance(error, (psycopg.OperationalError, psycopg.InterfaceError))
        if is_outage or error.sqlstate in _SESSION_ENDED:
            without_frames(error)
            raise SourceUnavailableError(f"{doing}: PostgreSQL reports: {_text(error)}; check that it runs") from error
        raise SourceError(f"{doing}: PostgreSQL reports: {_text(error)}; see its log") from error


def _text(error: psycopg.Error) -> str:
    return str(error).strip().partition("\n")[0].removeprefix("consuming input failed: ") or type(error).__name__


@contextmanager
def connect(settings: TableSourceSettings) -> Iterator[TableConnection]:
    """Open a connection, which is closed at the end of the block.

    Raises:
        ConfigurationError: the URI is invalid, or PostgreSQL is too old.
        SourceError: the database cannot be reached, or refused.
    """
    uri = settings.database.replace("postgresql+psycopg://", "postgresql://", 1)  # accept a URL of SQLAlchemy, too
    try:
        parameters_of_uri = conninfo_to_dict(uri)
    except psycopg.Error as error:
        without_frames(error)
        raise ConfigurationError(
            "the database's URI should be like postgresql://user:password@host:5432/database"
        ) from error
    with database_errors("connecting to the database"):
        defaults = {name: value for name, value in _CONNECT.items() if name not in parameters_of_uri}
        conninfo = Secret(make_conninfo(uri, **defaults))
        connection = psycopg.connect(conninfo, autocommit=True)
    try:
        yield TableConnection(connection, settings, conninfo)
    finally:
        with suppress(psycopg.Error):
            connection.close()


class TableConnection:
    """A connection to the database of a table.

    Args:
        connection: a connection in autocommit mode.
        settings: the settings of the source.
        conninfo: the connection string, for further connections.

    Raises:
        ConfigurationError: PostgreSQL is too old.
        SourceError: the database refused.
    """

    def __init__(self, connection: psycopg.Connection[Any], settings: TableSourceSettings, conninfo: str) -> None:
        self._conninfo = conninfo
        self._connection = connection
        self._settings = settings
        version = connection.info.server_version
        if version < _OLDEST:
            raise ConfigurationError(f"PostgreSQL 13 or later is needed, not {version // 10000}")
        session = dict(_SESSION)
        if version >= 140000:
            idle_s = max(_IDLE_S, 3 * settings.poll_s, 4 * settings.timeout_s)  # longer than an attempt in Kafka
            session["idle_session_timeout"] = str(int(1000 * idle_s))
        if version >= 170000:
            session["transaction_timeout"] = "0"
        with database_errors("preparing the connection"):
            connection.execute("; ".join(f"SET {name} = '{value}'" for name, value in session.items()).encode())
            (number,) = self._row(_DATABASE)
            system = ""
            if self._row(_SYSTEM)[0]:
                (system,) = self._row("SELECT system_identifier::text FROM pg_control_system()")
        self.database_id = f"{system}/{number}"
        """The identity of the database: the system identifier, if it may be read, and the database's oid."""

    def try_lock(self) -> bool:
        """Become the copying instance until the connection ends; return False if another instance is.

        Raises:
            SourceError: the database cannot be reached, or refused.
        """
        with database_errors("acquiring the lock of the copying instance"):
            (is_ours,) = self._row(_LOCK, f"kafka-replica source {self._settings.source_id}")
            if is_ours:
                self._connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(CHANNEL)))
        return bool(is_ours)

    def while_locked(self, number: int) -> int:
        """Return a number if this is still the copying instance: the lock ends with the connection.

        Raises:
            SourceError: the connection has ended.
        """
        with database_errors("verifying the lock of the copying instance"):
            self._row("SELECT 1")
        return number

    def notify(self, message: str) -> None:
        """Send a message to the copying instance.

        Raises:
            SourceError: the database cannot be reached, or refused.
        """
        with database_errors("notifying the copying instance"):
            self._connection.execute("SELECT pg_notify(%s, %s)", [CHANNEL, message])

    def wait(self, timeout_s: float) -> list[str]:
        """Wait for messages, and return them; return an empty list after the timeout.

        Raises:
            SourceError: the database cannot be reached.
        """
        with database_errors("waiting for notifications"):
            return [each.payload for each in self._connection.notifies(timeout=timeout_s, stop_after=1)]

    @contextmanager
    def snapshot(self) -> Iterator[TableSnapshot]:
        """Open a transaction that reads the table in one snapshot.

        Raises:
            ConfigurationError: the table or a column does not exist, or cannot be used as configured.
            SourceError: the database cannot be reached, or refused.
        """
        table, connection = self._settings.table, self._connection
        with database_errors(f"reading table {table}"):
            name = find_table(connection, table).name
            connection.isolation_level, connection.read_only = psycopg.IsolationLevel.REPEATABLE_READ, True
            with connection.transaction():
                # Before the snapshot, because a table that is rewritten later (ALTER TABLE) would look empty in it.
                connection.execute(sql.SQL("LOCK TABLE {} IN ACCESS SHARE MODE").format(name))
                snapshot = read_snapshot(connection, self.database_id)
                found_table = find_table(connection, table)  # again, since another table may have the name now
                definition = read_definition(connection, found_table, self._settings)
                yield TableSnapshot(connection, self._settings, definition, snapshot, self._flush_log)

    def _flush_log(self) -> None:
        """Flush the write-ahead log to disk, by committing a transaction on another connection."""
        with psycopg.connect(self._conninfo) as other:
            other.execute("SET synchronous_commit = local; SET default_transaction_read_only = off")
            other.commit()
            other.execute("SELECT pg_logical_emit_message(true, 'kafka-replica', '')")

    def _row(self, query: Any, *parameters: Any) -> tuple[Any, ...]:
        row: tuple[Any, ...] | None = self._connection.execute(query, parameters or None).fetchone()
        return row or ()
