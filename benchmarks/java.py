"""Kafka Streams' GlobalKTable, measured by a program of this project (programs/GlobalTablePeer.java).

Its jars are those of the embedded broker and the two in a lock file next to the program, from a Maven repository.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

from kafka_replica.embedded.cache import cache_dir, locked
from kafka_replica.embedded.download import download_jars
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.install import ensure_kafka
from kafka_replica.embedded.lockfile import read_lock

_PROGRAMS: Final = Path(__file__).with_name("programs")
_PROGRAM: Final = _PROGRAMS / "GlobalTablePeer.java"
_LOCK: Final = _PROGRAMS / "kafka-streams-4.3.0.lock"
_TOOLS: Final = ("javac", "java")
_COMPILE_S, _RUN_S = 120, 300


class NotMeasurableError(Exception):
    """A peer cannot be measured here; the message says what is missing."""


class GlobalKTable:
    """The peer, ready to run.

    Raises:
        NotMeasurableError: there is no JDK, or its jars cannot be fetched, or it cannot be compiled.
    """

    def __init__(self) -> None:
        missing = [tool for tool in _TOOLS if shutil.which(tool) is None]
        if missing:
            raise NotMeasurableError(f"not on this machine's path: {', '.join(missing)}; install a JDK")
        try:
            self._class_path = _compiled()
        except (EmbeddedKafkaError, OSError, subprocess.SubprocessError) as error:
            raise NotMeasurableError(str(getattr(error, "stderr", None) or error)) from error

    def bootstrap(self, bootstrap: str, topic: str, records: int) -> dict[str, Any]:
        """Measure from start() to RUNNING, in memory, with larger fetches than the defaults."""
        with tempfile.TemporaryDirectory() as folder:
            return {"what": "GlobalKTable", **self._ready(bootstrap, topic, Path(folder), "memory", records)}

    def on_disk(self, bootstrap: str, topic: str, folder: Path, records: int) -> dict[str, Any]:
        """Measure from start() to RUNNING with RocksDB in a folder, continuing from its existing content."""
        return {"what": "GlobalKTable, on disk", **self._ready(bootstrap, topic, folder, "disk", records)}

    def visible(self, bootstrap: str, topic: str, transactions: int) -> dict[str, Any]:
        """Measure from a commit's return until the table returns the last of ten records, asked every 50 us."""
        with tempfile.TemporaryDirectory() as folder:
            line = self._run("visible", bootstrap, topic, folder, str(transactions))
        return {"what": "visible, GlobalKTable", "transactions": transactions, **line}

    def _ready(self, bootstrap: str, topic: str, folder: Path, store: str, records: int) -> dict[str, Any]:
        line = self._run("ready", bootstrap, topic, str(folder), store)
        if line["keys"] != records:
            raise RuntimeError(f"GlobalKTable holds {line['keys']} entries of {topic} instead of {records}")
        return line

    def _run(self, *arguments: str) -> dict[str, Any]:
        # Without a logging configuration the client writes all its settings to standard output.
        options = ["-Xmx8g", "-Dlog4j2.level=ERROR", "-cp", self._class_path]
        done = subprocess.run(
            ["java", *options, "GlobalTablePeer", *arguments],
            stdout=subprocess.PIPE, text=True, check=True, timeout=_RUN_S,
        )  # fmt: skip
        line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return line


def _compiled() -> str:
    """Return the class path of the compiled program; what is missing in the user's cache is fetched and compiled."""
    broker = ensure_kafka().class_path
    jars = read_lock(_LOCK)
    digest = hashlib.sha256(_PROGRAM.read_bytes() + _LOCK.read_bytes() + broker.encode()).hexdigest()[:12]
    home = cache_dir() / f"global-table-{digest}"
    class_path = os.pathsep.join([str(home), *(str(home / jar.file_name) for jar in jars), broker])
    with locked(home.with_suffix(".lock"), doing="compiling the program that measures GlobalKTable"):
        home.mkdir(parents=True, exist_ok=True)
        download_jars([jar for jar in jars if not jar.matches(home / jar.file_name)], home, lambda _jar: None)
        subprocess.run(
            ["javac", "-nowarn", "-d", str(home), "-cp", class_path, str(_PROGRAM)],
            check=True, capture_output=True, text=True, timeout=_COMPILE_S,
        )  # fmt: skip
    return class_path
