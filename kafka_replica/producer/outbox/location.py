"""The location of a database, which prevents a copy of the database from publishing to the original's cluster.

A copy has the identity of its original, but another location: the database system and the database's number in it
(PostgreSQL), or the file's inode and its path on the host (SQLite). One of the latter two may change, for example when
a container is recreated or a file is moved. If the database does not report its location, it is not checked.
"""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Engine, text, update

from kafka_replica.producer.errors import ProducerConflictError
from kafka_replica.producer.outbox.database import reading, short_transaction, translate_errors
from kafka_replica.producer.outbox.identity import read_identity
from kafka_replica.producer.outbox.tables import database

HOW_TO_CLAIM = (
    "if this database takes its place, run: kafka-replica producer claim --config FILE, and resume; otherwise give "
    "this one another cluster, or another id"
)


@translate_errors("checking whether the database is a copy")
def check_location(engine: Engine) -> None:
    """Check that the database's location is the same as when its producer last published; store it the first time.

    Raises:
        ProducerConflictError: the location differs, because the database was copied, restored or moved.
    """
    with reading(engine) as connection:
        before, now = read_identity(connection).location, _location(connection)
    if now is None:
        return
    if before is None:
        remember_location(engine)
    elif not _is_same(json.loads(before), now):
        raise ProducerConflictError(
            f"the producer's database is a copy, or was moved: it published from {_describe(json.loads(before))}, but "
            f"is {_describe(now)} now. The original may still publish, so this one does not; {HOW_TO_CLAIM}"
        )


@translate_errors("recording the location of the database")
def remember_location(engine: Engine) -> None:
    """Store the database's current location as the correct one."""
    with short_transaction(engine) as connection:
        now = _location(connection)
        connection.execute(update(database).values(location=None if now is None else json.dumps(now)))


def _location(connection: Connection) -> dict[str, Any] | None:
    if connection.dialect.name == "sqlite":
        return _sqlite_location(connection)
    if connection.dialect.name == "postgresql":
        return _postgresql_location(connection)
    return None


def _sqlite_location(connection: Connection) -> dict[str, Any] | None:
    name = next((row[2] for row in connection.execute(text("PRAGMA database_list")) if row[1] == "main"), "")
    if not name:
        return None  # an in-memory database
    path = Path(name).resolve()
    return {"host": socket.gethostname(), "path": str(path), "inode": path.stat().st_ino}


def _postgresql_location(connection: Connection) -> dict[str, Any] | None:
    may = connection.execute(text("SELECT has_function_privilege('pg_control_system()', 'EXECUTE')")).scalar_one()
    if not may:
        return None
    row = connection.execute(
        text(
            "SELECT CAST(system_identifier AS text), CAST(d.oid AS text), d.datname "
            "FROM pg_control_system(), pg_database d WHERE d.datname = current_database()"
        )
    ).one()
    return {"system": row[0], "database": row[1], "name": row[2]}


def _is_same(before: dict[str, Any], now: dict[str, Any]) -> bool:
    if "inode" in before and "inode" in now:
        return bool(before["inode"] == now["inode"] or all(before[name] == now[name] for name in ("host", "path")))
    return all(before.get(name) == now.get(name) for name in ("system", "database", "inode"))


def _describe(location: dict[str, Any]) -> str:
    if "inode" in location:
        return f"the file {location['path']} on {location['host']} (inode {location['inode']})"
    return (
        f"the database {location['name']} (number {location['database']}) of PostgreSQL's system {location['system']}"
    )
