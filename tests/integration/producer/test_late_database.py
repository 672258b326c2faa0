"""A producer that is started before its database waits, reports this, and begins when a real PostgreSQL is up."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from click.testing import CliRunner

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.ports import choose_port
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.errors import OutboxError, OutboxUnavailableError
from kafka_replica.producer.notices.notices import DatabaseWait, Notice
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.postgres_tools import LocalPostgres, running_postgres
from support.producer.producer_tools import settings_of, transactions_of
from support.waiting import wait_until

pytestmark = pytest.mark.long

NOWHERE = "postgresql+psycopg://app:hunter2@127.0.0.1:{port}/registry"


@pytest.fixture
def late() -> Iterator[tuple[LocalPostgres, str]]:
    """A server with a database that is not running, and the database's URL."""
    with running_postgres() as server:
        url = server.url("registry")
        server.kill()
        yield server, url


def test_a_producer_that_starts_early_waits_for_the_database(
    late: tuple[LocalPostgres, str], kafka_topic: TopicMaker, local_kafka: LocalKafka
) -> None:
    """A producer that starts too early waits without intervention, and observers get the reason."""
    server, url = late
    topic, received = kafka_topic(), list[Notice]()
    settings = settings_of(local_kafka.bootstrap_servers, topic, url, database_wait_s=math.inf)
    with ThreadPoolExecutor(1) as thread:
        making = thread.submit(StructureProducer, settings, observers=[received.append])
        wait_until(lambda: len(received) >= 2, "it says that it waits")
        assert all(isinstance(each, DatabaseWait) for each in received)
        assert "127.0.0.1" in received[0].reason  # type: ignore[union-attr]
        assert server.password not in str(received)
        server.start()
        producer = making.result(60)
    with producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"1")])
        wait_until(lambda: producer.status().sent == 1, "it publishes")
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 1)]


def test_the_command_waits_and_others_do_not(
    late: tuple[LocalPostgres, str], kafka_topic: TopicMaker, local_kafka: LocalKafka, tmp_path: Path
) -> None:
    """``run`` is a service and waits; the status command fails immediately."""
    server, url = late
    file = tmp_path / "producer.toml"
    file.write_text(f"""
        [producer]
        topic = "{kafka_topic()}"
        database = "{url}"
        first_start = "resume"
        [kafka]
        "bootstrap.servers" = "{local_kafka.bootstrap_servers}"
    """)
    status_result = CliRunner().invoke(kafka_replica, ["producer", "status", "--config", str(file)])
    assert isinstance(status_result.exception, OutboxUnavailableError)
    command = [str(Path(sys.executable).with_name("kafka-replica")), "producer", "run", "--config", str(file), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as running:
        try:
            assert running.stdout is not None
            first = json.loads(running.stdout.readline())
            assert first["event"] == "database_wait", first
            server.start()
            events = (json.loads(line)["event"] for line in running.stdout)
            assert next(event for event in events if event != "database_wait") == "takeover"
        finally:
            running.send_signal(signal.SIGINT)
            running.communicate(timeout=60)


def test_the_error_states_the_time_waited_and_no_password() -> None:
    """The error gives the time that was waited, and no password."""
    settings = settings_of("localhost:1", "FOO", NOWHERE.format(port=choose_port()), database_wait_s=0.6)
    received: list[Notice] = []
    with pytest.raises(OutboxUnavailableError, match=r"check that it runs.* \(tried for 0.6 s\)") as caught:
        StructureProducer(settings, observers=[received.append])
    assert received
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ConfigurationError, match="database_wait_s"):
        settings_of("localhost:1", "FOO", "sqlite://", database_wait_s=-1.0)


def test_permanent_database_faults_are_reported_immediately(tmp_path: Path, postgres: LocalPostgres) -> None:
    """A missing folder of the file, and a user without permissions, are reported immediately."""
    received: list[Notice] = []
    missing = settings_of("localhost:1", "FOO", f"sqlite:///{tmp_path}/none/o.db", database_wait_s=math.inf)
    with pytest.raises(OutboxError, match="folder exists"):
        StructureProducer(missing, observers=[received.append])
    url = postgres.url("closed")
    with postgres.connect("closed") as connection:
        connection.execute("CREATE ROLE guest LOGIN PASSWORD 'hunter2'")
        connection.execute("REVOKE ALL ON SCHEMA public FROM PUBLIC")
        connection.execute("GRANT USAGE ON SCHEMA public TO guest")
    guest = url.replace(f"app:{postgres.password}", "guest:hunter2")
    with pytest.raises(OutboxError, match="permission denied") as caught:
        StructureProducer(
            settings_of("localhost:1", "FOO", guest, database_wait_s=math.inf), observers=[received.append]
        )
    assert not isinstance(caught.value, OutboxUnavailableError)
    assert not received
