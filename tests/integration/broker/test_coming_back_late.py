"""G5 on a real broker: a replica that returns to a changed log rebuilds its state, and shows no ghost."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_replica import Change, Replica, RocksStore
from kafka_replica.embedded import LocalKafka
from kafka_replica.replication.tombstone_retention import TombstoneCheck
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import assert_same_as_topic, config, decided, durable, values
from support.broker.kafka_tools import producer, write
from support.broker.log_tools import FORGETFUL, forget_deletions, make_again
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.quiescence_long]


@pytest.mark.usefixtures("boundaries")
@pytest.mark.parametrize("partitions", [3, 1])
def test_a_topic_recreated_during_downtime_discards_the_saved_state(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, partitions: int
) -> None:
    """A topic recreated during downtime, longer or with fewer partitions: the saved state is never shown."""
    topic = kafka_topic("again", partitions=3)
    write(producer(local_kafka.bootstrap_servers, topic), topic, {f"old{i}": "x" for i in range(10)})
    with durable(local_kafka, topic, tmp_path) as replica:
        decided(replica, local_kafka, topic, 3)
        version, incarnation = replica.snapshot().version, replica.incarnation
    make_again(local_kafka, topic, partitions)
    write(producer(local_kafka.bootstrap_servers, f"{topic}-new"), topic, {f"new{i}": "x" for i in range(30)})
    with Replica(config(local_kafka), topic, RocksStore(tmp_path)) as replica:
        heard: list[Change] = []
        replica.subscribe(heard.append)
        replica.wait_ready(timeout_s=60)
        snapshot = decided(replica, local_kafka, topic, partitions)
        assert replica.incarnation != incarnation
        assert next(replica.changes(since=version, incarnation=incarnation, timeout_s=20)).initial
        assert replica.status().counts.rebuilds == 1
        wait_until(lambda: heard and heard[-1].version == snapshot.version)
        assert {key[:3] for change in heard for key in change.snapshot} == {b"new"}
        assert_same_as_topic(snapshot, local_kafka, topic, partitions)
    with durable(local_kafka, topic, tmp_path) as replica:
        assert len(replica.snapshot()) == 30
    assert replica.status().counts.records == 0


@pytest.mark.usefixtures("boundaries")
def test_a_topic_recreated_at_run_time_is_reported_as_one_difference(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A topic recreated at run time: the old state is served as stale, then the difference is reported once."""
    topic = kafka_topic("again")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"same": "1", "other": "1", "old": "1"})
    with durable(local_kafka, topic, tmp_path) as replica:
        version = decided(replica, local_kafka, topic).version
        heard: list[Change] = []
        replica.subscribe(heard.append)
        writer, open_one = (producer(local_kafka.bootstrap_servers, f"{topic}-{name}") for name in "ab")
        make_again(local_kafka, topic)
        if replica.status().boundaries != "markers":  # these wait for open transactions, and are stale meanwhile
            write(open_one, topic, {"open": "1"}, commit=None)
            write(writer, topic, {"same": "1", "other": "2", "new": "1"})
            wait_until(lambda: replica.status().stale)
            assert values(replica.snapshot()) == {"same": "1", "other": "1", "old": "1"}
            open_one.abort_transaction()
        else:
            write(writer, topic, {"same": "1", "other": "2", "new": "1"})
        wait_until(lambda: values(replica.snapshot()) == {"same": "1", "other": "2", "new": "1"})
        wait_until(lambda: heard[-1].version == replica.snapshot().version)
        assert not replica.status().stale
        later_changes = [(set(change.changed), set(change.deleted)) for change in heard if change.version > version]
        assert sum(b"old" in deleted for _, deleted in later_changes) == 1
        assert sum(b"other" in changed for changed, _ in later_changes) == 1
        assert sum(b"new" in changed for changed, _ in later_changes) == 1
        assert_same_as_topic(replica.snapshot(), local_kafka, topic)


def test_deletions_that_kafka_forgot(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Tombstones compacted away during downtime leave no ghost. With the check off there is one, so this test can fail.

    There is also one where the user states a longer retention of tombstones than the real one: the user is trusted.
    """
    topic = kafka_topic("forgotten", config=FORGETFUL)
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"deleted": "1", "kept": "1"})
    for boundaries in BOUNDARIES:
        with durable(local_kafka, topic, tmp_path / boundaries, boundaries=boundaries) as replica:
            decided(replica, local_kafka, topic)
    forget_deletions(local_kafka, topic, ["deleted"])
    for boundaries in BOUNDARIES:
        folder = tmp_path / boundaries
        for copy in ("off", "stated"):
            shutil.copytree(folder, tmp_path / copy / boundaries)
        with monkeypatch.context() as patch:
            patch.setattr(TombstoneCheck, "late", lambda _: None)
            assert b"deleted" in shown(local_kafka, topic, tmp_path / "off" / boundaries, boundaries)[0]
        keys, replica = shown(
            local_kafka, topic, tmp_path / "stated" / boundaries, boundaries, tombstones_kept_s=3600.0
        )
        assert b"deleted" in keys
        assert replica.status().counts.rebuilds == 0
        keys, replica = shown(local_kafka, topic, folder, boundaries)
        assert b"deleted" not in keys
        assert replica.status().counts.rebuilds == 1
        assert_same_as_topic(replica.snapshot(), local_kafka, topic)


BOUNDARIES = ("markers", "quiescence")


def shown(kafka: LocalKafka, topic: str, folder: Path, boundaries: Any, **options: Any) -> tuple[set[bytes], Replica]:
    """Return all keys that a replica started with this folder ever shows; and the replica, closed."""
    heard: list[Change] = []
    with Replica(config(kafka), topic, RocksStore(folder), boundaries=boundaries, **options) as replica:
        replica.subscribe(heard.append)
        replica.wait_ready(timeout_s=60)
        version = decided(replica, kafka, topic).version
        wait_until(lambda: heard and heard[-1].version == version)
        return {key for change in heard for key in change.snapshot}, replica


@pytest.mark.usefixtures("boundaries")
def test_the_front_of_the_log_was_deleted(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A log start past the position causes a rebuild, because the gap is unknown. Else deleted records are removed."""
    topic = kafka_topic("front", config={"cleanup.policy": "compact,delete"})
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {f"k{number}": "x" for number in range(10)})
    admin = AdminClient(config(local_kafka))
    with durable(local_kafka, topic, tmp_path) as replica:
        decided(replica, local_kafka, topic)
    for first, rebuilds, left in ((5, 0, 5), (20, 1, 2)):
        write(writer, topic, {f"k{number}": str(first) for number in range(5, 10)})
        place = TopicPartition(topic, 0, first)
        admin.delete_records([place])[place].result(10)
        with Replica(config(local_kafka), topic, RocksStore(tmp_path)) as replica:
            replica.wait_ready(timeout_s=60)
            snapshot = decided(replica, local_kafka, topic)
            assert replica.status().counts.rebuilds == rebuilds
            assert len(snapshot) == left
            assert_same_as_topic(snapshot, local_kafka, topic)
