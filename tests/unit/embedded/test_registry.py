"""The registry of brokers that outlive their command: a running broker is never forgotten."""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_replica.embedded import wire
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.embedded.registry import Entry, Registry
from kafka_replica.embedded.supervisor import refresh_times

LOCK = "in-use.lock"


class _Started:
    """The attributes of a broker that the registry notes."""

    bootstrap_servers, port, pid, supervisor_pid, cluster_id = "127.0.0.1:7001", 7001, 1, 1, "mine"

    def __init__(self, folder: Path) -> None:
        self.data_dir, self.log_path = folder, folder / "broker.log"


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Registry:
    """Return an empty registry."""
    monkeypatch.setenv("KAFKA_REPLICA_STATE", str(tmp_path / "state"))
    return Registry()


@pytest.fixture
def entry(registry: Registry, tmp_path: Path) -> Iterator[Entry]:
    """Yield a running broker, whose supervisor holds the lock."""
    data = tmp_path / "data"
    data.mkdir()
    file = os.open(data / LOCK, os.O_RDWR | os.O_CREAT)
    fcntl.flock(file, fcntl.LOCK_EX)
    yield registry.add("default", _Started(data), {})  # type: ignore[arg-type]
    os.close(file)


def fail_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the query of each broker fail."""

    def query(*_: object, **__: object) -> wire.ClusterMetadata:
        raise error

    monkeypatch.setattr(wire, "query_cluster", query)


def answer_as(cluster_id: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the broker at each port answer as the member of a cluster, or not at all."""

    def query(*_: object, **__: object) -> wire.ClusterMetadata:
        if cluster_id is None:
            raise ConnectionRefusedError
        return wire.ClusterMetadata(cluster_id, (1,), {})

    monkeypatch.setattr(wire, "query_cluster", query)


def refuse_opening(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the system refuse to open the lock file, as for another user."""
    real = os.open

    def refusing(path: Any, *rest: Any, **named: Any) -> int:
        if Path(path).name == LOCK:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *rest, **named)

    monkeypatch.setattr(os, "open", refusing)


@pytest.mark.parametrize("is_removed", [True, False])
def test_a_broker_without_a_lock_file_that_answers_is_running(
    registry: Registry, entry: Entry, monkeypatch: pytest.MonkeyPatch, is_removed: bool
) -> None:
    """A cleaner of temporary files may remove the file, and another user may own it; the broker is still found."""
    if is_removed:
        (Path(entry.data_dir) / LOCK).unlink()
    else:
        refuse_opening(monkeypatch)
    answer_as("mine", monkeypatch)
    assert registry.find("default") == entry
    assert registry.running() == [entry]


@pytest.mark.parametrize("cluster_id", [None, "another"])
def test_a_broker_without_a_lock_file_that_does_not_answer_has_ended(
    registry: Registry, entry: Entry, monkeypatch: pytest.MonkeyPatch, cluster_id: str | None
) -> None:
    """Another broker at the same port does not count."""
    (Path(entry.data_dir) / LOCK).unlink()
    answer_as(cluster_id, monkeypatch)
    assert registry.find("default") is None
    assert registry.running() == []


@pytest.mark.parametrize(
    "error", [ValueError("requires encryption"), TimeoutError("timed out"), ConnectionResetError("closed")]
)
@pytest.mark.parametrize("is_removed", [True, False])
@pytest.mark.parametrize("killing", [None, PermissionError(), ProcessLookupError()])
def test_a_broker_that_cannot_be_identified_is_running_while_its_supervisor_exists(
    registry: Registry, entry: Entry, monkeypatch: pytest.MonkeyPatch,
    error: Exception, is_removed: bool, killing: OSError | None,
) -> None:  # fmt: skip
    """A broker that requires encryption or authentication, or is slow, is not forgotten."""

    def kill(pid: int, number: int) -> None:
        assert (pid, number) == (entry.supervisor_pid, 0)
        if killing is not None:
            raise killing

    if is_removed:
        (Path(entry.data_dir) / LOCK).unlink()
    else:
        refuse_opening(monkeypatch)
    fail_with(error, monkeypatch)
    monkeypatch.setattr(os, "kill", kill)
    exists = not isinstance(killing, ProcessLookupError)
    assert registry.running() == [entry][:exists]
    assert registry.find("default") == (entry if exists else None)


def test_a_broker_of_another_user_is_not_stopped(
    registry: Registry, entry: Entry, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The error says who can stop it."""

    def refuse(pid: int, number: int) -> None:
        raise PermissionError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "kill", refuse)
    with pytest.raises(EmbeddedKafkaError, match="process 1 belongs to another user; stop it as that user"):
        registry.stop(entry)


def test_files_of_a_broker_are_marked_as_used(tmp_path: Path) -> None:
    """Cleaners of temporary files look at the times of access; Kafka's times of modification stay as they are."""
    inner = tmp_path / "data" / "topic-0"
    inner.mkdir(parents=True)
    files = [tmp_path / LOCK, inner / "0.log"]
    for path in [*files, inner]:
        path.touch()
        os.utime(path, (1.0, 2.0))
    began_s = time.time()
    refresh_times(tmp_path)
    for path in [*files, inner]:
        assert path.stat().st_atime >= began_s - 1
        assert path.stat().st_mtime == 2.0
