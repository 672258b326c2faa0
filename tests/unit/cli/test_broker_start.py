"""The command ``broker start``, with a broker that only holds its lock."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Self

import pytest
from click.testing import CliRunner

from kafka_replica.cli.commands import broker as commands
from kafka_replica.cli.groups import kafka_replica
from support.cli.command_tools import environment  # noqa: F401 - a fixture

VARIABLE = "KAFKA_REPLICA_BOOTSTRAP_SERVERS"


class _Kafka:
    """A broker whose supervisor holds the lock of its folder."""

    bootstrap_servers, port, pid, supervisor_pid, cluster_id = "127.0.0.1:7001", 7001, 1, 1, "c"

    def __init__(self, folder: Path) -> None:
        self.data_dir, self.log_path = folder, folder / "broker.log"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Keep the lock."""

    def detach(self) -> None:
        """Do nothing."""


@pytest.fixture(autouse=True)
def _started(
    environment: Path,  # noqa: F811
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[None]:
    folder = tmp_path / "broker"
    folder.mkdir()
    file = os.open(folder / "in-use.lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)
    monkeypatch.setattr(commands, "_started", lambda *_: _Kafka(folder))
    monkeypatch.delenv(VARIABLE, raising=False)
    yield
    os.close(file)


def start(*arguments: str) -> str:
    """Run the command, and return its output."""
    done = CliRunner().invoke(kafka_replica, ["broker", "start", *arguments])
    return f"{done.exit_code}: {done.output}"


def test_a_started_broker_is_used_by_other_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the environment names no broker, or this one, the other commands use it."""
    assert start().endswith("Other commands use it unless --bootstrap-server is given.\n")
    monkeypatch.setenv(VARIABLE, "127.0.0.1:7001")
    assert "instead" not in start()


@pytest.mark.parametrize("is_first", [True, False])
def test_a_broker_named_by_the_environment_is_reported(monkeypatch: pytest.MonkeyPatch, is_first: bool) -> None:
    """A user who follows the tutorial is warned before the samples are written to the company's Kafka."""
    if not is_first:
        start()
    monkeypatch.setenv(VARIABLE, "company:9092")
    output = start()
    assert output.startswith("0: Kafka is")
    assert output.endswith(
        "Other commands use company:9092 instead, because KAFKA_REPLICA_BOOTSTRAP_SERVERS is set; to use this broker, "
        "give --bootstrap-server 127.0.0.1:7001, or: unset KAFKA_REPLICA_BOOTSTRAP_SERVERS\n"
    )
    assert "instead" not in start("--json")


def test_a_data_folder_is_compared_as_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative name means another folder elsewhere, and a folder may have several names."""
    here, there = tmp_path / "here", tmp_path / "there"
    for folder in (here, there):
        (folder / "kafka").mkdir(parents=True)
    monkeypatch.chdir(here)
    monkeypatch.setenv("HOME", str(here))
    assert start("--data", "kafka").startswith("0: Kafka is running at")
    for same in ("kafka", "./kafka", "../here/kafka", str(here / "kafka"), "~/kafka"):
        assert start("--data", same).startswith("0: Kafka is already running at"), same
    monkeypatch.chdir(there)
    assert "started with another data; stop it first" in start("--data", "kafka")
