"""The experiment on directories of typed objects: ready, looked up, changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from typing import Any, Final

from benchmarks.programs.directories import value_of
from benchmarks.stage import ROOT, Stage
from kafka_replica.embedded.install import ensure_kafka
from kafka_replica.producer import TransactionalProducer

_ROWS: Final = 50_000
_TRANSACTION_RECORDS: Final = 1000
_CHANGES: Final = 10_000, 500_000, 1_000  # few rows, many rows, changes
_PASSES: Final = 5
_PEER: Final = ROOT / "benchmarks" / "programs" / "DirectoryPeer.java"
_LIMIT_S: Final = 120


def directories(stage: Stage) -> dict[str, float]:
    """Measure a directory of 50,000 rows, and a change of ten rows in a small and in a large one."""
    topic = _filled(stage)
    ready = stage.measure("directories", "ready", stage.bootstrap, topic)
    lookups = stage.measure("directories", "lookups", _ROWS, _PASSES)
    changes = stage.measure("directories", "changes", *_CHANGES)
    figures = {
        "directory.s": ready["s"],
        "directory.lookups": lookups["ratio"],
        "directory.changes": changes["many_p50_us"] / changes["few_p50_us"],
        "directory.changes_us": changes["few_p50_us"],
    }
    if shutil.which("javac"):
        peer = stage.noted(_java(stage.bootstrap, topic))
        if not ready["keys"] == peer["keys"] == _ROWS:
            raise AssertionError(f"of {_ROWS} rows, this was read: {ready}, {peer}")
        figures["directory.java"] = peer["s"] / ready["s"]
    return figures


def _filled(stage: Stage) -> str:
    topic = stage.new_topic("directory")
    producer = TransactionalProducer({"bootstrap.servers": stage.bootstrap, "compression.type": "none"}, topic, topic)
    for first in range(0, _ROWS, _TRANSACTION_RECORDS):
        with producer.transaction() as transaction:
            for number in range(first, first + _TRANSACTION_RECORDS):
                transaction.put(f"T{number:07}", value_of(number))
    producer.wait_visible(transaction.committed)
    return topic


def _java(bootstrap: str, topic: str) -> dict[str, Any]:
    """Run the consumer in Java, with the client and the JSON parser that come with the broker."""
    command = ["java", "-cp", ensure_kafka().class_path, str(_PEER), bootstrap, topic]
    # Without a logging configuration the client writes all its settings to standard output.
    quiet = {**os.environ, "JDK_JAVA_OPTIONS": "-Dlog4j2.level=ERROR"}
    done = subprocess.run(command, env=quiet, stdout=subprocess.PIPE, text=True, check=True, timeout=_LIMIT_S)
    line: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return line
