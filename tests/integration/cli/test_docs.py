"""The README is correct: its example runs, its commands exist."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from kafka_replica.cli.groups import kafka_replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.sdmx.samples import sample_files
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.doc_blocks import programs
from support.paths import ROOT


@pytest.mark.broker
@pytest.mark.runs("README.md", containing="wait_ready")
def test_the_readme_example_runs(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """The first example, on a topic that holds the sample, prints the name of the code."""
    topic = kafka_topic("readme")
    command = Path(sys.executable).with_name("kafka-replica")
    where = ["--bootstrap-server", local_kafka.bootstrap_servers, "--topic", topic]
    subprocess.run([command, "publish", *sample_files(), *where], check=True, capture_output=True, timeout=60)
    [program] = programs("README.md", containing="wait_ready")
    example = program.replace("localhost:9092", local_kafka.bootstrap_servers).replace("sdmx.structures", topic)
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "\nAnnual\n" in done.stdout


def test_every_command_is_documented() -> None:
    """Each command and each of its own options is named in docs/commands.md."""
    page = (ROOT / "docs/commands.md").read_text()
    context = click.Context(kafka_replica)
    for name in kafka_replica.list_commands(context):
        command = kafka_replica.get_command(context, name)
        assert command is not None
        assert f"`{name}" in page, name
        if name in {"broker", "serve"}:
            continue  # they have pages of their own
        for parameter in command.params:
            for option in parameter.opts:
                if option.startswith("--") and option != "--partitions":
                    assert f"`{option}" in page, (name, option)
