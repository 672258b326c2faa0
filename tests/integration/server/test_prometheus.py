"""A real Prometheus scrapes a real service, and evaluates our rules."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from kafka_replica.metrics.alerts import ALERTS, RECORDING_RULES
from kafka_replica.testing import FakeTopic
from support.prometheus import prometheus, query
from support.server.server_tools import running
from support.waiting import wait_until

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="SKIPPED LOUDLY: prometheus is not installed (Debian: prometheus): it does NOT scrape the service",
    ),
]


def query_prometheus(client: httpx.Client, path: str, **parameters: str) -> Any:
    """Return what Prometheus answers."""
    answer = client.get(f"/api/v1/{path}", params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json()["data"]


def test_prometheus_scrapes_the_replica_and_fires_an_alert(tmp_path: Path) -> None:
    """The target is up, values are the replica's, all rules are evaluated, and an alert fires for a bad record."""
    topic = FakeTopic("codes")
    topic.put("a", b"1")
    with (
        topic.replica(on_bad_record="skip") as replica,
        running(replica) as (service, _),
        prometheus(tmp_path, service) as client,
    ):
        replica.wait_ready(timeout_s=60)
        wait_until(lambda: values(client, "kafka_replica_keys") == [1.0])
        assert [one["health"] for one in query_prometheus(client, "targets")["activeTargets"]] == ["up"]
        topic.put(None, b"no key")
        wait_until(lambda: "KafkaReplicaBadRecords" in firing(client))
        rules = [rule for group in query_prometheus(client, "rules")["groups"] for rule in group["rules"]]
        assert len(rules) == len(ALERTS) + len(RECORDING_RULES)
        assert {rule["health"] for rule in rules} == {"ok"}


def values(client: httpx.Client, expression: str) -> list[float]:
    """Return the values of a query."""
    return [float(one["value"][1]) for one in query(client, expression)]


def firing(client: httpx.Client) -> set[str]:
    """Return the alerts that fire."""
    return {
        one["labels"]["alertname"] for one in query_prometheus(client, "alerts")["alerts"] if one["state"] == "firing"
    }
