"""Directories that follow tables of a real PostgreSQL, through Debezium's real connector."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import msgspec
import pytest

from chaos.postgres import LocalPostgres
from kafka_replica import Replica
from kafka_replica.directories import Directory, UniqueIndex
from kafka_replica.directories.interpreters import ConnectJson, DebeziumEvents, DeleteAll, Interpreter
from kafka_replica.embedded import LocalKafka
from support.directories.kafka_connect import KafkaConnect, debezium, wait_until

pytestmark = [pytest.mark.broker, pytest.mark.long, pytest.mark.timeout(600)]

WAIT_S = 180.0
TABLE = """CREATE TABLE {} (id int PRIMARY KEY, name text, price numeric(9,2), installed date, changed timestamp(3),
    notes text)"""
UNWRAP = {"transforms": "row", "transforms.row.type": "io.debezium.transforms.ExtractNewRecordState"}
FORMS: dict[str, tuple[dict[str, str], Any]] = {
    "envelopes": ({}, DebeziumEvents()),
    "envelopes with exact types": ({"decimal.handling.mode": "precise"}, DebeziumEvents(schemas=True)),
    "flattened rows, marked": (
        {**UNWRAP, "transforms.row.delete.tombstone.handling.mode": "rewrite"},
        DebeziumEvents(flattened=True),
    ),
    "flattened rows, null": (
        {**UNWRAP, "transforms.row.delete.tombstone.handling.mode": "tombstone"},
        ConnectJson(),  # the converter writes the four bytes null
    ),
}


CHANGES = [
    """INSERT INTO {0} VALUES ({one}, 'n{number}-{one}', {number}.25, '2026-02-03', '2026-01-01 12:00:00.125', 'x')
        ON CONFLICT (id) DO UPDATE SET name = EXCLUDED.name""",
    "DELETE FROM {0} WHERE id = {one}",
    "UPDATE {0} SET id = {other} WHERE id = {one} AND NOT EXISTS (SELECT 1 FROM {0} WHERE id = {other})",
]


class Terminal(msgspec.Struct, frozen=True):
    """A row, with the types of Python for those of PostgreSQL."""

    id: int
    name: str | None
    price: Decimal | None
    installed: date | None
    changed: datetime | None
    notes: str | None


class PlainTerminal(Terminal, frozen=True):
    """A row without a schema: the connector writes ``2026-01-01Z`` for a date, which is not a date of ISO 8601."""

    installed: str | None  # type: ignore[assignment]


PLAIN = {"decimal.handling.mode": "string", "time.precision.mode": "isostring"}


class Followed:
    """A table that a connector copies to a topic, and a directory that follows it."""

    def __init__(self, postgres: LocalPostgres, directory: Directory[str, Terminal], table: str) -> None:
        self.table, self.directory = table, directory
        self.sql: Any = postgres.connect("postgres")

    def rows(self) -> dict[str, Terminal]:
        """Return the rows of the table, with the types of the directory."""
        found = {str(row[0]): Terminal(*row) for row in self.sql.execute(f"SELECT * FROM {self.table}")}
        if not any(isinstance(row, PlainTerminal) for row in self.directory.values()):
            return found
        return {key: as_plain(row) for key, row in found.items()}

    def until_equal(self) -> None:
        """Wait until the directory holds what the table does."""
        self.directory.wait_ready(WAIT_S)
        wait_until(lambda: dict(self.directory) == self.rows(), lambda: f"{dict(self.directory)} != {self.rows()}")


def as_plain(row: Terminal) -> PlainTerminal:
    """Return a row as it arrives without a schema; the connector writes times without time zone as UTC."""
    changed = None if row.changed is None else row.changed.replace(tzinfo=UTC)
    installed = None if row.installed is None else f"{row.installed}Z"
    return PlainTerminal(row.id, row.name, row.price, installed, changed, row.notes)


@contextmanager
def followed(
    kafka: LocalKafka,
    connect: KafkaConnect,
    postgres: LocalPostgres,
    interpreter: Interpreter,
    of: type[Terminal] = Terminal,
    **settings: Any,
) -> Iterator[Followed]:
    """Follow a new table with two rows."""
    name = f"t{os.urandom(4).hex()}"
    with postgres.connect("postgres") as sql:
        sql.execute(TABLE.format(name))
        sql.execute(f"INSERT INTO {name} VALUES (1, 'Linz', 12.50, '2026-01-01', '2026-01-01 12:00', NULL)")
        sql.execute(f"INSERT INTO {name} VALUES (2, NULL, NULL, NULL, NULL, NULL)")
    topic = f"{name}.public.{name}"
    kafka.create_topic(topic, 2, {"cleanup.policy": "compact"})
    for more in settings.pop("topics", ()):
        kafka.create_topic(more.format(name), 1, {"cleanup.policy": "compact"})
    connect.run(name, debezium(postgres, name, f"public.{name}", **settings))
    with Replica({"bootstrap.servers": kafka.bootstrap_servers}, topic) as replica:
        indexes = {"name": UniqueIndex[Terminal]("name")}
        directory = Directory(replica, of, interpreter=interpreter, indexes=indexes)
        table = Followed(postgres, directory, name)
        try:
            yield table
        finally:
            table.sql.close()
            connect.remove(name, postgres)


@pytest.mark.parametrize(
    ("form", "has_schemas"), [(form, has) for form in FORMS for has in (False, True) if has or "exact" not in form]
)
def test_a_directory_follows_a_table(
    local_kafka: LocalKafka, connect: KafkaConnect, postgres: LocalPostgres, form: str, has_schemas: bool
) -> None:
    """Snapshot, inserts, updates, deletions and changed keys give the rows of the table; also after kill -9."""
    usual, interpreter = FORMS[form]
    converters = {
        name: value
        for kind in ("key", "value")
        for name, value in (
            (f"{kind}.converter", "org.apache.kafka.connect.json.JsonConverter"),
            (f"{kind}.converter.schemas.enable", str(has_schemas).lower()),
        )
    }
    settings: dict[str, Any] = {**usual, **converters, **({} if has_schemas else PLAIN)}
    of = Terminal if has_schemas else PlainTerminal
    with followed(local_kafka, connect, postgres, interpreter, of, **settings) as table:
        table.until_equal()
        table.sql.execute(f"UPDATE {table.table} SET price = -0.05, name = 'Wels' WHERE id = 1")
        table.sql.execute(f"UPDATE {table.table} SET id = 3 WHERE id = 2")
        table.until_equal()
        assert sorted(table.directory) == ["1", "3"]
        assert table.directory.index("name")["Wels"].price == Decimal("-0.05")
        table.sql.execute(f"DELETE FROM {table.table} WHERE id = 1")
        table.until_equal()
        assert sorted(table.directory) == ["3"]
        change_at_random(table, 2000, connect if form == "envelopes" else None)
        table.until_equal()
        assert table.directory.bad_records == []


def change_at_random(table: Followed, transactions: int, killed: KafkaConnect | None) -> None:
    """Run random transactions on a table; kill the worker in the middle."""
    chance = random.Random(7)
    for number in range(transactions):
        with table.sql.transaction():
            for _ in range(chance.randrange(1, 4)):
                one, other = chance.sample(range(12), 2)
                table.sql.execute(chance.choice(CHANGES).format(table.table, one=one, other=other, number=number))
        if killed is not None and number == transactions // 2:
            killed.kill()
    if killed is not None:
        killed.start()


def test_a_large_value_that_was_not_sent(
    local_kafka: LocalKafka, connect: KafkaConnect, postgres: LocalPostgres
) -> None:
    """An update that leaves a large value out is a bad record, which names the remedy; with the remedy it is good."""
    with followed(local_kafka, connect, postgres, DebeziumEvents()) as table:
        table.until_equal()
        strict = table.directory
        large = "".join(random.Random(1).choice("abcdefgh") for _ in range(20_000))
        table.sql.execute(f"ALTER TABLE {table.table} ALTER COLUMN notes SET STORAGE EXTERNAL")
        table.sql.execute(f"ALTER TABLE {table.table} REPLICA IDENTITY FULL")
        table.sql.execute(f"UPDATE {table.table} SET notes = '{large}' WHERE id = 1")
        table.sql.execute(f"UPDATE {table.table} SET name = 'Graz' WHERE id = 1")
        table.until_equal()
        assert strict["1"].notes == large
        table.sql.execute(f"ALTER TABLE {table.table} REPLICA IDENTITY DEFAULT")
        table.sql.execute(f"UPDATE {table.table} SET name = 'Wien' WHERE id = 1")
        with pytest.raises(Exception, match="set REPLICA IDENTITY FULL for the table"):
            wait_until(lambda: strict["1"].name == "never", lambda: "no error came")


def test_records_that_concern_no_row(local_kafka: LocalKafka, connect: KafkaConnect, postgres: LocalPostgres) -> None:
    """Heartbeats, transaction metadata and logical messages put nothing; a keyed truncate event deletes its table."""
    settings: dict[str, Any] = {
        "heartbeat.interval.ms": "500",
        "provide.transaction.metadata": "true",
        "skipped.operations": "none",
    }
    topics = "__debezium-heartbeat.{}", "{}.transaction", "{}.message"
    with followed(local_kafka, connect, postgres, DebeziumEvents(), topics=topics, **settings) as table:
        table.sql.execute("SELECT pg_logical_emit_message(true, 'news', 'hello')")
        table.sql.execute(f"INSERT INTO {table.table} VALUES (7)")
        table.until_equal()
        names = [topic.format(table.table) for topic in topics]
        with Replica({"bootstrap.servers": local_kafka.bootstrap_servers}, topics=names) as replica:
            wait_until(lambda: all(len(replica.wait_ready(WAIT_S).of(name)) for name in names), lambda: "no records")
            interpret = DebeziumEvents()
            assert [interpret(record) for record in replica.snapshot().values()] == [None] * len(replica.snapshot())
        event = next(iter(table.directory.view().snapshot.values()))
        source = msgspec.json.decode(event.value or b"")["payload"]["source"]
        scope = f"{table.table}.postgres.public.{table.table}"
        truncate = event.replace(value=msgspec.json.encode({"op": "t", "source": source}))
        assert interpret(truncate) == DeleteAll(scope, source["ts_ms"])


def test_a_compacted_topic_refuses_truncate_events(
    local_kafka: LocalKafka, connect: KafkaConnect, postgres: LocalPostgres
) -> None:
    """An event without a key ends the connector with an error: the directory is never silently wrong."""
    settings: dict[str, Any] = {"skipped.operations": "none", "errors.retry.timeout": "0"}
    with followed(local_kafka, connect, postgres, DebeziumEvents(), **settings) as table:
        table.until_equal()
        table.sql.execute(f"TRUNCATE {table.table}")
        wait_until(lambda: "FAILED" in connect.states(table.table), lambda: f"{connect.states(table.table)}")
        assert "InvalidRecordException" in connect.trace(table.table)
        assert sorted(table.directory) == ["1", "2"]
