"""The examples in docs/producer.md and those of the producer in docs/metrics.md run as they are written there."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import psycopg
import pytest
from sqlalchemy import create_engine

from kafka_replica.embedded import ports
from kafka_replica.producer import ProducerSettings, Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import read_configuration
from kafka_replica.producer.outbox import Outbox, migrate
from kafka_replica.sdmx import split_message
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.doc_blocks import programs
from support.docs.page_world import PageWorld
from support.producer.postgres_tools import LocalPostgres
from support.producer.producer_tools import transactions_of
from support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.mark.runs("docs/producer.md", containing="Delete, ProducerSettings")
def test_the_first_program(world: PageWorld, kafka_topic: TopicMaker) -> None:
    """Both topics get the transactions that the program of the page records."""
    foo, bar = kafka_topic("foo"), kafka_topic("bar")
    world.run_python(
        "docs/producer.md", {}, {'"FOO,BAR"': f'"{foo},{bar}"'}, containing="Delete, ProducerSettings"
    )  # fmt: skip
    assert transactions_of(world.bootstrap, foo) == transactions_of(world.bootstrap, bar) != []


@pytest.mark.runs("docs/producer.md", language="toml", containing="[source]")
def test_the_settings_files(world: PageWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both files are accepted, with the values that the page shows; the second one is a source of the first."""
    for name in ("DB_PASSWORD", "SMTP_PASSWORD", "REGISTRY_PASSWORD"):
        monkeypatch.setenv(name, f"value of {name}")
    whole, service = programs("docs/producer.md", language="toml", containing="[source]")
    Path("producer.toml").write_text(whole)
    found = read_configuration(Path("producer.toml"))
    assert (found.producer.id, found.producer.topics) == ("registry-1", ("FOO", "BAR"))
    assert found.mail is not None
    assert found.mail.password == "value of SMTP_PASSWORD"
    Path("other.toml").write_text(whole.partition("[source]")[0] + service)
    source: Any = read_configuration(Path("other.toml")).source
    assert (source.interval_s, source.password) == (60, "value of REGISTRY_PASSWORD")
    assert len(source.structures) == 2


@pytest.mark.long
@pytest.mark.runs("docs/producer.md", containing="registry.structures")
@pytest.mark.runs("docs/producer.md", containing='env = "registry"')
@pytest.mark.runs("docs/producer.md", containing="topics create")
@pytest.mark.runs("docs/producer.md", containing="import sqlite3")
def test_an_application_that_only_records(world: PageWorld) -> None:
    """The service creates the producer; the application's two transactions arrive in the declared topic."""
    environment = f"registry{uuid.uuid4().hex[:12]}"
    (settings,) = programs("docs/producer.md", containing="registry.structures")
    (topics,) = programs("docs/producer.md", containing='env = "registry"')
    (commands,) = programs("docs/producer.md", containing="topics create")
    settings = settings.replace("registry.structures", f"{environment}.structures")
    Path("producer.toml").write_text(settings.replace("localhost:9092", world.bootstrap))
    Path("topics.toml").write_text(topics.replace('"registry"', f'"{environment}"'))
    *before, run = commands.replace("localhost:9092", world.bootstrap).splitlines()
    done = world.shell("\n".join(before))
    assert done.returncode == 0, done.stderr
    assert "created the producer's tables" in done.stdout
    words = [str(Path(sys.executable).with_name("kafka-replica")), *shlex.split(run, comments=True)[1:]]
    with Path("producer.log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            status = "kafka-replica producer status --config producer.toml --watch-s 30"
            wait_until(lambda: "Running: true" in world.shell(status).stdout, "the service has started")
            world.run_python("docs/producer.md", {}, containing="import sqlite3")
            wait_until(lambda: len(transactions_of(world.bootstrap, f"{environment}.structures")) == 2)
        finally:
            process.terminate()


@pytest.mark.runs("docs/producer.md", containing="import psycopg")
def test_recording_with_psycopg(world: PageWorld, postgres: LocalPostgres) -> None:
    """The message and its record are committed together."""
    url = postgres.url(f"page_{uuid.uuid4().hex[:12]}")
    plain = url.replace("postgresql+psycopg:", "postgresql:")
    outbox, engine = Outbox("structures"), create_engine(url)
    migrate(engine)
    with engine.begin() as connection:
        outbox.create(connection, topic="FOO")
    with psycopg.connect(plain) as own:
        own.execute("CREATE TABLE structures (urn text, message bytea)")
        own.execute("INSERT INTO structures VALUES ('urn:a', 'old')")
    names = {"outbox": outbox, "Put": Put, "urn": "urn:a", "message": b"new", "media_type": "text/plain"}
    world.run_python("docs/producer.md", names, {"dbname=registry": plain}, containing="import psycopg")
    names["connection"].close()  # type: ignore[attr-defined]
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT message FROM structures").scalar() == b"new"
        assert connection.exec_driver_sql("SELECT count(*) FROM kafka_producer_tx").scalar() == 1
    engine.dispose()


@pytest.fixture
def settings_file(world: PageWorld, kafka_topic: TopicMaker) -> Callable[..., str]:
    """Return a function that writes producer.toml and returns the name of its new topic."""

    def write(**more: str) -> str:
        topic = kafka_topic("produced")
        lines = [f'{name} = "{value}"' for name, value in {"topic": topic, **more}.items()]
        text = "\n".join(["[producer]", 'database = "sqlite:///outbox.db"', *lines, "[kafka]"])
        (world.folder / "producer.toml").write_text(f'{text}\n"bootstrap.servers" = "{world.bootstrap}"\n')
        return topic

    return write


@pytest.mark.long
@pytest.mark.runs("docs/producer.md", containing="--watch structures")
@pytest.mark.runs("docs/metrics.md", language="sh")
def test_the_commands_that_run_a_producer(world: PageWorld, settings_file: Callable[..., str]) -> None:
    """A watched folder is sent to the topic, and the metrics are served at the port."""
    topic = settings_file(first_start="resume")
    shutil.copytree(
        sample_files()[0].parent, world.folder / "structures", ignore=shutil.ignore_patterns("*.py*", "ex*")
    )
    port = str(ports.choose_port())
    (watch,) = programs("docs/producer.md", containing="--watch structures")
    (metrics,) = programs("docs/metrics.md", language="sh")
    words = [*shlex.split(watch), *shlex.split(metrics.replace("9101", port))[-2:]]
    words[0] = str(Path(sys.executable).with_name("kafka-replica"))
    with Path("producer.log").open("wb") as log, subprocess.Popen(words, stdout=log, stderr=log) as process:
        try:
            wait_until(
                lambda: _scraped(port).count('status="') > 0 or "kafka_replica_producer_leader" in _scraped(port)
            )
            wait_until(lambda: len(transactions_of(world.bootstrap, topic)) == 1, "the folder is sent")
        finally:
            process.terminate()
    assert "--metrics-port" in metrics


def _scraped(port: str) -> str:
    try:
        return plain_http.get(f"http://127.0.0.1:{port}/metrics").text
    except httpx.TransportError:
        return ""


@pytest.mark.runs("docs/metrics.md", containing="export_producer")
def test_metrics_of_a_producer(world: PageWorld, kafka_topic: TopicMaker) -> None:
    """The port has the metrics of the producer."""
    from kafka_replica.metrics.producer import unexport_producer

    settings = ProducerSettings(topic=kafka_topic("m"), kafka=world.config, database="sqlite:///outbox.db", id="pages")
    port = str(ports.choose_port())
    with StructureProducer(settings) as producer:
        names: dict[str, Any] = {"producer": producer}
        world.run_python("docs/metrics.md", names, {"9101": port}, containing="export_producer")
        assert 'kafka_replica_producer_leader{producer="pages"' in _scraped(port)
        names["close"]()
    unexport_producer("pages")


@pytest.mark.long
@pytest.mark.runs("docs/producer.md", containing="producer claim")
@pytest.mark.runs("docs/producer.md", containing="producer list")
def test_the_commands_for_transactions_that_cannot_be_sent(world: PageWorld, settings_file: Callable[..., str]) -> None:
    """The database is claimed; a transaction is listed, shown, given other content, and skipped."""
    settings_file()
    codelists = (sample_files()[0].parent / "labour_codelists.sdmx21.xml").read_bytes()
    (sexes,) = (part for part in split_message(codelists) if "CL_SEX" in str(part.urn))
    (world.folder / "mended.xml").write_bytes(sexes.value.replace(b"Female", b"Women"))
    settings = read_configuration(world.folder / "producer.toml").producer
    with StructureProducer(settings) as producer, producer.engine.begin() as connection:
        producer.record(connection, [Put(str(sexes.urn), sexes.value, sexes.content_type)])
    (text,) = programs("docs/producer.md", containing="producer list")
    done = {line.split()[2]: world.shell(re.sub(r"\b17\b", "1", line)) for line in text.splitlines()}
    assert str(sexes.urn) in done["show"].stdout
    assert {name: each.returncode for name, each in done.items()} == dict.fromkeys(done, 0), done
    world.run_shell("docs/producer.md", containing="producer claim")
