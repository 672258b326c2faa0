"""The dashboard on a real Prometheus that scrapes a real service and a real producer: every panel shows something."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, start_http_server

from kafka_replica.embedded import LocalKafka
from kafka_replica.metrics.dashboard import dashboard
from kafka_replica.metrics.producer import export_producer
from kafka_replica.producer import Put, StructureProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support import plain_http
from support.producer.producer_tools import settings_of
from support.prometheus import prometheus, query
from support.server.server_tools import ServerProcess, until_ready
from support.waiting import wait_until

pytestmark = [
    pytest.mark.broker,
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="SKIPPED LOUDLY: Prometheus is not installed (Debian: prometheus): panels are NOT queried",
    ),
]
KEY = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_A(1.0)"


def targets() -> list[tuple[str, str]]:
    """Return title and expression of each series of the dashboard, with all replicas chosen."""
    found: list[tuple[str, str]] = []
    panels: list[dict[str, Any]] = json.loads(dashboard())["panels"]
    for panel in panels:
        series = panel.get("targets", ())
        found += [(panel["title"], each["expr"].replace("$replica", ".*")) for each in series]
    return found


def test_every_series_of_every_panel_has_data(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Prometheus accepts each expression and finds series for it, and replicas to choose from."""
    topic = kafka_topic("monitored", config={"min.compaction.lag.ms": "600000"})
    settings = settings_of(local_kafka.bootstrap_servers, topic, f"sqlite:///{tmp_path / 'o.db'}")
    registry = CollectorRegistry()
    arguments = ("--bootstrap-server", local_kafka.bootstrap_servers, "--topic", topic)
    with StructureProducer(settings) as producer, ServerProcess(tmp_path, *arguments) as service:
        export_producer(producer, registry=registry)
        server, thread = start_http_server(0, addr="127.0.0.1", registry=registry)
        until_ready(service)
        try:
            with prometheus(tmp_path, service.address, f"http://127.0.0.1:{server.server_port}") as client:
                empty = dict.fromkeys(targets())
                for number in range(120):
                    with producer.engine.begin() as connection:
                        producer.record(connection, [Put(KEY, b"%d" % number)])
                    assert plain_http.get(f"{service.address}/health/live").status_code == 200
                    empty = {each: None for each in empty if not query(client, each[1])}
                    if not empty:
                        break
                    time.sleep(1)  # the interval of scraping
                assert list(empty) == []
                wait_until(lambda: bool(replicas(client)))
                assert replicas(client) == [topic]
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def replicas(client: httpx.Client) -> list[str]:
    """Return the values of the dashboard's variable."""
    answer = client.get("/api/v1/label/replica/values", params={"match[]": "kafka_replica_ready"})
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()["data"]
    return found
