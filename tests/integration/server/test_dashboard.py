"""The dashboard on a real Prometheus that scrapes a real service and a real producer: every panel shows something."""

from __future__ import annotations

import json
import re
import shutil
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.metrics.dashboard import ROWS, dashboard
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.grafana import grafana, home, open_dashboard, panels_of
from support.monitored import CONFIG, monitored
from support.prometheus import query
from support.server.browser import browsing
from support.waiting import wait_until

pytestmark = [
    pytest.mark.broker,
    pytest.mark.long,
    pytest.mark.skipif(
        shutil.which("prometheus") is None,
        reason="SKIPPED LOUDLY: Prometheus is not installed (Debian: prometheus): panels are NOT queried",
    ),
]


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
    topic = kafka_topic("monitored", config=CONFIG)
    with monitored(local_kafka.bootstrap_servers, topic, tmp_path) as found:
        empty = dict.fromkeys(targets())
        for number in range(120):
            found.use(number)
            empty = {each: None for each in empty if not query(found.prometheus, each[1])}
            if not empty:
                break
            time.sleep(1)  # the interval of scraping
        assert list(empty) == []
        wait_until(lambda: bool(replicas(found.prometheus)))
        assert replicas(found.prometheus) == [topic]


def test_grafana_shows_each_panel(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A real Grafana imports the dashboard, and shows the series of each panel, without an error."""
    home()
    topic, place = kafka_topic("monitored", config=CONFIG), tmp_path / "grafana"
    place.mkdir()
    with (
        monitored(local_kafka.bootstrap_servers, topic, tmp_path) as found,
        grafana(place, str(found.prometheus.base_url)) as address,
        browsing(tmp_path) as browser,
    ):
        open_dashboard(browser, address)
        for number in range(120):
            found.use(number)
            missing = _missing(panels_of(browser), topic)
            if not missing:
                break
            time.sleep(1)
        assert missing == []


def _missing(shown: dict[str, str], topic: str) -> list[tuple[str, str]]:
    """Return the panels that do not show all their legends, and the first legend that is missing."""
    found = []
    for panel in (panel for row in ROWS.values() for panel in row):
        legends = [legend for _, legend in panel.series]
        if panel.title == "State":  # two panels have this title
            legends = [f"{topic}: live", ": running"]
        for legend in legends:
            parts = re.split(r"\{\{\w+\}\}", legend.replace("{{replica}}", topic))
            text = shown.get(panel.title, "").replace(panel.title, "").strip()
            if not text or "No data" in text or not all(part in text for part in parts):
                found.append((panel.title, legend))
    return found


def replicas(client: httpx.Client) -> list[str]:
    """Return the values of the dashboard's variable."""
    answer = client.get("/api/v1/label/replica/values", params={"match[]": "kafka_replica_ready"})
    assert answer.status_code == 200, answer.text
    found: list[str] = answer.json()["data"]
    return found
