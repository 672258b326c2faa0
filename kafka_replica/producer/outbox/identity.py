"""The identity of a database, which a migration assigns."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import Connection, select

from kafka_replica.producer.errors import OutboxNotMigratedError
from kafka_replica.producer.outbox.database import HOW_TO_MIGRATE, outbox_errors
from kafka_replica.producer.outbox.raw_connections import AnyConnection, readable
from kafka_replica.producer.outbox.tables import database

_READING = "reading the identity of the database"


class DatabaseIdentity(NamedTuple):
    """The single row of ``kafka_producer_database``."""

    database_id: str
    """An id of 32 hexadecimal digits; a copy of the database has the same id."""
    default_producer_id: str
    """The id of a producer without a configured id: ``structures-`` and the beginning of ``database_id``, 8 digits."""
    location: str | None
    """The location of the database when its producer last published, as JSON; see ``location``."""


def default_producer_id(connection: AnyConnection) -> str:
    """Return the default producer id of this database, for code that only records: ``Outbox(default_producer_id(c))``.

    Args:
        connection: a connection of SQLAlchemy, sqlite3 or psycopg (3), as for ``Outbox``.

    Raises:
        UsageError: the connection is of another library.
        OutboxNotMigratedError: the database has no tables of the producer.
        OutboxError: the database refused.
    """
    with readable(connection, _READING) as sql_connection:
        return read_identity(sql_connection).default_producer_id


def read_identity(connection: Connection) -> DatabaseIdentity:
    """Return the identity of the database.

    Raises:
        OutboxNotMigratedError: the database has no identity yet.
    """
    with outbox_errors(_READING):
        row = connection.execute(
            select(database.c.database_id, database.c.default_producer_id, database.c.location)
        ).first()
    if row is None:
        raise OutboxNotMigratedError(
            f"the table kafka_producer_database is empty; restore its row, or {HOW_TO_MIGRATE}"
        )
    return DatabaseIdentity(*row)
