"""The commands kafka-replica broker start, stop and status."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.broker

_PROGRAM = "from kafka_replica.cli.commands.broker import broker; broker()"


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """The environment of the commands, with a separate folder for their state; stops remaining brokers."""
    environment = {**os.environ, "KAFKA_REPLICA_STATE": str(tmp_path / "state")}
    yield environment
    run(environment, "stop")


def run(environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run one command to its end."""
    command = [sys.executable, "-c", _PROGRAM, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)


def test_start_status_stop(environment: dict[str, str]) -> None:
    """A broker outlives its command, is found again, and is stopped with its folder."""
    assert run(environment, "status").returncode == 3
    started = run(environment, "start", "--json", "--set", "log.cleaner.backoff.ms=100")
    assert started.returncode == 0, started.stderr
    output = json.loads(started.stdout)
    assert output["state"] == "running"
    assert psutil.pid_exists(output["pid"])
    again = run(environment, "start")
    assert (again.returncode, again.stdout) == (
        0,
        f"Kafka is already running at {output['bootstrap_servers']} (log: {output['log_path']})\n",
    )
    other = run(environment, "start", "--port", "29999")
    assert other.returncode == 1
    assert "started with another port; stop it first" in other.stderr
    status = run(environment, "status", "--json")
    assert (status.returncode, json.loads(status.stdout)) == (0, output)
    stopped = run(environment, "stop")
    assert (stopped.returncode, stopped.stdout) == (0, f"Kafka at {output['bootstrap_servers']} was stopped\n")
    assert not psutil.pid_exists(output["pid"])
    assert not Path(output["data_dir"]).exists()
    assert run(environment, "stop").returncode == 1
    assert run(environment, "status").returncode == 3


def test_a_crashed_broker_is_reported(environment: dict[str, str]) -> None:
    """After a crash of the broker, status reports that none runs, and start begins again."""
    output = json.loads(run(environment, "start", "--json").stdout)
    psutil.Process(output["pid"]).kill()
    deadline = time.monotonic() + 60
    while (status := run(environment, "status")).returncode == 0 or Path(output["data_dir"]).exists():
        assert time.monotonic() < deadline
    assert status.returncode in {3, 4}


@pytest.mark.long
def test_foreground_ends_with_a_signal(environment: dict[str, str]) -> None:
    """In the foreground SIGTERM stops the broker in an orderly way, and nothing is left."""
    command = [sys.executable, "-c", _PROGRAM, "start", "--foreground", "--json"]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        output = json.loads(child.stdout.readline())
        assert run(environment, "status").returncode == 0
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 0
    assert not psutil.pid_exists(output["pid"])
    assert not Path(output["data_dir"]).exists()
    assert run(environment, "status").returncode == 3


@pytest.mark.long
def test_mistakes_are_sentences(environment: dict[str, str]) -> None:
    """A failure gives one sentence, with an exit status that is not 0."""
    bad = run(environment, "start", "--set", "nonsense")
    assert bad.returncode == 2
    assert "is not KEY=VALUE" in bad.stderr
    name = run(environment, "start", "--name", "a/b")
    assert name.returncode == 2
    assert "is not a valid name of a broker" in name.stderr
    refused = run(environment, "start", "--json", "--set", "log.retention.ms=soon")
    assert refused.returncode == 1
    assert "Invalid value soon" in json.loads(refused.stdout)["error"]
    assert "Traceback" not in refused.stderr
