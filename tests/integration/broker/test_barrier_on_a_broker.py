"""G3 on a real broker: ready means that everything at the start is there, however the log ends."""

from __future__ import annotations

import time
from typing import Any

import pytest

from kafka_replica import Replica, State, WaitTimeoutError
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import AGGRESSIVE, ends, producer, quiet, wait_decided, write
from support.broker.log_tools import records
from support.waiting import wait_until

pytestmark = pytest.mark.broker
either = pytest.mark.usefixtures("boundaries")


def replica_of(kafka: LocalKafka, topic: str, **options: Any) -> Replica:
    """A replica with short times."""
    return Replica(quiet({"bootstrap.servers": kafka.bootstrap_servers}), topic, blocked_after_s=0.5, **options)


@either
def test_an_empty_topic(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A replica of an empty topic is ready immediately, with version 1 and no keys."""
    with replica_of(local_kafka, kafka_topic("empty")) as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        assert (snapshot.version, len(snapshot)) == (1, 0)
        assert replica.state is State.LIVE


@either
def test_a_log_that_ends_in_markers(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A log whose last offset is a commit marker, which no consumer is shown, makes a replica ready."""
    topic = kafka_topic("markers")
    write(producer(local_kafka.bootstrap_servers, topic), topic, {"a": "1", "b": "2"})
    end = wait_decided(local_kafka.bootstrap_servers, topic)
    with replica_of(local_kafka, topic) as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        assert end == 3
        assert list(snapshot.position.values()) == [3]
        assert sorted(snapshot) == [b"a", b"b"]


@either
def test_a_log_that_ends_in_aborted_data(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A log whose last records were aborted makes a replica ready, and shows none of them."""
    topic = kafka_topic("aborted")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"a": "1"})
    write(writer, topic, {"a": "2", "ghost": "2"}, commit=False)
    end = wait_decided(local_kafka.bootstrap_servers, topic)
    with replica_of(local_kafka, topic) as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        assert list(snapshot.position.values()) == [end]
        assert {key: record.value for key, record in snapshot.items()} == {b"a": b"1"}


def test_an_open_transaction_blocks_and_releases(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A replica behind an open transaction is blocked, and reports where; the transaction's end releases it."""
    topic = kafka_topic("open")
    first, second = (producer(local_kafka.bootstrap_servers, f"{topic}-{i}") for i in range(2))
    write(first, topic, {"a": "1"})
    wait_until(lambda: ends(local_kafka.bootstrap_servers, topic) == (2, 2))  # the marker follows the answer
    write(second, topic, {"b": "open"}, commit=None)
    write(first, topic, {"c": "3"})
    stable, high = ends(local_kafka.bootstrap_servers, topic)
    assert stable == 2 < high
    with replica_of(local_kafka, topic, boundaries="quiescence") as replica:
        wait_until(lambda: replica.state is State.BLOCKED)
        with pytest.raises(WaitTimeoutError, match=rf"a transaction is open at {topic}-0@2"):
            replica.wait_ready(timeout_s=2)
        status = replica.status()
        assert status.state is State.BLOCKED
        assert status.blocked_s > 0.5
        assert not status.ready
        second.commit_transaction()
        snapshot = replica.wait_ready(timeout_s=60)
        assert {key: record.value for key, record in snapshot.items()} == {b"a": b"1", b"b": b"open", b"c": b"3"}
        wait_until(lambda: replica.state is State.LIVE)


def test_an_open_transaction_makes_a_live_replica_blocked(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A later open transaction blocks a live replica, which keeps its version and shows lag; an abort ends it."""
    topic = kafka_topic("later")
    first, second = (producer(local_kafka.bootstrap_servers, f"{topic}-{i}") for i in range(2))
    with replica_of(local_kafka, topic, boundaries="quiescence") as replica:
        replica.wait_ready(timeout_s=60)
        write(second, topic, {"b": "open"}, commit=None)
        write(first, topic, {"c": "3"})
        wait_until(lambda: replica.state is State.BLOCKED)
        assert len(replica.snapshot()) == 0
        status = replica.status()
        assert status.lag_records == 3
        assert status.lag_stable_records == 0
        assert status.lag_s is not None
        assert status.lag_s > 0
        second.abort_transaction()
        wait_until(lambda: set(replica.snapshot()) == {b"c"})


def test_an_open_transaction_is_reported_not_waited_for(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """With markers, transactions behind an open one are shown; the open one follows when it ends."""
    topic = kafka_topic("hung")
    first, second = (producer(local_kafka.bootstrap_servers, f"{topic}-{i}") for i in range(2))
    write(first, topic, {"a": "1"})
    wait_until(lambda: ends(local_kafka.bootstrap_servers, topic) == (2, 2))  # the marker follows the answer
    write(second, topic, {"b": "open", "a": "2"}, commit=None)
    write(first, topic, {"c": "3", "a": "3"})
    with replica_of(local_kafka, topic, boundaries="markers") as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        assert {key: record.value for key, record in snapshot.items()} == {b"a": b"3", b"c": b"3"}
        assert [(open_.first_offset, open_.partition.topic) for open_ in snapshot.position.open] == [(2, topic)]
        wait_until(lambda: replica.status().blocked_s >= 0.6)
        status = replica.status()
        assert (status.state, status.blocking_transaction) == (State.LIVE, f"{topic}-0@2")
        second.commit_transaction()
        changes = replica.changes(timeout_s=20)
        change = next(changes)
        while "b" not in change.snapshot:
            change = next(changes)
        assert {key: record.value for key, record in change.snapshot.items()} == {
            b"a": b"3",  # written later than by the one that was committed last
            b"b": b"open",
            b"c": b"3",
        }
        assert change.position.open == ()


@either
def test_an_emptied_log_makes_a_replica_ready(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A log whose keys were all deleted and whose tombstones were removed makes a replica ready."""
    topic = kafka_topic("cleaned", config=AGGRESSIVE)
    writer = producer(local_kafka.bootstrap_servers, topic)
    for _ in range(3):
        write(writer, topic, {f"k{i}": "x" for i in range(50)})
        write(writer, topic, {f"k{i}": None for i in range(50)})
        time.sleep(0.3)
    end = wait_decided(local_kafka.bootstrap_servers, topic)
    wait_until(lambda: len(records(local_kafka, topic)) < 300)
    with replica_of(local_kafka, topic) as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        assert len(snapshot) == 0
        assert next(iter(snapshot.position.values())) >= end
        assert replica.status().counts.records < 300
