"""The commands and programs of the Spark tutorial run as they are written there, in one terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.ports import choose_port
from support.doc_blocks import Block, blocks
from support.docs.terminal import Terminal
from support.spark.class_archive import short_job_options
from support.waiting import wait_until

_PAGE = "docs/spark-tutorial.md"


def _logged(file: Path, text: str) -> Callable[[], bool]:
    return lambda: file.exists() and text in file.read_text(encoding="utf-8")


def _checked(folder: Path) -> tuple[int, int, int]:
    """Return the rows of a report, and those in the files of good and of rejected rows."""
    rows = json.loads((folder / "report.json").read_bytes())["rows"]
    good, rejected = (pl.read_csv(folder / name / "part-*.csv").height for name in ("good.csv", "rejected.csv"))
    return rows, good, rejected


@pytest.mark.broker
@pytest.mark.long
@pytest.mark.timeout(1800)
@pytest.mark.runs("docs/spark-tutorial.md", without="pip install")
def test_the_tutorial(local_kafka: LocalKafka, tmp_path: Path) -> None:
    """A job and a stream on a cluster, and two clients of Spark Connect, each find the two wrong rows.

    Ports, broker and topic are those of the test; it waits for servers as a person does, by their logs.
    """
    pytest.importorskip("zstandard", reason="PySpark's Connect client needs zstandard: the tutorial is NOT tested")
    replaced = {
        "7077": str(choose_port()), "15002": str(choose_port()), "localhost:9092": local_kafka.bootstrap_servers,
        "sdmx.structures": f"tutorial-{tmp_path.name}-{choose_port()}", "kafka-replica broker start": "true",
        "kafka-replica broker stop": "true",
    }  # fmt: skip
    programs = iter(("command.py", "stream.py", "client.py"))
    logs = {
        "deploy.worker": ("master.log", "Registering worker"), "SparkConnectServer": ("connect.log", "server started"),
    }  # fmt: skip
    environment = {
        "KAFKA_REPLICA_BOOTSTRAP_SERVERS": local_kafka.bootstrap_servers, "JDK_JAVA_OPTIONS": short_job_options(),
        "SPARK_DAEMON_MEMORY": "700m",
    }  # fmt: skip
    printed = ""
    with Terminal(tmp_path, environment) as terminal:
        for block in blocks(_PAGE, without="pip install"):
            text = block.program(replaced)
            if block.language == "python":
                (tmp_path / next(programs)).write_text(text, encoding="utf-8")
                continue
            printed += terminal.run(text)
            _wait(block, logs, tmp_path)
    assert _checked(tmp_path / "checked") == _checked(tmp_path / "checked-by-connect") == (27, 25, 2)
    assert pl.read_csv(tmp_path / "findings.csv")["row"].len() == 2
    assert "batch 0, version 1: 25 good rows, 2 bad rows" in printed
    assert "[code-unknown]" in printed


def _wait(block: Block, logs: dict[str, tuple[str, str]], folder: Path) -> None:
    for text, (name, line) in logs.items():
        if text in block.text:
            wait_until(_logged(folder / name, line), f"{line} in {name}", 240)
