"""The tutorial is correct: its commands and its program run in their order, and print what the page shows."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import blocks

pytestmark = pytest.mark.long


@pytest.mark.broker
@pytest.mark.runs("docs/tutorial.md", language="sh")
@pytest.mark.runs("docs/tutorial.md", language="python")
@pytest.mark.runs("docs/tutorial.md", language="text")
def test_the_tutorial_works_from_its_first_line_to_its_last(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Each block ends with status 0, and its output ends with the text that the page shows below it."""
    topic = kafka_topic("tutorial")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "KAFKA_REPLICA_BOOTSTRAP_SERVERS": local_kafka.bootstrap_servers,
    }
    shown, output = 0, ""
    for block in blocks("docs/tutorial.md"):
        if not block.language:
            continue  # it installs the package and starts a broker
        text = block.program({"sdmx.structures": topic, "localhost:9092": local_kafka.bootstrap_servers})
        if block.language == "text":
            assert output.endswith(text), (text, output)
            shown += 1
            continue
        command = [sys.executable, "-c", text] if block.language == "python" else ["bash", "-ec", text]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240, check=False
        )
        assert done.returncode == 0, done.stderr
        output = done.stdout
    assert shown == 4
