"""Reading a table of a real PostgreSQL: types, definitions, conditions, histories."""

from __future__ import annotations

import json
import random
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from psycopg import sql

from kafka_replica.errors import ConfigurationError, KafkaReplicaError
from kafka_replica.producer.errors import SourceError, SourceUnavailableError
from kafka_replica.producer.postgres import TableSource
from kafka_replica.producer.postgres.arrays import parse_array
from kafka_replica.producer.postgres.database import TableConnection, connect
from kafka_replica.producer.postgres.position import ID_SPAN, Position, Snapshot, full_id
from kafka_replica.producer.postgres.settings import TableSourceSettings
from kafka_replica.producer.postgres.table_snapshot import is_new, transaction_id
from support.producer.postgres_tools import LocalPostgres, promote, standby_of
from support.producer.table_tools import open_connection, table_settings
from support.waiting import wait_until

Opener = Callable[..., TableSourceSettings]
PLAIN = {"timestamp_column": "", "incrementing_column": "", "active_column": "", "key_column": "k"}


@pytest.fixture
def table(postgres: LocalPostgres) -> Opener:
    """A function that runs SQL in a fresh database, and returns settings for its table."""

    def make(statements: str, **more: Any) -> TableSourceSettings:
        url = postgres.url(f"test_{uuid.uuid4().hex[:12]}")
        with open_connection(url) as connection:
            connection.execute(statements)
        return table_settings("localhost:1", "items", url, **{**PLAIN, **more})

    return make


def records(settings: TableSourceSettings, since: Position | None = None) -> dict[str, Any]:
    """Return key and JSON text of each row; None for an inactive row."""
    with connect(settings) as connection, connection.snapshot() as table, table.rows(since) as rows:
        mapping = table.mapping
        return {
            mapping.key(row.texts).decode(): mapping.value(row.texts).decode() if row.is_active else None
            for row in rows
        }


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("boolean", "true", "true"),
        ("smallint", "-32768", "-32768"),
        ("bigint", "9223372036854775807", "9223372036854775807"),
        ("real", "0.1", "0.1"),
        ("double precision", "1e300", "1e+300"),
        ("double precision", "'NaN'", '"NaN"'),
        ("double precision", "'-Infinity'", '"-Infinity"'),
        ("numeric", "12345678901234567890.12345678901234567890", '"12345678901234567890.12345678901234567890"'),
        ("numeric(10,2)", "1.10", '"1.10"'),
        ("numeric", "'NaN'", '"NaN"'),
        ("timestamptz", "'2026-05-01 12:00:00.5+02'", '"2026-05-01T10:00:00.5Z"'),
        ("timestamptz", "'infinity'", '"infinity"'),
        ("timestamptz", "'0044-03-15 00:00:00+00 BC'", '"0044-03-15 00:00:00+00 BC"'),
        ("timestamptz", "'20000-01-01 00:00:00+00'", '"20000-01-01T00:00:00Z"'),
        ("timestamp", "'2026-05-01 12:00'", '"2026-05-01T12:00:00"'),
        ("date", "'2026-05-01'", '"2026-05-01"'),
        ("time", "'12:00:01'", '"12:00:01"'),
        ("interval", "'1 year 2 days 03:04:05.6'", '"P1Y2DT3H4M5.6S"'),
        ("bytea", r"'\x00ff10'", '"AP8Q"'),
        ("uuid", "'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'", '"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"'),
        ("text", r"E'tab\t, \\ line\n, \"quoted\", ü, 🙂'", None),
        ("char(5)", "'ab'", '"ab   "'),
        ("json", """'{"b": 1,  "a": [1.50]}'""", '{"b": 1,  "a": [1.50]}'),
        ("jsonb", """'{"b": 1,  "a": 1e2}'""", '{"a": 100, "b": 1}'),
        ("integer[]", "'{1,NULL,3}'", "[1,null,3]"),
        ("integer[]", "'{}'", "[]"),
        ("integer[]", "'[0:1]={1,2}'", "[1,2]"),
        ("text[]", r"""'{{"a,b","NULL"},{"c\\d","\"e}"}}'""", r'[["a,b","NULL"],["c\\d","\"e}"]]'),
        ("bytea[]", r"""'{"\\x00ff10"}'""", '["AP8Q"]'),
        ("numeric[]", "'{1.10}'", '["1.10"]'),
        ("jsonb[]", r"""ARRAY['{"a": "b"}'::jsonb]""", '[{"a": "b"}]'),
        ("timestamptz[]", "'{2026-05-01 12:00:00+02}'", '["2026-05-01T10:00:00Z"]'),
        ("inet", "'10.0.0.1'", '"10.0.0.1"'),
        ("int4range", "'[1,5)'", '"[1,5)"'),
        ("colour", "'red'", '"red"'),
        ("positive", "5", "5"),
        ("positive[]", "'{5}'", "[5]"),
        ("box[]", "'{(1,1),(0,0)}'", '"{(1,1),(0,0)}"'),
        ("text", "NULL", "null"),
    ],
)
def test_each_column_type_has_one_json_form(table: Opener, kind: str, value: str, expected: str | None) -> None:
    """A value becomes the JSON that the documentation states, whatever the settings of the database are."""
    types = "CREATE TYPE colour AS ENUM ('red'); CREATE DOMAIN positive AS integer CHECK (VALUE > 0);"
    settings = table(
        f"{types} CREATE TABLE item (k text PRIMARY KEY, v {kind}); INSERT INTO item VALUES ('a', {value})"
    )
    with open_connection(settings.database) as connection:
        name = connection.info.dbname
        for setting in ("TimeZone = 'Asia/Tokyo'", "DateStyle = 'German'", "bytea_output = 'escape'"):
            connection.execute(f"ALTER DATABASE {name} SET {setting}")
    found = records(settings)["a"]
    if expected is None:
        assert json.loads(found)["v"] == 'tab\t, \\ line\n, "quoted", ü, 🙂'
    else:
        assert found == f'{{"k":"a","v":{expected}}}'


def test_numeric_as_number_keeps_all_digits(table: Opener) -> None:
    """With ``numeric = "number"`` a number has its digits, and NaN is a string."""
    made = "CREATE TABLE item (k text PRIMARY KEY, v numeric[]); INSERT INTO item VALUES ('a', '{1.10,NaN}')"
    assert records(table(made, numeric="number")) == {"a": '{"k":"a","v":[1.10,"NaN"]}'}


@pytest.mark.parametrize(
    ("kind", "value", "key"),
    [
        ("text", "'ü/1'", "ü/1"),
        ("integer", "42", "42"),
        ("boolean", "true", "true"),
        ("date", "'2026-05-01'", "2026-05-01"),
    ],
)
def test_keys_are_text(table: Opener, kind: str, value: str, key: str) -> None:
    """A key is the text of the value, without quotation marks."""
    settings = table(f"CREATE TABLE item (k {kind} PRIMARY KEY); INSERT INTO item VALUES ({value})")
    assert list(records(settings)) == [key]


def test_arrays_are_parsed_as_the_server_writes_them(postgres: LocalPostgres) -> None:
    """Random arrays of texts give the same list by this parser and by PostgreSQL's JSON."""
    dice = random.Random(3)
    alphabet = ["a", "NULL", "{", "}", ",", '"', "\\", " ", "ü", "\n", ""]
    with postgres.connect("postgres") as connection:
        for _ in range(200):
            rows, columns = dice.randint(1, 3), dice.randint(1, 3)
            made = [
                [dice.choice([None, "".join(dice.choices(alphabet, k=4))]) for _ in range(columns)] for _ in range(rows)
            ]
            found = connection.execute("SELECT (%s::text[])::text, to_json(%s::text[])", [made, made]).fetchone()
            assert found is not None
            assert parse_array(str(found[0]), str) == found[1] == made


def test_the_sql_condition_equals_position_contains(postgres: LocalPostgres) -> None:
    """The SQL condition and id are those of ``Position.contains`` and ``full_id``, near wraparounds, too."""
    dice = random.Random(4)
    with postgres.connect("postgres") as connection:
        for _ in range(60):
            xmax = dice.choice([50, ID_SPAN, 5 * ID_SPAN]) + dice.randint(5, 40)
            xmin = xmax - dice.randint(0, min(40, xmax - 3))
            seen = frozenset(dice.sample(range(xmin, xmax), min(3, xmax - xmin)))
            later = Snapshot(f"{xmax}:{xmax + dice.randint(0, 20)}:")
            position = Position(Snapshot(f"{xmin}:{xmax}:"), seen, "")
            ids = {each % ID_SPAN for each in range(max(3, later.xmax - 90), later.xmax)} | {1, 2}
            if later.xmax > ID_SPAN:
                ids |= {later.xmax % ID_SPAN, ID_SPAN - 5}
            query = sql.SQL(
                "SELECT xmin::text::bigint, {id}, {new} FROM unnest({ids}::text[]::xid[]) this(xmin)"
            ).format(
                id=transaction_id(later),
                new=is_new(position, transaction_id(later)),
                ids=sql.Literal(list(map(str, ids))),
            )
            for row_id, found, new in connection.execute(query):
                expected = full_id(int(str(row_id)), later.xmax)
                assert (found, new) == (expected, not position.contains(expected))


@pytest.mark.parametrize(
    ("statements", "more", "says"),
    [
        ("", {}, "no table item"),
        ("CREATE VIEW item AS SELECT 1 AS k", {}, "not a table"),
        ("CREATE TABLE item (k text)", {}, r"CREATE UNIQUE INDEX ON item \(k\)$"),
        ("CREATE TABLE item (k text, a bool); CREATE UNIQUE INDEX ON item (k) WHERE a", {}, "CREATE UNIQUE INDEX"),
        ("CREATE TABLE item (k text, l text, UNIQUE (k, l))", {}, "CREATE UNIQUE INDEX"),
        (
            "CREATE TABLE item (k text, a bool NOT NULL); CREATE UNIQUE INDEX ON item (k) WHERE a AND k > 'm'",
            {"active_column": "a"},
            r"\(k\) WHERE a$",
        ),
        (
            "CREATE TABLE item (k text, a bool); CREATE UNIQUE INDEX ON item (k) WHERE a",
            {"active_column": "a"},
            r"\(k\) WHERE a IS NOT FALSE, or: ALTER TABLE item ALTER a SET NOT NULL$",
        ),
        (
            (
                "CREATE TABLE item (k text PRIMARY KEY); CREATE FOREIGN DATA WRAPPER w; CREATE SERVER s FOREIGN DATA "
                "WRAPPER w; CREATE FOREIGN TABLE remote () INHERITS (item) SERVER s"
            ),
            {},
            "the foreign table remote",
        ),
        ("CREATE TABLE item (key text PRIMARY KEY)", {"key_column": "kay"}, "no column kay.*did you mean 'key'"),
        ("CREATE TABLE item (k text PRIMARY KEY)", {"timestamp_column": "at"}, "no column at .timestamp_column."),
        ("CREATE TABLE item (k text PRIMARY KEY, a text)", {"active_column": "a"}, "has to be a boolean"),
        ("CREATE TABLE item (k text PRIMARY KEY, a text)", {"columns": ("a",)}, "the key k has to be one of"),
        ('CREATE TABLE item (k text PRIMARY KEY, a_b int, "aB" int)', {"camel_case": True}, "several .* the field aB"),
        ("CREATE TABLE item (k text UNIQUE); INSERT INTO item VALUES (NULL)", {}, "a row has no value in its key, k"),
    ],
)
def test_a_table_that_cannot_be_copied_is_explained(
    table: Opener, statements: str, more: dict[str, Any], says: str
) -> None:
    """The message names the table, the column and what to do."""
    with pytest.raises(KafkaReplicaError, match=says):
        records(table(statements, **more))


@pytest.mark.parametrize(
    ("column", "condition"),
    [
        ("a bool", "a IS NOT FALSE"), ("a bool NOT NULL", "a"), ("a bool NOT NULL", "a IS TRUE"),
        ("a bool NOT NULL", "a = true"), ('"select" bool NOT NULL', '"select"'),
    ],
)  # fmt: skip
def test_an_inactive_row_does_not_hide_an_active_one(table: Opener, column: str, condition: str) -> None:
    """If only active rows have unique keys, a change of an old inactive row deletes nothing."""
    name = column.split(maxsplit=1)[0].strip('"')
    settings = table(
        f"CREATE TABLE item (k text, id int PRIMARY KEY, {column}); CREATE UNIQUE INDEX ON item (k) WHERE {condition};"
        "INSERT INTO item VALUES ('x', 2, true), ('x', 1, false), ('y', 3, false)",
        active_column=name,
    )
    assert records(settings) == {"x": f'{{"k":"x","id":2,"{name}":true}}', "y": None}
    with connect(settings) as connection, connection.snapshot() as first:
        position = first.survey(None).position
    with open_connection(settings.database) as writer:
        writer.execute("UPDATE item SET id = 10 WHERE id = 1")
    assert records(settings, position) == {}
    with open_connection(settings.database) as writer:
        writer.execute(f'UPDATE item SET "{name}" = false WHERE id = 2')
    assert records(settings, position) == {"x": None}


def test_a_partitioned_table_is_read_like_any_other(table: Opener) -> None:
    """Row versions of all partitions are read; a row that moves to another partition is a new version."""
    settings = table(
        "CREATE TABLE item (k int PRIMARY KEY, v int) PARTITION BY RANGE (k);"
        "CREATE TABLE low PARTITION OF item FOR VALUES FROM (0) TO (10);"
        "CREATE TABLE high PARTITION OF item FOR VALUES FROM (10) TO (20);"
        "INSERT INTO item VALUES (1, 1), (11, 1)"
    )
    with connect(settings) as connection, connection.snapshot() as first:
        new, position = first.survey(None)
    assert new == 2
    with open_connection(settings.database) as writer:
        writer.execute("UPDATE item SET k = 12 WHERE k = 1")
    assert records(settings, position) == {"12": '{"k":12,"v":1}'}


def digest(settings: TableSourceSettings) -> str:
    """Return the digest of the table, its columns and the settings."""
    with connect(settings) as connection, connection.snapshot() as table:
        return table.mapping.digest


@pytest.mark.parametrize(
    "change",
    [
        "ALTER TABLE item RENAME TO former; ALTER TABLE other RENAME TO item",
        "CREATE TABLE item_20 PARTITION OF item FOR VALUES FROM (20) TO (30)",
        "ALTER TABLE item ATTACH PARTITION filled FOR VALUES FROM (20) TO (30)",
        "ALTER TABLE item_0 DETACH PARTITION item_05",
    ],
)
def test_another_set_of_tables_behind_the_name_leads_to_a_comparison(table: Opener, change: str) -> None:
    """A table that takes the name, and partitions below the table at any depth, are part of the digest."""
    made = "(k int PRIMARY KEY) PARTITION BY RANGE (k)"
    settings = table(
        f"CREATE TABLE item {made}; CREATE TABLE other {made}; CREATE TABLE filled (k int PRIMARY KEY);"
        "CREATE TABLE item_0 PARTITION OF item FOR VALUES FROM (0) TO (10) PARTITION BY RANGE (k);"
        "CREATE TABLE item_05 PARTITION OF item_0 FOR VALUES FROM (0) TO (5); INSERT INTO filled VALUES (21)"
    )
    before = digest(settings)
    with open_connection(settings.database) as writer:
        writer.execute("INSERT INTO item VALUES (1)")
        assert digest(settings) == before
        writer.execute(change)
    assert digest(settings) != before


@pytest.mark.parametrize("more", [{"active_column": "a"}, {"topic": "others"}], ids=str)
def test_settings_that_determine_the_records_lead_to_a_comparison(table: Opener, more: dict[str, Any]) -> None:
    """The active column and the topic are part of the digest, as they determine which records the topic should have."""
    settings = table("CREATE TABLE item (k int PRIMARY KEY, a bool)")
    assert digest(replace(settings, **more)) != digest(settings)


def test_a_table_that_takes_the_name_while_the_lock_is_awaited_is_read(table: Opener) -> None:
    """The definition is that of the table that is locked, though another one had the name before."""
    settings = table("CREATE TABLE item (k int PRIMARY KEY); CREATE TABLE other (k int PRIMARY KEY, v int)")
    with open_connection(settings.database) as writer, ThreadPoolExecutor(1) as executor, writer.transaction():
        writer.execute("DROP TABLE item; ALTER TABLE other RENAME TO item; INSERT INTO item VALUES (1, 2)")
        reading = executor.submit(records, settings)
        with open_connection(settings.database) as observer:
            waits = "SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()"
            wait_until(lambda: observer.execute(waits).rowcount, "the lock is awaited")
        writer.execute("COMMIT")
    assert reading.result() == {"1": '{"k":1,"v":2}'}


def test_limits_of_the_server_do_not_end_a_snapshot(table: Opener) -> None:
    """Rows that are sent slowly are read to the end, whatever limits the database has for other sessions."""
    settings = table("CREATE TABLE item (k text PRIMARY KEY); INSERT INTO item VALUES ('a')")
    with open_connection(settings.database) as writer:
        limits = ["idle_in_transaction_session_timeout", "statement_timeout"]
        for limit in [*limits, *(["transaction_timeout"] if writer.info.server_version >= 170000 else [])]:
            writer.execute(f"ALTER DATABASE {writer.info.dbname} SET {limit} = '100ms'")
    with connect(settings) as connection, connection.snapshot() as snapshot:
        time.sleep(0.4)
        with snapshot.rows() as rows:
            time.sleep(0.4)
            assert len(list(rows)) == 1


def test_a_session_that_the_server_ends_is_an_outage(table: Opener) -> None:
    """The end of a session whose transaction was idle for too long can be temporary, unlike a refusal."""
    settings = table("CREATE TABLE item (k text PRIMARY KEY)")

    def read_slowly(connection: TableConnection) -> None:
        with connection.snapshot() as snapshot:
            connection._connection.execute("SET idle_in_transaction_session_timeout = '50ms'")
            time.sleep(0.4)
            snapshot.survey(None)

    with connect(settings) as connection, pytest.raises(SourceUnavailableError, match="idle-in-transaction timeout"):
        read_slowly(connection)


def test_a_notification_without_a_message_ends_the_wait(table: Opener) -> None:
    """A source with a long interval reads at once if a trigger notifies it, and is not requested to compare."""
    settings = table("CREATE TABLE item (k text PRIMARY KEY)", poll_s=60.0)
    source = TableSource(settings)
    with connect(settings) as connection, open_connection(settings.database) as writer:
        assert connection.try_lock()
        writer.execute("NOTIFY kafka_replica_source")
        began_s = time.monotonic()
        source._wait(connection)
    assert time.monotonic() - began_s < 30
    assert not source._requested.is_set()


def test_select_on_the_table_is_enough(table: Opener, postgres: LocalPostgres) -> None:
    """A user with no other right reads, waits for the log, takes the lock, and knows the database."""
    user = f"reader_{uuid.uuid4().hex[:8]}"
    settings = table(
        "CREATE TABLE item (k text PRIMARY KEY); INSERT INTO item VALUES ('a');"
        f"CREATE ROLE {user} LOGIN PASSWORD 'secret'; GRANT SELECT ON item TO {user}"
    )
    url = settings.database.replace(f"app:{postgres.password}", f"{user}:secret")
    with connect(table_settings("localhost:1", "items", url, **PLAIN)) as mine, connect(settings) as owners:
        assert mine.try_lock()
        assert not owners.try_lock()
        mine.notify("compare items")
        assert mine.wait(10) == ["compare items"]
        assert mine.database_id == owners.database_id
        with mine.snapshot() as snapshot, snapshot.rows() as rows:
            assert [row.texts for row in rows] == [("a",)]
        with mine.snapshot() as snapshot:
            assert snapshot.survey(None).new == 1


@pytest.mark.long
def test_a_standby_is_not_read_and_a_promotion_is_noticed(own_postgres: LocalPostgres) -> None:
    """A standby is an outage until it is promoted; then its timeline differs."""
    postgres = own_postgres
    settings = table_settings("localhost:1", "items", postgres.url("primary"), **PLAIN)
    with open_connection(settings.database) as writer:
        writer.execute("CREATE TABLE item (k text PRIMARY KEY)")
    with connect(settings) as connection, connection.snapshot() as first:
        position = first.survey(None).position
    standby = standby_of(postgres)
    try:
        there = settings.database.replace(f":{postgres.port}/", f":{standby.port}/")
        moved = table_settings("localhost:1", "items", there, **PLAIN)
        with pytest.raises(SourceUnavailableError, match="standby"):
            records(moved)
        promote(standby)
        with connect(moved) as connection, connection.snapshot() as later:
            assert "promoted" in (position.history_problem(later.snapshot) or "")
    finally:
        standby.stop()


def test_a_rewrite_of_the_table_never_looks_like_an_empty_table(table: Opener) -> None:
    """ALTER TABLE waits for the snapshot; without the lock, its rows would not be visible in it."""
    settings = table("CREATE TABLE item (k text PRIMARY KEY, v int); INSERT INTO item VALUES ('a', 1)")
    with connect(settings) as connection, open_connection(settings.database) as other:
        with connection.snapshot() as snapshot:
            other.execute("SET lock_timeout = '100ms'")
            with pytest.raises(Exception, match="lock timeout"):
                other.execute("ALTER TABLE item ALTER v TYPE bigint")
            with snapshot.rows() as rows:
                assert len(list(rows)) == 1
        other.execute("ALTER TABLE item ALTER v TYPE bigint")


def test_errors_hide_the_password(postgres: LocalPostgres) -> None:
    """Neither the message nor the representation of settings has the password; a wrong URI is explained."""
    wrong = table_settings("localhost:1", "items", "postgresql://app:hunter2@127.0.0.1:1/x")
    with pytest.raises(SourceUnavailableError) as caught, connect(wrong):
        pass
    assert "hunter2" not in f"{caught.value} {caught.value.__cause__} {wrong!r}"
    with (
        pytest.raises(ConfigurationError, match="should be like postgresql://") as refused,
        connect(table_settings("localhost:1", "items", "postgresql://a:hunter2@b:c:d/x?nonsense=1")),
    ):
        pass
    assert "hunter2" not in str(refused.value)
    missing = table_settings("localhost:1", "items", postgres.url("postgres").replace("/postgres", "/missing"))
    with pytest.raises(SourceError, match="missing"), connect(missing):
        pass
