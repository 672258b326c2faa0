"""Shared tools of the tests of durable replicas."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kafka_replica import Replica, RocksStore, Snapshot
from kafka_replica.embedded import LocalKafka
from support.broker.kafka_tools import Checker, all_decided, independent_read, quiet
from support.waiting import wait_until

_PATIENCE_S = 60.0
"""A timeout against hanging, in seconds; all expected events happen within a second or two."""


def config(kafka: LocalKafka, **more: str | int | bool) -> dict[str, Any]:
    """Return the configuration of a client; ``__`` in a name stands in for a dot."""
    given = {name.replace("__", "."): value for name, value in more.items()}
    return quiet({"bootstrap.servers": kafka.bootstrap_servers, **given})


@contextmanager
def durable(kafka: LocalKafka, topic: str | list[str], folder: Path, **options: Any) -> Iterator[Replica]:
    """A replica with its store in a folder, started and ready."""
    topics = [topic] if isinstance(topic, str) else topic
    with Replica(config(kafka), store=RocksStore(folder), topics=topics, **options) as replica:
        replica.wait_ready(timeout_s=_PATIENCE_S)
        yield replica


def durable_or_waiting(kafka: LocalKafka, topic: str, folder: Path) -> Replica:
    """A replica that, with quiescence, may not be ready because of an open transaction; it shows some version."""
    replica = Replica(config(kafka), topic, RocksStore(folder)).start()
    wait_until(lambda: replica.status().barrier)
    wait_until(lambda: replica.status().ready or replica.status().blocking_transaction is not None)
    return replica


def values(snapshot: Snapshot) -> dict[str, str]:
    """Return the keys and values of a snapshot, as text."""
    return {key.decode(): (record.value or b"").decode() for key, record in snapshot.items()}


def decided(replica: Replica, kafka: LocalKafka, topic: str, partitions: int = 1) -> Snapshot:
    """Return the version that has everything in the topic, once no transaction in it is open."""
    ends = all_decided(kafka.bootstrap_servers, topic, partitions)
    return replica.wait_for(ends, timeout_s=_PATIENCE_S)


def assert_same_as_topic(snapshot: Snapshot, kafka: LocalKafka, topic: str, partitions: int = 1) -> None:
    """Check G8: the same keys, bytes and offsets as an independent reader finds."""
    found = independent_read(kafka.bootstrap_servers, topic, partitions)
    assert {key: (record.value, record.offset) for key, record in snapshot.items()} == found


def look_at_disk(checker: Checker, folder: Path) -> int:
    """Pass the state that a killed process left to the checker; return its version."""
    store = RocksStore(folder)
    snapshot = store.snapshot()
    checker.look(dict(values(snapshot)), snapshot.version)
    store.close()
    return snapshot.version


class ReplicaProcess:
    """A durable replica in a separate process, which reports when it is ready."""

    def __init__(self, kafka: LocalKafka, topic: str, folder: Path, boundaries: str) -> None:
        program = Path(__file__).with_name("durable_process.py")
        command = [sys.executable, str(program), kafka.bootstrap_servers, topic, str(folder), boundaries]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def wait_ready(self) -> str:
        """The process' report: records read, version, incarnation."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith("ready"), line + self.end(signal.SIGKILL)[1]
        return line

    def end(self, number: int) -> tuple[int, str]:
        """Send it a signal; return how it ended, and its standard error."""
        os.kill(self._process.pid, number)
        _, complaints = self._process.communicate(timeout=_PATIENCE_S)
        return self._process.returncode, complaints
