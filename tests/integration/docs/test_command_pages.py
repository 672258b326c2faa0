"""The commands on the pages run as they are written there."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.embedded import LocalKafka
from support.doc_blocks import programs
from support.docs.page_world import PageWorld

pytestmark = [pytest.mark.long, pytest.mark.broker]


@pytest.mark.runs("docs/commands.md", language="sh")
def test_commands(world: PageWorld) -> None:
    """The data is checked and mapped; both leave their reports, and end with 3 because rows are rejected."""
    (text,) = programs("docs/commands.md", language="sh")
    for old, new in world.here.items():
        text = text.replace(old, new)
    lines = text.replace("\\\n", " ").splitlines()
    done = [world.shell(line) for line in lines]
    assert [each.returncode for each in done] == [0, 3, 3], [each.stderr for each in done]
    assert [json.loads(Path(out, "report.json").read_text())["rows"] for out in ("checked", "mapped")] == [27, 27]


@pytest.mark.long
@pytest.mark.runs("docs/errors.md", language="sh")
def test_errors(world: PageWorld) -> None:
    """The command of the page lists errors, findings and broker errors, each with its explanation."""
    (printed,) = world.run_shell("docs/errors.md", language="sh")
    assert all(code in printed for code in ("StoreInUseError", "code-unknown", "BrokerError")), printed


@pytest.mark.runs("docs/alerts.md")
def test_alerts(world: PageWorld) -> None:
    """The command writes the file that the settings of Prometheus name, and Prometheus accepts them, if installed."""
    import shutil

    world.run_shell("docs/alerts.md", language="")
    here, elsewhere = programs("docs/alerts.md", language="yaml")
    folder = world.folder / "monitoring"
    assert [name for name in ("kafka-replica-rules.yml",) if name in here and (folder / name).exists()]
    (folder / "token").touch()
    for settings in (here, elsewhere.replace("/etc/prometheus/kafka-replica-token", "token")):
        (folder / "prometheus.yml").write_text(settings)
        if shutil.which("promtool") is not None:
            subprocess.run(["promtool", "check", "config", folder / "prometheus.yml"], check=True, capture_output=True)


@pytest.mark.runs("docs/embedded-broker.md", containing="broker start")
@pytest.mark.runs("docs/embedded-broker.md", containing="embedded fetch")
@pytest.mark.runs("docs/tutorial.md", containing="broker start")
def test_broker_commands(world: PageWorld) -> None:
    """A broker starts, answers and stops; everything that it needs is there."""
    (world.folder / "state").mkdir()
    (printed,) = world.run_shell("docs/embedded-broker.md", containing="broker start")
    assert "Kafka is running at 127.0.0.1:" in printed
    assert (world.folder / "kafka-data").is_dir()
    (printed,) = world.run_shell("docs/embedded-broker.md", containing="embedded fetch")
    assert "is ready in" in printed
    (printed,) = world.run_shell("docs/tutorial.md", containing="broker start")
    world.shell("kafka-replica broker stop")
    assert "Kafka is running at 127.0.0.1:" in printed


@pytest.mark.long
@pytest.mark.runs("docs/embedded-broker.md", language="python")
def test_embedded_broker_in_python(
    world: PageWorld, local_kafka: LocalKafka, kafka_topic: Any, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Two brokers start, a user needs a permission, the test passes, and the Kafka of the environment is taken."""
    monkeypatch.setenv("KAFKA_REPLICA_BOOTSTRAP_SERVERS", world.bootstrap)
    names: dict[str, Any] = {}
    world.run_python("docs/embedded-broker.md", names)
    names["test_my_writer"](local_kafka, kafka_topic)
    first, refused, allowed, second = capsys.readouterr().out.splitlines()
    assert first.startswith("127.0.0.1:")
    assert "ask for permission to Read on the topic" in refused
    assert allowed == "0 records"
    assert second == world.bootstrap
