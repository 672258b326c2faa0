"""A real Prometheus scrapes a real service, and evaluates our rules."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest

from kafka_replica.metrics.alerts import ALERTS, RECORDING_RULES
from kafka_replica.testing import FakeTopic
from support.paths import ROOT
from support.server.server_tools import running, until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="SKIPPED LOUDLY: prometheus is not installed (Debian: prometheus): it does NOT scrape the service",
    ),
]
RULES = ROOT / "deploy" / "monitoring" / "kafka-replica-rules.yml"


def free_port() -> int:
    """Return a port that is free at present."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def asked(address: str, path: str, **parameters: str) -> Any:
    """Return what Prometheus answers; None while it does not answer."""
    try:
        answer = httpx.get(f"{address}/api/v1/{path}", params=parameters)
    except httpx.TransportError:
        return None
    return answer.json()["data"] if answer.status_code == 200 else None


def test_prometheus_scrapes_the_replica_and_fires_an_alert(tmp_path: Path) -> None:
    """The target is up, values are the replica's, all rules are evaluated, and an alert fires for a bad record."""
    topic = FakeTopic("codes")
    topic.put("a", b"1")
    place = f"127.0.0.1:{free_port()}"
    with topic.replica(on_bad_record="skip") as replica, running(replica) as (service, _):
        replica.wait_ready(timeout_s=60)
        target = service.removeprefix("http://")
        scrape = {"job_name": "kafka-replica", "static_configs": [{"targets": [target]}]}
        config = {
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
            "rule_files": [str(RULES)],
            "scrape_configs": [scrape],
        }
        (tmp_path / "prometheus.yml").write_text(json.dumps(config))
        command = [
            "prometheus", f"--config.file={tmp_path / 'prometheus.yml'}", f"--storage.tsdb.path={tmp_path / 'data'}",
            f"--web.listen-address={place}",
        ]  # fmt: skip
        with (tmp_path / "log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            address = f"http://{place}"
            until(lambda: values(address, "kafka_replica_keys") == [1.0])
            assert [one["health"] for one in asked(address, "targets")["activeTargets"]] == ["up"]
            topic.put(None, b"no key")
            until(lambda: "KafkaReplicaBadRecords" in firing(address))
            rules = [rule for group in asked(address, "rules")["groups"] for rule in group["rules"]]
            assert len(rules) == len(ALERTS) + len(RECORDING_RULES)
            assert {rule["health"] for rule in rules} == {"ok"}
        finally:
            process.terminate()
            process.wait(60)


def values(address: str, query: str) -> list[float]:
    """Return the values of a query."""
    found = asked(address, "query", query=query)
    return [] if found is None else [float(one["value"][1]) for one in found["result"]]


def firing(address: str) -> set[str]:
    """Return the alerts that fire."""
    return {one["labels"]["alertname"] for one in asked(address, "alerts")["alerts"] if one["state"] == "firing"}
