"""A producer that watches a folder or a service, as an operator runs it, on a real broker."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

import pytest
from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.ports import choose_port
from kafka_replica.errors import ConfigurationError
from kafka_replica.metrics.producer import export_producer, serve_metrics, unexport_producer
from kafka_replica.metrics.replica import export_replica
from kafka_replica.producer import Delete, Put, StructureProducer
from kafka_replica.producer.configuration_files.configuration import make_source, read_configuration
from kafka_replica.producer.notices.notices import Notice, SourceFailure, SourceRead
from kafka_replica.producer.sources import FolderSettings, FolderSource, ServiceSettings, ServiceSource, Watcher
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.producer.producer_tools import log_of, producer_command, settings_of, transactions_of
from support.producer.sdmx_service import Response, SdmxService
from support.producer.structure_samples import codelist, urn
from support.waiting import wait_until

KEEP = {"min.compaction.lag.ms": "600000"}
PREFIX = "kafka_replica_producer_"


def shown(text: str) -> dict[str, float]:
    """Return metrics of the producer by name, with the labels that are not common to all."""
    found = {}
    for each in text.splitlines():
        if each.startswith(PREFIX):
            name, _, value = each.rpartition(" ")
            bare, _, labels = name.removeprefix(PREFIX).partition("{")
            more = [label for label in labels.rstrip("}").split(",") if not label.startswith(("producer=", "topic="))]
            found["".join([bare, *more])] = float(value)
    return found


@contextmanager
def running(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The command, until the end of the block."""
    command = [*producer_command("run", *arguments), "--json"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


@pytest.mark.long
def test_a_watched_folder_on_the_command_line(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Added files are published, removed ones deleted; metrics show the status."""
    topic, bootstrap, port = kafka_topic(config=KEEP), local_kafka.bootstrap_servers, choose_port()
    folder = tmp_path / "structures"
    folder.mkdir()
    (folder / "a.xml").write_text(codelist("CL_A CL_B"))
    file = tmp_path / "producer.toml"
    file.write_text(f"""
        [producer]
        topic = "{topic}"
        database = "sqlite:///{tmp_path / "o.db"}"
        media_type = "application/vnd.fusion.json"
        first_start = "resume"
        [kafka]
        "bootstrap.servers" = "{bootstrap}"
    """)

    def metrics() -> dict[str, float]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=30) as answer:
            return shown(answer.read().decode())

    with running("--config", str(file), "--watch", str(folder), "--metrics-port", str(port)) as process:
        recorder = StructureProducer(read_configuration(file).producer)
        wait_until(lambda: recorder.status().sent == 1, "the folder is published")
        (folder / "b.xml").write_text(codelist("CL_C"))
        (folder / "a.xml").write_text(codelist("CL_A"))
        wait_until(lambda: recorder.status().sent == 3, "what changes is published")
        recorder.close()
        found = metrics()
        assert (found["leader"], found["database_up"], found["source_up"]) == (1, 1, 1)
        assert (found['statestate="running"'], found['statestate="failed"']) == (1, 0)
        assert (found["sent_transactions_total"], found["acknowledged_transactions_total"]) == (3, 3)
        assert (found["pending_transactions"], found["oldest_pending_age_seconds"]) == (0, 0)
        (folder / "b.xml").write_text("half a f")
        wait_until(lambda: metrics()["source_up"] == 0, "the source fails")
    assert process.returncode == 128 + signal.SIGTERM
    log = [(record.key.decode(), record.value is not None) for record, _ in log_of(bootstrap, topic)]
    assert log == [(urn("CL_A"), True), (urn("CL_B"), True), (urn("CL_C"), True), (urn("CL_B"), False)]
    assert transactions_of(bootstrap, topic) == [(1, 2), (2, 1), (3, 1)]


@pytest.mark.long
def test_only_the_publishing_instance_watches(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Only the publishing instance watches; the other begins when it takes over, including all changes by then."""
    topic, received = kafka_topic(config=KEEP), list[Notice]()
    # Closing the first one ends its lease, which must not end before, on a slow machine.
    settings = settings_of(local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}", lease_s=60.0)
    with SdmxService(etags=True) as service:
        service.answers["*"] = Response(codelist("CL_A"))
        source = ServiceSource(ServiceSettings(service.url, interval_s=0.1, retries=0))
        idle = ServiceSource(ServiceSettings(service.url + "/other", interval_s=0.1))
        first, second = StructureProducer(settings, observers=[received.append]), StructureProducer(settings)
        with first:
            wait_until(lambda: first.leads, "it has the lease")
            with second, Watcher(idle, second):
                with Watcher(source, first):
                    wait_until(lambda: first.status().sent == 1, "it publishes")
                    service.answers["*"] = Response("no", 500)
                    wait_until(lambda: any(isinstance(notice, SourceFailure) for notice in received), "it fails")
                    before = len(received)
                    service.answers["*"] = Response(codelist("CL_A"))
                    wait_until(
                        lambda: any(isinstance(notice, SourceRead) for notice in received[before:]), "it is well again"
                    )
                    assert first.counts.source_error is None
                    assert not any("other" in http_request.path for http_request in service.requests)
                first.close()
                service.answers["*"] = Response(codelist("CL_A CL_B"))
                wait_until(lambda: second.status().sent == 2, "the other one publishes")
        failures = [notice for notice in received if isinstance(notice, SourceFailure)]
        assert len(failures) == 1, "each reason once"


def _refusing(key: bytes, value: bytes, content_type: str | None, wanted: str) -> NoReturn:
    raise ValueError("cannot be written")


@pytest.mark.parametrize("why", ["there is no broker", "it has suspended itself"])
def test_metrics_of_a_suspended_producer_show_pending_transactions(
    why: str, tmp_path: Path, local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """Metrics show pending transactions, their age and the reason; without its database they show that."""
    bootstrap = local_kafka.bootstrap_servers if why == "it has suspended itself" else "127.0.0.1:1"
    timeout_s = 30.0 if why == "it has suspended itself" else 0.5
    topic = kafka_topic()
    database = f"sqlite:///{tmp_path / 'o.db'}"
    # Otherwise content that cannot be written would not be recorded.
    settings = settings_of(bootstrap, topic, database, prefix=topic, timeout_s=timeout_s, validate=False)
    registry = CollectorRegistry()
    producer = StructureProducer(settings, encoder=_refusing)
    export_producer(producer, registry=registry)

    def metrics() -> dict[str, float]:
        return shown(generate_latest(registry).decode())

    with producer:
        with producer.engine.begin() as connection:
            producer.record(connection, [Put("a", b"1234")])
        if why == "there is no broker":
            wait_until(lambda: metrics()["retrying"] == 1, "it tries again")
            found = metrics()
            assert (found["failed_transaction_status"], found['statestate="running"']) == (0, 1)
            assert found["retries_total"] >= 1
        else:
            wait_until(lambda: metrics()['statestate="failed"'] == 1, "it is suspended")
            wait_until(lambda: metrics()['suspensions_totalstatus="2"'] == 1, "it has told so")
            found = metrics()
            assert (found["failed_transaction_status"], found["retrying"]) == (2, 0)
        assert (found["pending_transactions"], found["pending_bytes"]) == (1, 5)
        assert 0 < found["oldest_pending_age_seconds"] < 3600
        assert (found["sent_transactions_total"], "last_sent_timestamp_seconds" in found) == (0, False)
        producer.suspend()
    with producer.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE kafka_producer_state")
    found = metrics()
    assert (found["database_up"], found["leader"]) == (0, 0)
    assert "pending_transactions" not in found
    unexport_producer("structures", registry=registry)
    assert metrics() == {}
    producer.close()


def test_a_metrics_port_in_use_is_named() -> None:
    """A port in use is named in the error."""
    port = choose_port()
    close = serve_metrics(port, registry=CollectorRegistry())
    try:
        with pytest.raises(ConfigurationError, match=f"port {port}"):
            serve_metrics(port, registry=CollectorRegistry())
    finally:
        close()


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('folders = "a"', "folders should be a list"),
        ('folders = ["a"]\nurl = "http://x"', "unknown folders"),
        ("quiet_s = 1.0", "folders is missing"),
        ('url = ["http://x"]', "url should be a text"),
    ],
)
def test_a_source_in_the_file_that_is_wrong(text: str, says: str, tmp_path: Path) -> None:
    """A wrong source in the file is reported before anything starts."""
    file = tmp_path / "producer.toml"
    file.write_text(f'[producer]\ntopic = "a"\n[kafka]\nretries = 1\n[source]\n{text}')
    with pytest.raises(ConfigurationError, match=says):
        read_configuration(file)


def test_a_source_in_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder or a service is read from the file; secrets come from the environment, and are shown nowhere."""
    file = tmp_path / "producer.toml"
    head = '[producer]\ntopic = "a"\n[kafka]\nretries = 1\n[source]\n'
    monkeypatch.setenv("WHERE", "structures")
    file.write_text(head + 'folders = ["${WHERE}", "more"]\nallow_empty = true')
    found = read_configuration(file).source
    assert found == FolderSettings(("structures", "more"), allow_empty=True)
    assert isinstance(make_source(found, ""), FolderSource)
    monkeypatch.setenv("TOKEN", "hunter2")
    file.write_text(head + 'url = "http://x/rest"\napi = "1"\nstructures = ["codelist/ECB"]\ntoken = "${TOKEN}"')
    configuration = read_configuration(file)
    assert configuration.source == ServiceSettings("http://x/rest", "1", ("codelist/ECB",), token="hunter2")
    assert "hunter2" not in repr(configuration)
    assert isinstance(make_source(configuration.source, ""), ServiceSource)


def test_each_version_of_a_replica_is_one_transaction_of_the_source(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A version has its source transaction by name and in order, including deletions, and its latency."""
    topic = kafka_topic(config=KEEP)
    settings = settings_of(local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}")
    with (
        Replica({"bootstrap.servers": local_kafka.bootstrap_servers, "log_level": 0}, topic) as replica,
        StructureProducer(settings) as producer,
    ):
        replica.wait_ready(timeout_s=60)
        named: list[tuple[str, ...] | None] = []
        replica.subscribe(lambda change: named.append(change.source_transactions), max_pending=1000)
        for number in range(20):
            with producer.engine.begin() as connection:
                gone = [Delete(f"k{number - 1}")] if number else []
                producer.record(connection, [Put(f"k{number}", b"1"), Put("all", b"%d" % number), *gone])
        wait_until(lambda: len(named) == 40, f"all have come: {named}")
        assert named[0] == ()
        assert named[1:] == [(f"structures/{number}",) for number in range(1, 40)]
        registry = CollectorRegistry()
        export_replica(replica, registry=registry)
        text = generate_latest(registry).decode()
        (count,) = re.findall(r"kafka_replica_end_to_end_latency_seconds_count\{[^}]*\} ([0-9.]+)", text)
        assert float(count) == 39
        (total,) = re.findall(r"kafka_replica_end_to_end_latency_seconds_sum\{[^}]*\} ([0-9.]+)", text)
        assert 0 < float(total) < 39 * 60
