"""A real Grafana with the project's dashboard, on a Prometheus. Nothing that is installed elsewhere is used or changed.

The variable KAFKA_REPLICA_GRAFANA has the folder of a Grafana, as its archive has it, with ``bin`` and ``public``.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import httpx
import pytest

from kafka_replica.embedded import ports
from kafka_replica.metrics.dashboard import dashboard
from support import plain_http
from support.server.browser import Browser
from support.waiting import wait_until

VARIABLE: Final = "KAFKA_REPLICA_GRAFANA"
SIZE: Final = (1600, 2200)
"""The width and height of a window that shows the whole dashboard, in pixels."""


def home() -> Path:
    """Return the folder of Grafana; skip the test if there is none."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"SKIPPED LOUDLY: the dashboard is NOT opened in Grafana: {VARIABLE} names no folder of a Grafana")
    return Path(folder)


@contextmanager
def grafana(folder: Path, prometheus_address: str) -> Iterator[str]:
    """Run Grafana with all its files in a folder; yield its address."""
    place, port = home(), ports.choose_port()
    (program,) = place.glob("bin/**/grafana")
    (folder / "dashboards").mkdir()
    (folder / "dashboards" / "kafka-replica.json").write_text(dashboard())
    source = {"name": "Prometheus", "type": "prometheus", "access": "proxy", "url": prometheus_address}
    interval = {"jsonData": {"timeInterval": "1s"}}  # that of ``support.prometheus``
    files = {"name": "files", "type": "file", "options": {"path": str(folder / "dashboards")}}
    for kind, content in (
        ("datasources", {"datasources": [source | interval | {"isDefault": True}]}),
        ("dashboards", {"providers": [files]}),
    ):
        (folder / "provisioning" / kind).mkdir(parents=True)
        # JSON is YAML
        (folder / "provisioning" / kind / "own.yaml").write_text(json.dumps({"apiVersion": 1, **content}))
    settings = {
        "PATHS_DATA": str(folder / "data"), "PATHS_LOGS": str(folder / "logs"),
        "PATHS_PROVISIONING": str(folder / "provisioning"), "SERVER_HTTP_ADDR": "127.0.0.1",
        "SERVER_HTTP_PORT": str(port), "AUTH_ANONYMOUS_ENABLED": "true", "ANALYTICS_REPORTING_ENABLED": "false",
        "ANALYTICS_CHECK_FOR_UPDATES": "false", "NEWS_NEWS_FEED_ENABLED": "false", "USERS_DEFAULT_THEME": "light",
    }  # fmt: skip
    environment = os.environ | {f"GF_{name}": value for name, value in settings.items()}
    with (
        (folder / "grafana.log").open("wb") as log,
        subprocess.Popen(
            [program, "server", "--homepath", str(place)], cwd=place, env=environment, stdout=log, stderr=log
        ) as process,
    ):
        address = f"http://127.0.0.1:{port}"
        try:
            wait_until(lambda: process.poll() is not None or _is_ready(address))
            assert process.poll() is None, (folder / "grafana.log").read_text()
            yield address
        finally:
            process.terminate()


def open_dashboard(browser: Browser, address: str) -> None:
    """Open the dashboard, which shows the last five minutes and is updated every five seconds, in a tall window."""
    browser.set_size(*SIZE)
    browser.open(f"{address}/d/kafka-replica?orgId=1&kiosk&refresh=5s&from=now-5m&to=now")


def panels_of(browser: Browser) -> dict[str, str]:
    """Return the texts of the panels that the window shows, by title; those of equal titles together."""
    script = """
    const found = {};
    for (const panel of document.querySelectorAll('.panel-container, [data-viz-panel-key]')) {
      const title = panel.querySelector('h2, h6');
      if (title) found[title.textContent] = (found[title.textContent] || '') + panel.innerText;
    }
    return found;
    """
    found: dict[str, str] = browser.run(script)
    return found


def _is_ready(address: str) -> bool:
    try:
        return plain_http.get(f"{address}/api/health").status_code == 200
    except httpx.TransportError:
        return False
