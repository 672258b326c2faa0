"""The database of a run: a separate PostgreSQL that is killed, or SQLite; and the recorders' own table in it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import BigInteger, Column, Connection, Engine, MetaData, Table, Text, insert, select

from chaos.faults import Fault, Target
from chaos.postgres import LocalPostgres, find_binaries
from kafka_replica.errors import ConfigurationError

_metadata = MetaData()
_own = Table(
    "chaos_recorded",
    _metadata,
    Column("tx_id", BigInteger, primary_key=True, autoincrement=False),
    Column("kind", Text, nullable=False),
    Column("content", Text, nullable=False),
)
"""The user's own data: the recorded changes, written in the same database transaction."""

NOT_FOUND = (
    "NO POSTGRESQL: neither initdb on the path nor anything under /usr/lib/postgresql; the log is in SQLite, which has "
    "no server to kill (apt-get install postgresql)"
)


@dataclass(frozen=True)
class Store:
    """A database, its faults, and a remark for the report."""

    url: str
    name: str
    targets: list[Target]
    remark: str = ""


@dataclass(frozen=True)
class Row:
    """A recorded transaction, as its recorder knows it; deletions have the value None."""

    tx_id: int
    kind: str
    content: dict[str, str | None]


@contextmanager
def opened(wanted: str, folder: Path) -> Iterator[Store]:
    """Return the database of a run.

    Raises:
        ConfigurationError: PostgreSQL was requested, and there is none.
    """
    binaries = None if wanted == "sqlite" else find_binaries()
    if binaries is None:
        if wanted == "postgresql":
            raise ConfigurationError(NOT_FOUND)
        remark = NOT_FOUND if wanted == "auto" else ""
        yield Store(f"sqlite:///{folder / 'outbox.db'}", "SQLite", [], remark)
        return
    with LocalPostgres(binaries) as server:
        fault = Fault("PostgreSQL kill -9", 1, (0.0, 2.0), server.kill, server.start)
        yield Store(server.url("chaos"), "PostgreSQL", [Target("PostgreSQL", [fault], 0.5, 8.0)])


def make_table(engine: Engine) -> None:
    """Create the recorders' own table."""
    _metadata.create_all(engine)


def write_row(connection: Connection, row: Row) -> None:
    """Write the recorded changes, on the connection that recorded them."""
    connection.execute(insert(_own).values(tx_id=row.tx_id, kind=row.kind, content=json.dumps(row.content)))


def read_rows(engine: Engine) -> list[Row]:
    """Return all recorded transactions, in order."""
    with engine.connect() as connection:
        rows = connection.execute(select(_own).order_by(_own.c.tx_id)).all()
    return [Row(tx_id, kind, json.loads(content)) for tx_id, kind, content in rows]


def count_rows(engine: Engine) -> int:
    """Return the number of recorded transactions."""
    with engine.connect() as connection:
        return len(connection.execute(select(_own.c.tx_id)).all())
