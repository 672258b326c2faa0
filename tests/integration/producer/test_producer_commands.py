"""``kafka-replica producer`` in a separate process, as an operator uses it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import ConfigurationError
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.errors import OutboxUnavailableError
from kafka_replica.producer.notices.notices import Notice, Retry, Suspension
from kafka_replica.producer.outbox import Mode
from kafka_replica.producer.sources import record_source
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import producer_command, settings_of, transactions_of
from support.producer.structure_samples import codelist, urn
from support.waiting import wait_until


@pytest.mark.long
def test_an_operators_day(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run, idle; flush; suspend; resume; status; stop; delete. The password in the environment is shown nowhere.

    The file names no id: it is the default of the database.
    """
    topic = kafka_topic(config={"min.compaction.lag.ms": "600000"})
    file = tmp_path / "producer.toml"
    file.write_text(f"""
        [producer]
        topic = "{topic}"
        database = "sqlite:///{tmp_path / "o.db"}"
        lease_s = 2.0
        [kafka]
        "bootstrap.servers" = "{local_kafka.bootstrap_servers}"
        "sasl.password" = "${{KAFKA_PASSWORD}}"
    """)
    monkeypatch.setenv("KAFKA_PASSWORD", "hunter2")

    def command(name: str, *more: str, status: int = 0) -> str:
        done = CliRunner().invoke(kafka_replica, ["producer", name, "--config", str(file), *more])
        assert done.exit_code == status, (done.output, done.exception)
        assert "hunter2" not in done.output
        return done.stdout

    recorder = StructureProducer(read_configuration(file).producer)
    assert recorder.id.startswith("structures-")
    assert "Running: false" in command("status", status=1)
    running = subprocess.Popen(
        producer_command("run", "--config", str(file), "--json"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        with recorder.engine.begin() as connection:
            recorder.record(connection, [Put("a", b"1")])
        wait_until(lambda: recorder.status(watch_s=5).owner_lives, "it runs")
        assert "mode: idle" in command("status", status=1)
        command("flush")
        wait_until(lambda: recorder.status().pending == 0, "the flush is sent")
        assert command("status", "--watch-s", "30").startswith("Running: true\nmode: running\n")
        command("suspend", "--reason", "maintenance")
        with recorder.engine.begin() as connection:
            recorder.record(connection, [Put("b", b"1")])
        assert "mode: suspended (maintenance)" in command("status", status=1)
        command("resume")
        wait_until(lambda: recorder.status().pending == 0, "the producer continues")
        found = json.loads(command("status", "--json", "--watch-s", "30"))
        assert (found["running"], found["sent"], found["failed"]) == (True, 4, None)
    finally:
        running.send_signal(signal.SIGTERM)
        printed_lines, errors = running.communicate(timeout=60)
        recorder.close()
    assert running.returncode == 128 + signal.SIGTERM
    assert errors == ""
    events = [json.loads(each) for each in printed_lines.splitlines()]
    assert [each["tx_id"] for each in events if each["event"] == "acknowledgement"] == [1, 2, 3, 4]
    assert transactions_of(local_kafka.bootstrap_servers, topic) == [(1, 1), (2, 1), (4, 1)]
    command("delete", "--yes")
    assert b"hunter2" not in (tmp_path / "o.db").read_bytes()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[producer]\n[kafka]\nretries=1", "topic is missing"),
        ('[producer]\ntopic="a"', "kafka is missing"),
        ('[producer]\ntopic="a"\ntopics="b"\n[kafka]\nretries=1', "unknown topics"),
        ('[producer]\ntopic="a"\nlease_s="soon"\n[kafka]\nretries=1', "lease_s should be a number"),
        ('[producer]\ntopic="a"\nid=5\n[kafka]\nretries=1', "id should be a text"),
        ('[producer]\ntopic="${NOT_SET_ANYWHERE}"\n[kafka]\nretries=1', "NOT_SET_ANYWHERE is not set"),
        ('[producer]\ntopic="a"\n[kafka]\nretries=1\n[mail]\nhost="h"', "to is missing"),
        (
            '[producer]\ntopic="a"\n[kafka]\n"bootstrap.server"="a:1"',
            r"no property 'bootstrap\.server'.*'bootstrap\.servers'",
        ),
        ('[producer]\ntopic="a"\n[kafka]\nbootstrap_servers="a:1"', "did you mean 'bootstrap.servers'"),
        ('[producer]\ntopic="a"\n[kafka]\n"sasl.user"="me"', "did you mean 'sasl.username'"),
        ('[producer]\ntopic="a"\n[kafka]\nzzz="me"', "no property 'zzz'; see librdkafka's"),
        ("[other]", "unknown table other"),
        ("producer = 1", "must be a table"),
        ("[", "Invalid|Expected"),
    ],
)
def test_an_invalid_file_is_reported_with_its_line(text: str, says: str, tmp_path: Path) -> None:
    """A wrong file is reported before anything starts."""
    file = tmp_path / "producer.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match=says):
        read_configuration(file)


def test_java_properties_equal_the_toml_file(tmp_path: Path) -> None:
    """Numbers and flags are parsed as the settings require, also where there is no default."""
    toml, properties = tmp_path / "producer.toml", tmp_path / "producer.properties"
    toml.write_text(
        '[producer]\ntopic = "a,b"\nprogress_replication_factor = 2\nlease_s = 3.0\nskip_unchanged = false\n'
        '[kafka]\n"bootstrap.servers" = "localhost:1"\n'
    )
    properties.write_text(
        "producer.topic=a,b\nproducer.progress_replication_factor=2\nproducer.lease_s=3\n"
        "producer.skip_unchanged: false\nkafka.bootstrap.servers=localhost:1\n"
    )
    assert read_configuration(properties) == read_configuration(toml)
    properties.write_text("producer.topic=a\nproducer.progress_replication_factor=two\nkafka.bootstrap.servers=b:1\n")
    with pytest.raises(ConfigurationError, match="progress_replication_factor should be a number"):
        read_configuration(properties)


def test_nothing_is_replaced_by_files_with_bad_artefacts(tmp_path: Path) -> None:
    """Either all requested replacements are made or none; errors are reported before the database is needed."""
    file, structures = tmp_path / "producer.toml", tmp_path / "structures.xml"
    file.write_text('[producer]\ntopic = "a"\n[kafka]\n"bootstrap.servers" = "localhost:1"\n')
    structures.write_text(codelist("CL_A CL_B").replace('id="CL_B"', 'id="CL_B" isPartial="perhaps"'))
    done = CliRunner().invoke(kafka_replica, ["producer", "replace", "1", str(structures), "--config", str(file)])
    assert isinstance(done.exception, MessageError)
    assert str(done.exception).startswith(f"{structures}: {urn('CL_B')}")
    assert str(done.exception).endswith("nothing was replaced")


def test_a_key_that_is_not_utf_8(tmp_path: Path) -> None:
    """A record is shown, replaced and skipped by the bytes of its key, as a shell passes them."""
    file, value = tmp_path / "producer.toml", tmp_path / "value"
    value.write_bytes(b"other")
    file.write_text(f"""
        [producer]
        topic = "a"
        database = "sqlite:///{tmp_path / "o.db"}"
        [kafka]
        "bootstrap.servers" = "localhost:1"
    """)
    with closing(StructureProducer(read_configuration(file).producer)) as recorder:
        with recorder.engine.begin() as connection:
            recorder.record(connection, [Put(b"\xff1", b"one"), Put("b", b"two")])
        key = os.fsdecode(b"\xff1")

        def command(name: str, *arguments: str) -> Result:
            return CliRunner().invoke(
                kafka_replica, ["producer", name, "1", *arguments, "--key", key, "--config", str(file)]
            )

        assert command("show").stdout_bytes == b"one"
        assert "1 record" in command("replace", str(value)).output
        assert r"\xff1 of transaction 1 will be skipped" in command("skip").output
        amended = recorder.transactions()[0].amendments
        assert [(each.action, each.state) for each in amended] == [("skip", "requested")]
        key = os.fsdecode(b"\xff2")
        assert str(command("show").exception) == r"transaction 1 has no record of \xff2"


def test_a_busy_database_is_reported_as_such(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process writes to the file: each command raises an error of the outbox, and changes nothing."""
    monkeypatch.setattr("kafka_replica.producer.outbox.database._BUSY_MS", 100)
    settings = settings_of("localhost:1", "a", f"sqlite:///{tmp_path / 'o.db'}")
    with closing(StructureProducer(settings)) as producer, closing(sqlite3.connect(tmp_path / "o.db")) as other:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"1")])
        other.execute("BEGIN IMMEDIATE")
        commands: list[Callable[[], object]] = [
            producer.suspend, producer.resume, producer.flush, producer.delete, lambda: producer.skip(1),
            lambda: producer.replace(1, [Put("a", b"2")]), lambda: record_source(Listed(), producer),
        ]  # fmt: skip
        for each in commands:
            with pytest.raises(OutboxUnavailableError, match="database is locked"):
                each()
        other.rollback()
        status = producer.status()
        assert (status.mode, status.recorded) == (Mode.IDLE, 1)


class Listed:
    """A source with one artefact."""

    def read(self) -> list[Put]:
        """Return all content."""
        return [Put("b", b"1")]

    def forget(self) -> None:
        """Do nothing; each read returns everything."""


class BusyAtStart(StructureProducer):
    """Another process begins to write when this instance has the lease."""

    other: sqlite3.Connection

    def _step(self, name: str) -> None:
        if name == "leased" and not self.other.in_transaction:
            self.other.execute("BEGIN IMMEDIATE")


def test_a_first_start_waits_for_a_busy_database(
    local_kafka: LocalKafka,
    kafka_topic: TopicMaker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The first resumption fails because the database is busy: Kafka has not failed, and nothing is reported."""
    monkeypatch.setattr("kafka_replica.producer.outbox.database._BUSY_MS", 100)
    topic, notices = kafka_topic(), list[Notice]()
    settings = settings_of(
        local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}", lease_s=3600.0, retries=0
    )
    producer = BusyAtStart(settings, observers=[notices.append])
    with closing(sqlite3.connect(tmp_path / "o.db", check_same_thread=False)) as other:
        producer.other = other
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"1")])
        with producer:
            wait_until(lambda: "database is locked" in caplog.text, "it cannot write")
            other.rollback()
            wait_until(lambda: producer.status().pending == 0, "all is sent")
    assert "the relay failed" not in caplog.text
    assert not any(isinstance(each, (Retry, Suspension)) for each in notices)
