"""The example in docs/large-values.md runs as it is written there, on a real broker."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs

pytestmark = pytest.mark.broker


@pytest.mark.runs("docs/large-values.md")
def test_the_example_runs(local_kafka: LocalKafka, kafka_topic: TopicMaker, capsys: pytest.CaptureFixture[str]) -> None:
    """A value of ten megabytes is written to a topic with Kafka's default limits, and read as a whole."""
    topic = kafka_topic("documents")
    example, manifest = programs("docs/large-values.md")
    names: dict[str, Any] = {}
    exec(example.replace("localhost:9092", local_kafka.bootstrap_servers).replace('"documents"', f'"{topic}"'), names)
    assert capsys.readouterr().out == "2 10000000 b'small'\n"
    assert names["snapshot"]["report"].headers == (("content-type", b"text/plain"),)
    assert len(names["snapshot"].records) == 22
    command = [str(Path(sys.executable).with_name("kafka-replica")), "get", "report", "-t", topic]
    where = ["-b", local_kafka.bootstrap_servers]
    whole = subprocess.run([*command, *where, "--large-values"], check=True, capture_output=True, timeout=120).stdout
    assert whole == b"0123456789" * 1_000_000
    plain = subprocess.run([*command, *where], check=True, capture_output=True, timeout=120).stdout
    shown, written = json.loads(manifest), json.loads(plain)
    own = {"write_id", "sha256"}
    assert list(written) == list(shown)
    assert {name: value for name, value in written.items() if name not in own} == {
        name: value for name, value in shown.items() if name not in own
    }
