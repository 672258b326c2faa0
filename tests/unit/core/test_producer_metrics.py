"""Metrics of producers whose databases do not answer, and the port on which metrics are served."""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn

import pytest
from click.testing import CliRunner
from prometheus_client import CollectorRegistry, generate_latest

from kafka_replica.cli.commands import producer as command
from kafka_replica.cli.groups import kafka_replica
from kafka_replica.embedded.ports import choose_port
from kafka_replica.errors import ConfigurationError
from kafka_replica.metrics import producer as producer_metrics
from kafka_replica.metrics.producer import announce_producer, export_producer, serve_metrics
from kafka_replica.producer.errors import OutboxUnavailableError
from kafka_replica.producer.notices.counts import ProducerCounts
from support import plain_http

LABELS = {"producer": "p", "topic": "t"}


class HangingProducer:
    """A producer whose database answers only when it is told to."""

    settings = SimpleNamespace(id="p", topic="t")
    leads = True

    def __init__(self) -> None:
        self.counts = ProducerCounts(transactions=3)
        self.queries = 0
        self.answers = threading.Event()

    def status(self) -> Any:
        """Wait, and return a status."""
        self.queries += 1
        assert self.answers.wait(60)
        return SimpleNamespace(
            mode="running", pending=5, pending_bytes=0, oldest_pending_ms=None, retrying=False, last_sent_ms=None,
            recorded=0, sent=0, not_carried=0, skipped=0, skipped_records=0, failed=None,
        )  # fmt: skip


@pytest.mark.thorough
def test_a_database_that_hangs_is_exported_as_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of the instance itself are exported; one query runs at a time, and its answer counts when it comes."""
    monkeypatch.setattr(producer_metrics, "_ANSWER_WITHIN_S", 0.05)
    registry, hanging = CollectorRegistry(), HangingProducer()
    export_producer(hanging, registry=registry)

    def value(name: str) -> float | None:
        return registry.get_sample_value(f"kafka_replica_producer_{name}", LABELS)

    try:
        for _ in range(3):
            assert (value("database_up"), value("pending_transactions")) == (0, None)
        assert value("acknowledged_transactions_total") == 3
        assert value("leader") == 1
        assert hanging.queries == 1
    finally:
        hanging.answers.set()
    monkeypatch.setattr(producer_metrics, "_ANSWER_WITHIN_S", 60.0)
    assert (value("database_up"), value("pending_transactions")) == (1, 5)


def test_a_producer_that_waits_for_its_database_is_exported_as_down() -> None:
    """Only the state of the database is known; the producer itself takes the place of the announcement."""
    registry, made = CollectorRegistry(), HangingProducer()
    made.answers.set()
    withdraw = announce_producer("p", "t", registry=registry)
    labels = 'producer="p",topic="t"'
    samples = [line for line in generate_latest(registry).decode().splitlines() if labels in line]
    assert samples == [f"kafka_replica_producer_database_up{{{labels}}} 0.0"]
    export_producer(made, registry=registry)
    assert registry.get_sample_value("kafka_replica_producer_database_up", LABELS) == 1
    withdraw()
    assert registry.get_sample_value("kafka_replica_producer_database_up", LABELS) == 1


@pytest.mark.parametrize("port", [-1, 70_000, "9101"])
def test_an_impossible_port_is_refused(port: Any) -> None:
    """The error names the port."""
    with pytest.raises(ConfigurationError, match=f"port={port!r} is not possible"):
        serve_metrics(port, registry=CollectorRegistry())


@pytest.mark.thorough
def test_metrics_are_served_before_the_database_is_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """While ``producer run`` waits for its database, the port answers that the database is down."""
    port = choose_port()
    file = tmp_path / "producer.toml"
    file.write_text('[producer]\nid = "p"\ntopic = "t"\n[kafka]\n"bootstrap.servers" = "127.0.0.1:1"\n')
    scraped = []

    def open_producer(*_: object) -> NoReturn:
        scraped.append(plain_http.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text)
        raise OutboxUnavailableError("there is no database")

    monkeypatch.setattr(command, "_open_producer", open_producer)
    run = CliRunner().invoke(kafka_replica, ["producer", "run", "--config", str(file), "--metrics-port", str(port)])
    assert isinstance(run.exception, OutboxUnavailableError), run.output
    assert 'kafka_replica_producer_database_up{producer="p",topic="t"} 0.0' in scraped[0]
    assert 'producer="p"' not in generate_latest().decode()
