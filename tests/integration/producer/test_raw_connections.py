"""Recording on connections of sqlite3 and psycopg: the record is part of their transaction."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row
from sqlalchemy import create_engine

from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.producer import Delete, ProducerControl, ProducerSettings, Put, StructureProducer
from kafka_replica.producer.errors import OutboxError, OutboxNotMigratedError, OutboxUnavailableError
from kafka_replica.producer.outbox import Outbox, default_producer_id, migrate, open_database
from support.producer.postgres_tools import LocalPostgres

NOWHERE = {"bootstrap.servers": "localhost:1"}


@pytest.fixture(params=["sqlite3", "psycopg"])
def raw(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Any, ProducerControl]]:
    """A connection of the user, and a view of the producer in the same database."""
    if request.param == "sqlite3":
        url = f"sqlite:///{tmp_path / 'o.db'}"
    else:
        url = request.getfixturevalue("postgres").url(f"raw_{uuid.uuid4().hex[:8]}")
    engine = open_database(url)
    migrate(engine)
    with engine.begin() as connection:
        Outbox("structures").create(connection, topic="FOO")
    if request.param == "sqlite3":
        made: Any = sqlite3.connect(tmp_path / "o.db")
        made.row_factory = lambda cursor, row: {
            each[0]: value for each, value in zip(cursor.description, row, strict=True)
        }
    else:
        made = psycopg.connect(url.replace("+psycopg", ""), row_factory=dict_row)
    control = ProducerControl(ProducerSettings("FOO", NOWHERE, url, id="structures"))
    yield made, control
    control.close()
    made.close()
    engine.dispose()


def test_the_record_is_part_of_the_users_transaction(raw: tuple[Any, ProducerControl]) -> None:
    """The record exists after the commit, and not after a rollback, with any row factory of the user."""
    connection, control = raw
    outbox = Outbox("structures")
    connection.execute("CREATE TABLE mine (name VARCHAR(20))")
    connection.commit()
    connection.execute("INSERT INTO mine VALUES ('lost')")
    assert outbox.record(connection, [Put("a", b"1")]) == [1]
    connection.rollback()
    assert control.status().recorded == 0
    connection.execute("INSERT INTO mine VALUES ('kept')")
    assert outbox.record(connection, [Put("a", b"1", "text/plain"), Put(b"\xff", b"\x00"), Delete("b")]) == [1, 2]
    assert control.status().recorded == 0, "not before the commit"
    connection.commit()
    assert outbox.record(connection, [Put("a", b"1", "text/plain")]) == [], "unchanged"
    assert outbox.record_flush(connection) == [3, 4]
    outbox.suspend(connection, "no")
    outbox.resume(connection)
    connection.commit()
    rows = connection.execute("SELECT name FROM mine").fetchall()
    assert rows == [{"name": "kept"}]
    connection.rollback()
    status = control.status()
    assert (status.recorded, status.pending, str(status.mode)) == (4, 4, "running")
    assert [(each.key, each.value, each.content_type) for each in control.records(1)] == [
        (b"a", b"1", "text/plain"), (b"\xff", b"\x00", None),
    ]  # fmt: skip


def test_a_connection_that_commits_by_itself_is_refused(tmp_path: Path, raw: tuple[Any, ProducerControl]) -> None:
    """A connection in autocommit is rejected unless a transaction was begun."""
    connection, control = raw
    outbox = Outbox("structures")
    if isinstance(connection, sqlite3.Connection):
        connection.isolation_level = None
    else:
        connection.autocommit = True
    with pytest.raises(
        UsageError, match=r"commits each statement separately \(autocommit\); begin a transaction first"
    ):
        outbox.record(connection, [Put("a", b"1")])
    connection.execute("BEGIN")
    assert outbox.record(connection, [Put("a", b"1")]) == [1]
    connection.execute("COMMIT")
    assert control.status().recorded == 1


def test_the_default_id_is_read_on_each_kind_of_connection(raw: tuple[Any, ProducerControl]) -> None:
    """An application that only records reads the id on its own connection, in autocommit too, and begins nothing."""
    connection, control = raw
    with control.engine.connect() as same_database:
        expected = default_producer_id(same_database)
    assert default_producer_id(connection) == expected
    if isinstance(connection, sqlite3.Connection):
        assert not connection.in_transaction, "reading does not make other writers wait"
        connection.isolation_level = None
    else:
        connection.rollback()
        connection.autocommit = True
    assert default_producer_id(connection) == expected


def test_the_default_id_on_wrong_connections() -> None:
    """A connection of another library, a database without tables and a closed connection raise our errors."""
    with pytest.raises(UsageError, match=r"reading the identity .*SQLAlchemy, sqlite3 or psycopg .* not builtins.str"):
        default_producer_id("sqlite:///shop.db")  # type: ignore[arg-type]
    connection = sqlite3.connect(":memory:")
    with pytest.raises(OutboxNotMigratedError, match="producer migrate"):
        default_producer_id(connection)
    connection.close()
    with pytest.raises(OutboxError, match="closed database"):
        default_producer_id(connection)


def test_other_connections_are_rejected_with_the_accepted_kinds() -> None:
    """Other connections, such as a session of SQLAlchemy or None, are rejected with the accepted kinds."""
    with pytest.raises(UsageError, match=r"SQLAlchemy, sqlite3 or psycopg .* not builtins.object"):
        Outbox("structures").record(object(), [Put("a", b"1")])  # type: ignore[arg-type]


def test_errors_are_those_of_the_outbox(tmp_path: Path, postgres: LocalPostgres) -> None:
    """Missing tables, and a file that another process is writing to, raise errors of the outbox."""
    outbox, file = Outbox("structures"), tmp_path / "o.db"
    with psycopg.connect(postgres.url(f"raw_{uuid.uuid4().hex[:8]}").replace("+psycopg", "")) as connection:
        with pytest.raises(OutboxNotMigratedError, match="producer migrate"):
            outbox.record(connection, [Put("a", b"1")])
        connection.rollback()
    first, second = sqlite3.connect(file), sqlite3.connect(file, timeout=0.1)
    with pytest.raises(OutboxNotMigratedError, match="producer migrate"):
        outbox.record(first, [Put("a", b"1")])
    assert first.in_transaction, "as the driver has it: the user ends it"
    with pytest.raises(OutboxUnavailableError, match="database is locked; roll back, and try again"):
        outbox.record(second, [Put("a", b"1")])
    first.close()
    second.close()


@pytest.mark.parametrize("where", ["engine", "connection"])
def test_a_connection_of_sqlalchemy_that_commits_by_itself_is_refused(database_url: str, where: str) -> None:
    """Nothing is recorded, and a producer with such an engine does not open; within a BEGIN it is accepted."""
    own = open_database(database_url)
    migrate(own)
    outbox = Outbox("structures")
    with own.begin() as connection:
        outbox.create(connection, topic="FOO")
    plain = create_engine(database_url)
    engine = plain.execution_options(isolation_level="AUTOCOMMIT") if where == "engine" else plain
    with engine.connect() as made:
        connection = made if where == "engine" else made.execution_options(isolation_level="AUTOCOMMIT")
        for refused in (lambda: outbox.record(connection, [Put("a", b"1")]), lambda: outbox.record_flush(connection)):
            with pytest.raises(UsageError, match=r"commits each statement separately \(autocommit\)"):
                refused()
        connection.exec_driver_sql("BEGIN")
        assert outbox.record(connection, [Put("a", b"1")]) == [1]
        connection.exec_driver_sql("ROLLBACK")
    with plain.connect() as connection:
        assert outbox.record(connection, [Put("a", b"1")]) == [1]
        connection.commit()
    if where == "engine":
        for kind in (ProducerControl, StructureProducer):
            with pytest.raises(ConfigurationError, match="use another engine"):
                kind(ProducerSettings("FOO", NOWHERE, engine, id="structures"))
    with closing(ProducerControl(ProducerSettings("FOO", NOWHERE, plain, id="structures"))) as control:
        assert control.status().recorded == 1
    plain.dispose()
    own.dispose()
