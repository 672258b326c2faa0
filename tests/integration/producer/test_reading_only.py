"""Commands read, or change one row: an open recording transaction blocks none of them, and nothing is created."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine, text

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.errors import UsageError
from kafka_replica.producer import ProducerControl, Put, StructureProducer
from kafka_replica.producer.errors import OutboxError, OutboxNotMigratedError
from kafka_replica.producer.outbox import Mode, Outbox, migrate, open_database
from kafka_replica.producer.outbox.migrate import VERSION_TABLE, Migration
from support.producer.postgres_tools import LocalPostgres
from support.producer.producer_tools import settings_of
from support.waiting import wait_until

NOWHERE = "localhost:1"


def rows_of(engine: Engine) -> list[object]:
    """Return the whole content of the producer's tables."""
    names = ("config", "config_properties", "counter", "state", "lease", "tx", "tx_change")
    with engine.connect() as connection:
        connection.execution_options(kafka_replica_reads=True)
        return [row for name in names for row in connection.execute(text(f"SELECT * FROM kafka_producer_{name}"))]


def test_the_status_of_an_id_that_is_not_there_names_those_that_are(database_url: str) -> None:
    """The status of an unknown id names the existing ones, and creates nothing."""
    made = [StructureProducer(settings_of(NOWHERE, "FOO", database_url, id=name)) for name in ("one", "two")]
    before = rows_of(made[0].engine)
    with pytest.raises(UsageError, match="there is no producer 'tow' in the database; known: one, two; check its id"):
        ProducerControl(settings_of(NOWHERE, "FOO", database_url, id="tow"))
    assert rows_of(made[0].engine) == before
    for each in made:
        each.close()


def test_commands_with_an_old_file_leave_the_stored_configuration_alone(database_url: str) -> None:
    """The stored configuration remains that of the instance that was created last."""
    producer = StructureProducer(settings_of(NOWHERE, "NEW", database_url))
    control = ProducerControl(settings_of(NOWHERE, "OLD", database_url))
    assert control.status().topic == "NEW"
    control.resume()
    control.suspend("maintenance")
    status = producer.status()
    assert (status.topic, status.mode, status.reason) == ("NEW", Mode.SUSPENDED, "maintenance")
    control.close()
    producer.close()


def test_a_database_file_that_is_missing_is_not_created(tmp_path: Path) -> None:
    """A missing database file is not created, which SQLite would do on reading."""
    missing = tmp_path / "mistyped.db"
    with pytest.raises(OutboxError, match=r"no database file .*mistyped.db.*producer migrate"):
        ProducerControl(settings_of(NOWHERE, "FOO", f"sqlite:///{missing}"))
    assert not missing.exists()


def test_missing_tables_are_an_error_that_explains_how_to_create_them(database_url: str) -> None:
    """Without tables, recording and commands say how to create them, not that the database is down."""
    engine = open_database(database_url)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE mine (name VARCHAR(20))"))
    with pytest.raises(OutboxNotMigratedError, match="kafka-replica producer migrate"), engine.begin() as connection:
        Outbox("structures").record(connection, [Put("a", b"1")])
    with pytest.raises(OutboxNotMigratedError, match=r"has no tables of the producer.*producer migrate"):
        ProducerControl(settings_of(NOWHERE, "FOO", database_url))
    engine.dispose()


def test_older_and_newer_tables_have_different_advice(database_url: str) -> None:
    """Older tables have to be migrated; with newer tables, the program has to be updated."""
    engine = open_database(database_url)
    migrate(engine, "0001")
    with pytest.raises(OutboxNotMigratedError, match="version 0001, and this program needs version 0004"):
        ProducerControl(settings_of(NOWHERE, "FOO", database_url))
    migrate(engine)
    with engine.begin() as connection:
        connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    with pytest.raises(OutboxError, match="version 9999, which is newer than this program"):
        migrate(engine)
    engine.dispose()


def test_the_command_migrate_makes_the_tables(tmp_path: Path) -> None:
    """``migrate`` prints what it has done and what comes next; then commands report that there is no producer yet."""
    file = tmp_path / "producer.toml"
    file.write_text(f"""
        [producer]
        topic = "FOO"
        database = "sqlite:///{tmp_path / "o.db"}"
        [kafka]
        bootstrap.servers = "{NOWHERE}"
    """)

    def command(name: str) -> Result:
        return CliRunner().invoke(kafka_replica, ["producer", name, "--config", str(file)])

    assert "producer migrate" in str(command("status").exception)
    first = command("migrate")
    assert first.exit_code == 0
    assert first.output == (
        "created the producer's tables; changes can be recorded after the first start of the producer: kafka-replica "
        f"producer run --config {file}\n"
    )
    assert "it has no producer; start one" in str(command("status").exception)
    assert command("migrate").output == "the producer's tables have the current version already; nothing was changed\n"


def test_a_migration_returns_what_it_did(tmp_path: Path) -> None:
    """Tables are created, brought to this version, or left alone."""
    engine = open_database(f"sqlite:///{tmp_path / 'o.db'}")
    done = [migrate(engine, "0001"), migrate(engine), migrate(engine)]
    assert done == [Migration.CREATED, Migration.UPDATED, Migration.UNCHANGED]
    engine.dispose()


@pytest.mark.parametrize(
    ("owner", "mode", "instance"),
    [
        (None, "mode: running (requested, but no instance publishes; start one", "none"),
        ("host:1", "mode: running (requested, but the instance below seems to", "host:1 (no heartbeat seen in 0.2 s)"),
    ],
)
def test_the_status_of_a_resumed_producer_without_an_instance_has_a_reason(
    owner: str | None, mode: str, instance: str, tmp_path: Path
) -> None:
    """No instance was started, or the last one was killed: the mode is what was requested."""
    database, file = f"sqlite:///{tmp_path / 'o.db'}", tmp_path / "producer.toml"
    file.write_text(f"""
        [producer]
        topic = "FOO"
        id = "one"
        database = "{database}"
        [kafka]
        bootstrap.servers = "{NOWHERE}"
    """)
    engine = open_database(database)
    migrate(engine)
    outbox = Outbox("one")
    with engine.begin() as connection:
        outbox.create(connection, topic="FOO")
        outbox.resume(connection)
        connection.execute(text("UPDATE kafka_producer_lease SET owner = :owner"), {"owner": owner})
    engine.dispose()
    shown = CliRunner().invoke(kafka_replica, ["producer", "status", "--config", str(file), "--watch-s", "0.2"])
    assert shown.exit_code == 1
    lines = shown.output.splitlines()
    assert lines[0] == "Running: false"
    assert lines[1].startswith(mode)
    assert lines[2] == f"instance: {instance}"


@pytest.fixture
def impatient(postgres: LocalPostgres) -> str:
    """A fresh database of PostgreSQL, in which waiting for a lock soon raises an error."""
    name = f"impatient_{uuid.uuid4().hex[:8]}"
    url = postgres.url(name)
    with postgres.connect("postgres") as connection:
        connection.execute(f'ALTER DATABASE "{name}" SET lock_timeout = 3000')
    return url


def test_an_open_recording_transaction_holds_up_neither_commands_nor_instances(impatient: str) -> None:
    """Status, suspend, resume, another instance and another configuration work during an open transaction."""
    producer = StructureProducer(settings_of(NOWHERE, "FOO", impatient))
    with producer.engine.begin() as recording:
        producer.record(recording, [Put("a", b"1")])
        control = ProducerControl(settings_of(NOWHERE, "FOO", impatient))
        control.resume()
        assert control.status().mode is Mode.RUNNING
        control.suspend("maintenance")
        assert control.status().reason == "maintenance"
        with StructureProducer(settings_of(NOWHERE, "FOO", impatient, first_start="idle", timeout_s=1.0)) as second:
            wait_until(lambda: second.leads, "it starts, and takes the lease")
        other = StructureProducer(settings_of(NOWHERE, "BAR", impatient))
        assert control.status().topic == "BAR"
        with pytest.raises(OutboxError, match="lock"), control.engine.begin() as waiting:
            control.outbox.record(waiting, [Put("b", b"1")])  # recording does wait
    assert producer.status().recorded == 1
    for each in (producer, control, other):
        each.close()


def test_the_right_to_read_is_enough_for_status(postgres: LocalPostgres, tmp_path: Path) -> None:
    """A role of PostgreSQL that may only SELECT sees the status, and is rejected when it writes."""
    name = f"read_{uuid.uuid4().hex[:8]}"
    url = postgres.url(name)
    producer = StructureProducer(settings_of(NOWHERE, "FOO", url))
    with producer.engine.begin() as connection:
        producer.record(connection, [Put("a", b"1")])
    with postgres.connect(name) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'only'")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {name}")
    reader = url.replace(f"app:{postgres.password}", f"{name}:only")
    file = tmp_path / "producer.toml"
    file.write_text(
        f'[producer]\nid = "structures"\ntopic = "OLD"\ndatabase = "{reader}"\n[kafka]\nbootstrap.servers = "{NOWHERE}"'
    )
    shown = CliRunner().invoke(kafka_replica, ["producer", "status", "--config", str(file)])
    assert "sent: 0 of 1 recorded" in shown.output
    assert "topic FOO" in shown.output
    listed = CliRunner().invoke(kafka_replica, ["producer", "list", "--config", str(file)])
    assert listed.output.startswith("1  pending  changes")
    refused = CliRunner().invoke(kafka_replica, ["producer", "suspend", "--config", str(file)]).exception
    assert isinstance(refused, OutboxError)
    assert "permission denied" in str(refused)
    again = StructureProducer(settings_of(NOWHERE, "FOO", reader))  # nothing differs, so nothing is written
    assert again.status().recorded == 1
    again.close()
    producer.close()
