"""G4 on a real broker: a durable replica continues from its state, however it ended, with either kind of boundaries."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path

import pytest

from kafka_replica import Partition, Replica, RocksStore
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import (
    ReplicaProcess,
    assert_same_as_topic,
    config,
    decided,
    durable,
    durable_or_waiting,
    look_at_disk,
    values,
)
from support.broker.kafka_tools import Checker, Writer, independent_read, producer, quiet_moment, write
from support.effort import first_in_usual, usual_or_long
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("boundaries"), pytest.mark.quiescence_long]


@pytest.mark.parametrize("partitions", first_in_usual([3, 1], 1))
def test_a_restart_without_news_reads_no_record(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, partitions: int
) -> None:
    """A restart without news reads no record and keeps version and incarnation; later news arrives without a gap."""
    topic = kafka_topic("restart", partitions=partitions)
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {f"k{number}": "1" for number in range(20)})
    write(writer, topic, {"k1": "2", "k2": None})
    with durable(local_kafka, topic, tmp_path) as replica:
        before = dict(decided(replica, local_kafka, topic, partitions))
        version, incarnation = replica.snapshot().version, replica.incarnation
    with durable(local_kafka, topic, tmp_path) as replica:
        assert (replica.snapshot().version, replica.incarnation) == (version, incarnation)
        assert dict(replica.snapshot()) == before
        assert len(replica.snapshot()) == len(before) == 19
    assert replica.status().counts.records == 0  # queried when all of it is counted
    with durable(local_kafka, topic, tmp_path) as replica:
        write(writer, topic, {"k1": None, "new": "1"})
        decided(replica, local_kafka, topic, partitions)
        change = next(replica.changes(since=version, incarnation=incarnation, timeout_s=20))
        assert (change.initial, change.version) == (False, version + 1)
        assert (set(change.changed), set(change.deleted)) == ({b"new"}, {b"k1"})
    assert replica.status().counts.records == 2
    with durable(local_kafka, topic, tmp_path) as replica:
        assert (replica.snapshot().version, replica.incarnation) == (version + 1, incarnation)
        assert_same_as_topic(replica.snapshot(), local_kafka, topic, partitions)


def test_a_restart_reads_only_what_was_written_meanwhile(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A restart reads only later changes, deletions and an abort; the saved state is served before, as stale."""
    topic = kafka_topic("meanwhile", partitions=3)
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {f"k{number}": "1" for number in range(20)})
    with durable(local_kafka, topic, tmp_path) as replica:
        decided(replica, local_kafka, topic, 3)
        version, incarnation = replica.snapshot().version, replica.incarnation
    write(writer, topic, {"k1": "2", "k2": None})
    write(writer, topic, {"k3": "aborted"}, commit=False)
    write(writer, topic, {"k4": "2"})
    with durable(local_kafka, topic, tmp_path) as replica:
        heard = replica.changes(since=version, incarnation=incarnation, timeout_s=20)
        snapshot = decided(replica, local_kafka, topic, 3)
        assert_same_as_topic(snapshot, local_kafka, topic, 3)
        touched: set[bytes] = set()
        for change in heard:
            assert not change.initial
            touched |= {*change.changed, *change.deleted}
            if change.version == snapshot.version:
                break
        assert touched == {b"k1", b"k2", b"k4"}
    assert replica.status().counts.records == 3


def test_a_saved_state_is_shown_only_after_the_broker_has_answered(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A saved state is shown only after the broker has answered, and nothing is shown before."""
    topic = kafka_topic("unheard")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"k": "1"})
    with durable(local_kafka, topic, tmp_path) as replica:
        decided(replica, local_kafka, topic)
    local_kafka.pause()
    try:
        with Replica(config(local_kafka), topic, RocksStore(tmp_path)) as replica:
            time.sleep(0.3)
            status = replica.status()
            assert (status.ready, status.version) == (False, 0)
            local_kafka.resume()
            assert set(replica.wait_ready(timeout_s=60)) == {b"k"}
        assert replica.status().counts.records == 0
    finally:
        local_kafka.resume()


def test_a_transaction_that_began_before_the_last_version(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Fact 15: a transaction committed after the restart does not overwrite newer records or deletions."""
    topic = kafka_topic("older")
    first, second = (producer(local_kafka.bootstrap_servers, f"{topic}-{name}") for name in "ab")
    write(second, topic, {"deleted": "0", "kept": "0"})
    write(first, topic, {"deleted": "first", "both": "first", "own": "first"}, commit=None)
    write(second, topic, {"deleted": None, "both": "second"})
    with durable_or_waiting(local_kafka, topic, tmp_path) as replica:
        if replica.status().boundaries == "markers":
            wait_until(lambda: values(replica.snapshot()) == {"both": "second", "kept": "0"})
    for _ in range(2):  # the second time the restart itself is restarted
        with durable_or_waiting(local_kafka, topic, tmp_path):
            pass
    with durable_or_waiting(local_kafka, topic, tmp_path) as replica:
        first.commit_transaction()
        snapshot = decided(replica, local_kafka, topic)
        assert values(snapshot) == {"both": "second", "kept": "0", "own": "first"}
    with durable(local_kafka, topic, tmp_path) as replica:
        assert_same_as_topic(replica.snapshot(), local_kafka, topic)
    assert replica.status().counts.records == 0


def test_a_transaction_over_three_partitions(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A transaction during which the replica ends, twice, is shown as a whole or not at all."""
    topic = kafka_topic("wide", partitions=3)
    keys = [f"k{number}" for number in range(30)]
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, dict.fromkeys(keys, "0"))
    with durable(local_kafka, topic, tmp_path) as replica:
        decided(replica, local_kafka, topic, 3)
    for commits_while_down in (True, False):
        value = str(commits_while_down)
        write(writer, topic, dict.fromkeys(keys, value), commit=None)
        with durable_or_waiting(local_kafka, topic, tmp_path) as replica:
            wait_until(lambda: replica.status().read_position)
            assert len(set(values(replica.snapshot()).values())) == 1
            if not commits_while_down:
                writer.commit_transaction()
                wait_until(lambda value=value: set(values(replica.snapshot()).values()) == {value})  # type: ignore[misc] # a lambda with a default
        if commits_while_down:
            writer.commit_transaction()
        with durable(local_kafka, topic, tmp_path) as replica:
            snapshot = decided(replica, local_kafka, topic, 3)
            assert set(values(snapshot).values()) == {value}
            assert_same_as_topic(snapshot, local_kafka, topic, 3)


@pytest.mark.scaled
def test_killed_at_any_moment(
    boundaries: str, local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """After each kill -9 under load the disk has a whole version, and the final state equals the topic."""
    topic = kafka_topic("killed", partitions=3)
    dice = random.Random(boundaries)
    bootstrap, moment = local_kafka.bootstrap_servers, quiet_moment(boundaries, 3)
    writers = [Writer(bootstrap, topic, number, seed=5, pause_s=0.03, quiet_moment=moment) for number in range(3)]
    checker = Checker(writers)
    versions: list[int] = []
    for writer in writers:
        writer.start()
    try:
        for attempt in range(usual_or_long(4, 8, 30)):
            process = ReplicaProcess(local_kafka, topic, tmp_path, boundaries)
            if attempt % 3:
                process.wait_ready()
                time.sleep(dice.random() * (2 if moment else 0.3))  # beyond a quiet moment
            else:
                time.sleep(0.3 + dice.random() * 0.5)
            process.end(signal.SIGKILL)
            versions.append(look_at_disk(checker, tmp_path))
    finally:
        for writer in writers:
            writer.stop.set()
        for writer in writers:
            writer.join(30)
        print(*((writer.begun, writer.failed, writer.error) for writer in writers))  # a writer that ended explains much
    assert [writer.error for writer in writers] == [None] * 3
    assert checker.torn == []
    assert versions == sorted(versions)
    assert versions[-1] > versions[1], "nothing was written between the kills: the test shows nothing"
    with durable(local_kafka, topic, tmp_path) as replica:
        assert_same_as_topic(decided(replica, local_kafka, topic, 3), local_kafka, topic, 3)


def test_ended_by_sigterm(boundaries: str, local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A process that closes its replica leaves nothing to read again, including markers and aborted data."""
    topic = kafka_topic("terminated")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"k": "1"})
    process = ReplicaProcess(local_kafka, topic, tmp_path, boundaries)
    assert process.wait_ready().split()[1] == "1"
    assert process.end(signal.SIGTERM) == (0, "")
    process = ReplicaProcess(local_kafka, topic, tmp_path, boundaries)
    assert process.wait_ready().split()[1:3] == ["0", "1"]
    write(writer, topic, {"k": "aborted"}, commit=False)
    write(writer, topic, {"k": "2"})
    wait_until(lambda: RocksStore(tmp_path, read_only=True).snapshot()[b"k"].value == b"2")
    assert process.end(signal.SIGTERM) == (0, "")
    resume_point = RocksStore(tmp_path, read_only=True).resume_point
    assert resume_point is not None
    assert resume_point.position[Partition(topic, 0)] == 6
    assert {key: record.value for key, record in RocksStore(tmp_path, read_only=True).snapshot().items()} == {
        key: value for key, (value, _) in independent_read(local_kafka.bootstrap_servers, topic).items()
    }
