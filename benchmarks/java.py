"""Kafka Streams' GlobalKTable, run from the shared peer benchmark, which some machines have beside this project.

Nothing of it is copied into the project: its classes and jars are built once, in the user's cache.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from kafka_replica.embedded.cache import cache_dir

SOURCES = Path(__file__).resolve().parents[2] / "shared" / "peerbench" / "java"
_TOOLS = ("mvn", "javac", "java")
_BUILD_S, _RUN_S = 900, 300


class NotMeasurableError(Exception):
    """GlobalKTable cannot be measured here; the message says what is missing."""


class GlobalKTable:
    """The peer, ready to run.

    Raises:
        NotMeasurableError: its sources, Maven or a JDK are not on this machine, or it cannot be built.
    """

    def __init__(self) -> None:
        if not SOURCES.is_dir():
            raise NotMeasurableError("its sources, ../shared/peerbench/java, are not on this machine")
        missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
        if missing:
            raise NotMeasurableError(f"not on this machine's path: {', '.join(missing)}")
        self._home = cache_dir() / f"peerbench-{_fingerprint()}"
        if not self._home.is_dir():
            _build(self._home)

    def bootstrap(self, bootstrap: str, topic: str, records: int, payload_bytes: int) -> dict[str, Any]:
        """Measure from start() to RUNNING, in memory, with tuned fetch settings."""
        with tempfile.TemporaryDirectory() as state:
            line = self._run(bootstrap, ["gkt", topic, "mem", state, "tuned"], n=records, bytes=payload_bytes)
        return {
            "what": "GlobalKTable",
            "keys": line["n"],
            "s": line["secs"],
            "cpu_s": line["cpu"],
            "rss_mb": line["rss"],
        }

    def on_disk(self, bootstrap: str, topic: str, state: Path, records: int, payload_bytes: int) -> dict[str, Any]:
        """Measure from start() to RUNNING with RocksDB in a folder, continuing from its existing content."""
        line = self._run(bootstrap, ["gkt", topic, "rocks", str(state), "tuned"], n=records, bytes=payload_bytes)
        return {"what": "GlobalKTable, on disk", "keys": line["n"], "s": line["secs"], "cpu_s": line["cpu"]}

    def visible(self, bootstrap: str, topic: str, transactions: int) -> dict[str, Any]:
        """Measure from a commit's return until the table returns the last of ten records, checked every 50 us."""
        line = self._run(bootstrap, ["latency", topic, str(transactions), "mem"], park=50_000)
        wanted = {"p50_ms": line["p50_ms"], "p99_ms": line["p99_ms"]}
        return {"what": "visible, GlobalKTable", "transactions": transactions, **wanted}

    def _run(self, bootstrap: str, arguments: list[str], **properties: int) -> dict[str, Any]:
        given = [f"-D{name}={value}" for name, value in {"t0": int(time.time() * 1000), **properties}.items()]
        classpath = f"{self._home}/classes{os.pathsep}{self._home}/lib/*"
        command = ["java", "-Xmx8g", *given, "-cp", classpath, "peer.Bench", *arguments]
        environment = {**os.environ, "PEER_BOOTSTRAP": bootstrap}
        environment.pop("PEER_OUT", None)
        done = subprocess.run(
            command, env=environment, stdout=subprocess.PIPE, text=True, check=True, timeout=_RUN_S
        )  # fmt: skip
        line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return line


def _fingerprint() -> str:
    """Return a fingerprint of the sources: when they change, they are built again."""
    digest = hashlib.sha256()
    for path in sorted(path for path in SOURCES.rglob("*") if path.is_file() and "target" not in path.parts):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _build(home: Path) -> None:
    home.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=home.parent) as folder:
        copy = Path(folder) / "java"
        shutil.copytree(SOURCES, copy, ignore=shutil.ignore_patterns("target"))
        done = subprocess.run(
            ["mvn", "-q", "-B", "package"], cwd=copy, capture_output=True, text=True, check=False, timeout=_BUILD_S
        )
        if done.returncode:
            raise NotMeasurableError(f"building it failed: {(done.stdout + done.stderr).strip()[-500:]}")
        made = Path(folder) / "made"
        made.mkdir()
        for part in ("classes", "lib"):
            (copy / "target" / part).rename(made / part)
        try:
            made.rename(home)
        except OSError:
            if not home.is_dir():  # otherwise another process built it meanwhile
                raise
