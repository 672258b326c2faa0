"""Use of sqlite3 and psycopg connections for recording, within the transaction that the user has begun."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from sqlalchemy import Connection, Engine, NullPool, create_engine

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.producer.errors import OutboxUnavailableError
from kafka_replica.producer.outbox.database import outbox_errors, reading

if TYPE_CHECKING:
    import psycopg

AnyConnection: TypeAlias = "Connection | sqlite3.Connection | psycopg.Connection[Any]"
"""A connection of SQLAlchemy, sqlite3 or psycopg (3)."""

_AUTOCOMMIT = (
    "this connection commits each statement separately (autocommit); begin a transaction first, so that changes are "
    "committed with your own data or not at all"
)
_AUTOCOMMIT_ENGINE = (
    "the connections of this engine commit each statement separately (isolation_level AUTOCOMMIT); use another engine, "
    "such as engine.execution_options(isolation_level='READ COMMITTED')"
)


@contextmanager
def usable(connection: AnyConnection, doing: str) -> Iterator[Connection]:
    """Yield a SQLAlchemy connection for any supported connection; commit and rollback are left to the user.

    Raises:
        UsageError: the connection is of another library, or commits each statement separately.
        OutboxError: the database refused a statement within the block.
    """
    if isinstance(connection, Connection):
        with outbox_errors(doing):
            if not _is_transactional(connection):
                raise UsageError(f"{doing}: {_AUTOCOMMIT}")
            yield connection
        return
    borrowed = _borrow(connection, doing)
    _begin(borrowed, doing)
    with _lent(borrowed, doing) as sql_connection:
        yield sql_connection


@contextmanager
def readable(connection: AnyConnection, doing: str) -> Iterator[Connection]:
    """Yield a SQLAlchemy connection like ``usable``, but only for reading: a connection in autocommit is accepted.

    Raises:
        UsageError: the connection is of another library.
        OutboxError: the database refused a statement within the block.
    """
    if isinstance(connection, Connection):
        with outbox_errors(doing):
            yield connection
        return
    with _lent(_borrow(connection, doing), doing) as sql_connection:
        yield sql_connection


@contextmanager
def _lent(borrowed: _BorrowedConnection, doing: str) -> Iterator[Connection]:
    """Yield a SQLAlchemy connection that uses the borrowed one."""
    token = _borrowed.set(borrowed)
    try:
        with outbox_errors(doing), _engine_of(borrowed.url).connect() as sql_connection:
            yield sql_connection
    finally:
        _borrowed.reset(token)


def check_engine(engine: Engine) -> None:
    """Check that connections of an engine have transactions.

    Raises:
        ConfigurationError: they commit each statement separately.
        OutboxError: the database cannot be reached, or refused.
    """
    doing = "opening the producer's database"
    with outbox_errors(doing), reading(engine) as connection:
        if not _is_transactional(connection):
            raise ConfigurationError(f"{doing}: {_AUTOCOMMIT_ENGINE}")


def _is_transactional(connection: Connection) -> bool:
    """Return whether statements on a connection belong to a transaction; begin it, as the first statement would."""
    if not connection.in_transaction():
        connection.begin()
    driver: Any = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        return not _commits_by_itself(driver)
    if _is_of_psycopg(driver):
        return not _commits_by_itself_in_postgres(driver)
    is_autocommit = connection.get_execution_options().get("isolation_level") == "AUTOCOMMIT"
    return not is_autocommit and getattr(driver, "autocommit", False) is not True


class _BorrowedConnection:
    """A wrapper of the user's connection that SQLAlchemy can use, but neither commit, close nor configure."""

    url: str

    @property
    def commits_by_itself(self) -> bool:
        """True if each statement is committed separately, because no transaction was begun."""
        raise NotImplementedError

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def _do_nothing(self, *_args: object, **_options: object) -> None:
        pass

    # SQLAlchemy calls these methods on its own connections.
    commit = rollback = close = create_function = add_notice_handler = _do_nothing


class _BorrowedSqlite(_BorrowedConnection):
    url = "sqlite://"

    @property
    def commits_by_itself(self) -> bool:
        """True if each statement is committed separately, because no transaction was begun."""
        return _commits_by_itself(self._connection)

    def cursor(self) -> sqlite3.Cursor:
        """Return a cursor that yields tuples, whatever the user's row factory is."""
        cursor: sqlite3.Cursor = self._connection.cursor(sqlite3.Cursor)
        cursor.row_factory = None
        return cursor


class _BorrowedPsycopg(_BorrowedConnection):
    url = "postgresql+psycopg://"

    @property
    def commits_by_itself(self) -> bool:
        """True if each statement is committed separately, because no transaction was begun."""
        return _commits_by_itself_in_postgres(self._connection)

    def cursor(self) -> psycopg.Cursor[Any]:
        """Return a cursor that yields tuples, whatever the user's factories are."""
        from psycopg import Cursor, rows  # noqa: PLC0415 - an extra

        return Cursor(self._connection, row_factory=rows.tuple_row)


_borrowed: ContextVar[_BorrowedConnection] = ContextVar("borrowed connection")


@cache
def _engine_of(url: str) -> Engine:
    options = {"use_native_hstore": False} if url.startswith("postgresql") else {}
    return create_engine(url, creator=_borrowed.get, poolclass=NullPool, **options)


def _borrow(connection: object, doing: str) -> _BorrowedConnection:
    if isinstance(connection, sqlite3.Connection):
        return _BorrowedSqlite(connection)
    if _is_of_psycopg(connection):
        return _BorrowedPsycopg(connection)
    raise UsageError(
        f"{doing}: a connection of SQLAlchemy, sqlite3 or psycopg (3) is required, not {type(connection).__module__}."
        f"{type(connection).__name__}; with a session of SQLAlchemy, use session.connection()"
    )


def _commits_by_itself(connection: sqlite3.Connection) -> bool:
    is_autocommit = connection.isolation_level is None or getattr(connection, "autocommit", False) is True
    return is_autocommit and not connection.in_transaction


def _is_of_psycopg(connection: object) -> bool:
    library = sys.modules.get("psycopg")  # without the module, such a connection cannot exist
    return library is not None and isinstance(connection, library.Connection)


def _commits_by_itself_in_postgres(connection: Any) -> bool:
    idle = sys.modules["psycopg"].pq.TransactionStatus.IDLE
    return bool(connection.autocommit) and connection.info.transaction_status == idle


def _begin(borrowed: _BorrowedConnection, doing: str) -> None:
    """Check that the connection has transactions, and begin one in SQLite, unless the user has begun it.

    It begins as a writer, so that concurrent writers wait; the driver of SQLite would begin it as a reader.
    """
    if borrowed.commits_by_itself:
        raise UsageError(f"{doing}: {_AUTOCOMMIT}")
    if isinstance(borrowed, _BorrowedSqlite) and not borrowed.in_transaction:
        try:
            borrowed.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            raise OutboxUnavailableError(f"{doing}: the database reports: {error}; roll back, and try again") from error
