"""G5 on a real broker: a first read that is interrupted for longer than the retention of tombstones shows no ghost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource

from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import assert_same_as_topic, config, decided, durable
from support.broker.kafka_tools import producer, write
from support.broker.log_tools import FORGETFUL, forget_deletions, make_again, wait_compacted
from support.paths import TESTS

pytestmark = [pytest.mark.long, pytest.mark.broker, pytest.mark.quiescence_long]

DOOMED = [f"doomed{number}" for number in range(30)]
LONGER_THAN_RETENTION_S = 4.5


class InterruptedReplica:
    """A replica in a separate process, which stops itself; see ``interrupted_process.py``."""

    def __init__(self, kafka: LocalKafka, topic: str, folder: Path, boundaries: str) -> None:
        program = TESTS / "support/broker/interrupted_process.py"
        arguments = [kafka.bootstrap_servers, topic, str(folder), boundaries, str(len(DOOMED))]
        self._process = subprocess.Popen(
            [sys.executable, str(program), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def wait_stopped(self) -> float:
        """Wait until it has stopped itself; return when that was seen."""
        _, status = os.waitpid(self._process.pid, os.WUNTRACED)
        if not os.WIFSTOPPED(status):
            self._process.returncode = os.waitstatus_to_exitcode(status)
            raise AssertionError(f"it has ended: {self._process.communicate()}")
        return time.monotonic()

    def go_on(self, stopped_s: float) -> None:
        """Let it continue, not before it has been stopped for long enough."""
        time.sleep(max(0.0, stopped_s + LONGER_THAN_RETENTION_S - time.monotonic()))
        self._process.send_signal(signal.SIGCONT)

    def result(self) -> tuple[set[str], int, str]:
        """Return all keys that it has ever shown, how often it began again, and what it logged."""
        printed_json, logged = self._process.communicate(timeout=240)
        assert self._process.returncode == 0, logged
        found = json.loads(printed_json)
        return set(found["shown"]), found["rebuilds"], logged

    def kill(self) -> None:
        """End it in any state."""
        self._process.kill()
        self._process.communicate()


MORE = [f"more{number}" for number in range(40)]


def fill(kafka: LocalKafka, topic: str) -> None:
    """Write keys that will be deleted, and then more than is fetched at once."""
    writer = producer(kafka.bootstrap_servers, f"{topic}-fill")
    write(writer, topic, dict.fromkeys(DOOMED, "x"))
    for key in MORE:
        write(writer, topic, {key: "x" * 5_000})


def delete_doomed(kafka: LocalKafka, topic: str) -> None:
    """Delete them, and have the tombstones removed; the rest of the topic fits into one fetch."""
    write(producer(kafka.bootstrap_servers, f"{topic}-more"), topic, dict.fromkeys(MORE, "y"))
    forget_deletions(kafka, topic, DOOMED)


def set_topic(kafka: LocalKafka, topic: str, settings: dict[str, str]) -> None:
    """Change settings of a topic."""
    resource = ConfigResource(ConfigResource.Type.TOPIC, topic)
    for name, value in settings.items():
        resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET))
    admin = AdminClient(config(kafka))
    admin.incremental_alter_configs([resource])[resource].result(10)


def assert_no_ghost(kafka: LocalKafka, topic: str, folder: Path, boundaries: Any) -> None:
    """Check that a replica restarted with the same store has exactly the content of the topic."""
    with durable(kafka, topic, folder, boundaries=boundaries) as replica:
        snapshot = decided(replica, kafka, topic)
        assert not set(DOOMED) & {key.decode() for key in snapshot}
        assert_same_as_topic(snapshot, kafka, topic)


@pytest.mark.long
@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
@pytest.mark.parametrize("retention", ["short", "shortened meanwhile"])
def test_a_first_read_that_is_suspended_shows_no_ghost(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, boundaries: str, retention: str
) -> None:
    """A process stopped until the tombstones of keys it had read were gone reads the topic again."""
    topic = kafka_topic("suspended", config=FORGETFUL)
    if retention == "shortened meanwhile":
        set_topic(local_kafka, topic, {"delete.retention.ms": "86400000"})
    fill(local_kafka, topic)
    replica = InterruptedReplica(local_kafka, topic, tmp_path / "store", boundaries)
    try:
        stopped_s = replica.wait_stopped()
        set_topic(local_kafka, topic, FORGETFUL)
        delete_doomed(local_kafka, topic)
        replica.go_on(stopped_s)
        shown, rebuilds, logged = replica.result()
    finally:
        replica.kill()
    assert not shown & set(DOOMED)
    assert "more39" in shown
    assert rebuilds >= 1, logged
    assert "delete.retention.ms" in logged
    assert_no_ghost(local_kafka, topic, tmp_path / "store", boundaries)


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
def test_a_rebuild_that_is_suspended_shows_no_ghost(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, boundaries: str
) -> None:
    """A rebuild, here of a recreated topic, is as careful as a first read."""
    topic = kafka_topic("rebuilt", config=FORGETFUL)
    fill(local_kafka, topic)
    with durable(local_kafka, topic, tmp_path / "store", boundaries=boundaries):
        pass
    make_again(local_kafka, topic)
    set_topic(local_kafka, topic, FORGETFUL)
    fill(local_kafka, topic)
    replica = InterruptedReplica(local_kafka, topic, tmp_path / "store", boundaries)
    try:
        stopped_s = replica.wait_stopped()
        delete_doomed(local_kafka, topic)
        replica.go_on(stopped_s)
        shown, rebuilds, logged = replica.result()
    finally:
        replica.kill()
    assert not shown & set(DOOMED)
    assert rebuilds >= 2, logged
    assert_no_ghost(local_kafka, topic, tmp_path / "store", boundaries)


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
def test_gaps_alone_are_no_reason_to_begin_again(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, boundaries: Any
) -> None:
    """A compacted topic that is read within its retention is read once, however many offsets are missing."""
    topic = kafka_topic("compacted", config={**FORGETFUL, "delete.retention.ms": "86400000"})
    fill(local_kafka, topic)
    write(producer(local_kafka.bootstrap_servers, f"{topic}-more"), topic, dict.fromkeys(DOOMED))
    wait_compacted(local_kafka, topic, lambda left: not any(value == b"x" for key, value in left if key != b"filler"))
    with Replica(config(local_kafka, max__partition__fetch__bytes=20_000), topic, boundaries=boundaries) as replica:
        replica.wait_ready(timeout_s=60)
        assert_same_as_topic(decided(replica, local_kafka, topic), local_kafka, topic)
        assert replica.status().counts.rebuilds == 0
