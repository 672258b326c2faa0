"""A real Prometheus that reads the project's rules and scrapes given addresses every second."""

from __future__ import annotations

import json
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from support import plain_http
from support.paths import ROOT

RULES = ROOT / "deploy" / "monitoring" / "kafka-replica-rules.yml"


@contextmanager
def prometheus(folder: Path, *addresses: str) -> Iterator[httpx.Client]:
    """Run Prometheus in a folder; yield a client of its HTTP API."""
    targets = [urlsplit(address).netloc for address in addresses]
    settings = {
        "global": {"scrape_interval": "1s", "evaluation_interval": "1s"},
        "rule_files": [str(RULES)],
        "scrape_configs": [{"job_name": "kafka_replica", "static_configs": [{"targets": targets}]}],
    }
    (folder / "prometheus.yml").write_text(json.dumps(settings))  # JSON is YAML
    log = folder / "prometheus.log"
    command = ["prometheus", f"--config.file={folder / 'prometheus.yml'}", f"--storage.tsdb.path={folder / 'data'}"]
    for _ in range(5):  # a port that is free now may be taken a moment later
        port = _free_port()
        with log.open("ab") as output:
            process = subprocess.Popen(
                [*command, f"--web.listen-address=127.0.0.1:{port}"], stdout=output, stderr=output
            )
        try:
            with plain_http.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
                if _is_ready(client, process):
                    yield client
                    return
        finally:
            process.terminate()
            process.wait(60)
    raise AssertionError(log.read_text())


def query(client: httpx.Client, expression: str) -> list[dict[str, Any]]:
    """Return the series of an expression now.

    Raises:
        AssertionError: Prometheus refuses the expression.
    """
    answer = client.get("/api/v1/query", params={"query": expression})
    assert answer.status_code == 200, f"{expression}: {answer.text}"
    found: list[dict[str, Any]] = answer.json()["data"]["result"]
    return found


def _is_ready(client: httpx.Client, process: subprocess.Popen[bytes]) -> bool:
    while process.poll() is None:
        try:
            if client.get("/-/ready").status_code == 200:
                return True
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    return False


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as opened:
        port: int = opened.getsockname()[1]
    return port
