"""Connections to the database, with settings that make recorded transactions durable, and writers wait in turn."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_fixed

from kafka_replica.common.secret_values import Secret, hide_password, without_frames
from kafka_replica.errors import ConfigurationError, MissingExtraError
from kafka_replica.producer.errors import OutboxError, OutboxNotMigratedError, OutboxUnavailableError

P = ParamSpec("P")
T = TypeVar("T")

_BUSY_MS = 30_000
_BUSY_PAUSE_S = 0.02
_STILL_MS = 5_000


def open_database(url: str | URL, **options: Any) -> Engine:
    """Return an engine for the outbox, and for the user's own tables in the same database.

    On SQLite, the engine uses a write-ahead log, transactions that begin as writers (so that concurrent transactions
    wait instead of failing), and durable commits. On other databases, SQLAlchemy's defaults apply, and connections are
    tested before use.

    Args:
        url: a SQLAlchemy URL: ``sqlite:///registry.db``, ``postgresql+psycopg://user@host/database``.
        options: options for ``sqlalchemy.create_engine``.

    Raises:
        ConfigurationError: the URL is invalid.
        MissingExtraError: the database's driver is not installed.
    """
    url = hide_password(url) if isinstance(url, str) else url
    try:
        parsed = make_url(url)
        if parsed.password is not None:
            parsed = parsed.set(password=Secret(parsed.password))
        engine = create_engine(parsed, **{"pool_pre_ping": True, **options})
    except ModuleNotFoundError as error:
        raise MissingExtraError(f"a database of {make_url(url).drivername}", "postgres") from error
    except (ArgumentError, SQLAlchemyError, ValueError) as error:  # ValueError: a port that is not a number
        without_frames(error)
        raise ConfigurationError(f"opening the producer's database: {type(error).__name__}; {_SHOULD_BE}") from error
    if engine.dialect.name == "sqlite":
        event.listen(engine, "connect", _on_sqlite_connect)
        event.listen(engine, "begin", _on_sqlite_begin)
    return engine


HOW_TO_MIGRATE = (
    "run: kafka-replica producer migrate --config FILE, or call kafka_replica.producer.outbox.migrate(engine)"
)
"""Advice for missing or outdated tables."""
_UNDEFINED = {"42P01", "42703"}  # SQLSTATE: undefined table, undefined column
_MISSING = re.compile(r"no such (table|column)|has no column named|does(n't| not) exist")
_CHECK = "check that it runs and can be reached, or that the file's folder exists and is writable"
_SHOULD_BE = "its URL should be like sqlite:///outbox.db or postgresql+psycopg://user:password@host:5432/database"


def check_file(engine: Engine) -> None:
    """Check that the file of an SQLite database exists, because SQLite would create it even for reading.

    Raises:
        OutboxError: the file does not exist.
    """
    name = engine.url.database
    if engine.dialect.name != "sqlite" or not name or name == ":memory:" or name.startswith("file:"):
        return
    if not Path(name).exists():
        raise OutboxError(f"there is no database file {name}; check its path. {HOW_TO_MIGRATE} to create it")


@contextmanager
def reading(engine: Engine) -> Iterator[Connection]:
    """Open a connection for reading; on SQLite, its transaction does not wait for writers."""
    with engine.connect().execution_options(kafka_replica_reads=True) as connection:
        yield connection


@contextmanager
def short_transaction(engine: Engine) -> Iterator[Connection]:
    """Open a short transaction for the relay's own updates.

    PostgreSQL ends the transaction if this process hangs within it, because the instance that takes over needs the
    locked rows.
    """
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":
            connection.exec_driver_sql(f"SET LOCAL idle_in_transaction_session_timeout = {_STILL_MS}")
        yield connection


@contextmanager
def reading_bytes(engine: Engine) -> Iterator[Connection]:
    """Open a connection for reading much binary data, which psycopg receives in binary form instead of hexadecimal."""
    with reading(engine) as connection:
        if engine.dialect.driver == "psycopg":
            event.listen(connection, "before_cursor_execute", _in_binary)
        yield connection


def _in_binary(_connection: Connection, cursor: Any, *_of_the_statement: object) -> None:
    cursor.format = 1  # psycopg.pq.Format.BINARY


@contextmanager
def outbox_errors(doing: str) -> Iterator[None]:
    """Translate errors of the database into this package's errors.

    Raises:
        OutboxUnavailableError: the database cannot be reached or is busy; this may be temporary.
        OutboxNotMigratedError: the producer's tables are missing, or of an earlier version.
        OutboxError: the database refused.
    """
    try:
        yield
    except DBAPIError as error:
        text = str(error.orig).strip().partition("\n")[0]
        if _lacks_tables(error):
            raise OutboxNotMigratedError(f"{doing}: the database reports: {text}; {HOW_TO_MIGRATE}") from error
        if error.connection_invalidated or type(error).__name__ in {"OperationalError", "InterfaceError"}:
            without_frames(error)
            raise OutboxUnavailableError(f"{doing}: the database reports: {text}; {_CHECK}") from error
        raise OutboxError(f"{doing}: the database reports: {text}; see its log") from error
    except SQLAlchemyError as error:
        raise OutboxUnavailableError(f"{doing}: {type(error).__name__}: {error}; check the database") from error


def _lacks_tables(error: DBAPIError) -> bool:
    text = str(error.orig)
    is_missing = getattr(error.orig, "sqlstate", None) in _UNDEFINED or _MISSING.search(text) is not None
    return is_missing and "kafka_producer_" in f"{text} {error.statement}"


@contextmanager
def writing(engine: Engine, doing: str) -> Iterator[Connection]:
    """Open a transaction, and translate errors of the database as :func:`outbox_errors` does, also those of its end."""
    with outbox_errors(doing), engine.begin() as connection:
        yield connection


def translate_errors(doing: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Return a decorator that translates errors of the database as :func:`outbox_errors` does."""

    def wrap(function: Callable[P, T]) -> Callable[P, T]:
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> T:
            with outbox_errors(doing):
                return function(*args, **kwargs)

        wrapped.__doc__, wrapped.__name__ = function.__doc__, function.__name__
        return wrapped

    return wrap


def _on_sqlite_connect(dbapi_connection: Any, _record: object) -> None:
    dbapi_connection.isolation_level = None  # the driver begins no transactions by itself
    dbapi_connection.execute(f"PRAGMA busy_timeout={_BUSY_MS}")
    _use_write_ahead_log(dbapi_connection)
    # Commits survive a failure of the machine, because a transaction that Kafka has received must not be lost here.
    dbapi_connection.execute("PRAGMA synchronous=FULL")


def _use_write_ahead_log(dbapi_connection: Any) -> None:
    """Set the journal mode of a new file; retry while it is locked, because ``busy_timeout`` does not apply to this."""
    for attempt in Retrying(
        retry=retry_if_exception(_is_busy),
        stop=stop_after_delay(_BUSY_MS / 1000),
        wait=wait_fixed(_BUSY_PAUSE_S),
        reraise=True,
    ):
        with attempt:
            if dbapi_connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
                dbapi_connection.execute("PRAGMA journal_mode=WAL")


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _on_sqlite_begin(connection: Connection) -> None:
    reads = connection.get_execution_options().get("kafka_replica_reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
