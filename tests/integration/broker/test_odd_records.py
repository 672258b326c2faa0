"""Unusual valid records: empty values, any bytes as keys, many headers, needless tombstones, values of 100 MB."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_replica import KeyFilter, Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import assert_same_as_topic, config, decided, durable
from support.broker.kafka_tools import independent_read, producer, quiet, write

pytestmark = pytest.mark.broker

HEADERS = [(f"h{number % 7}", None if number % 3 else b"\xff" * number) for number in range(100)]


@pytest.mark.usefixtures("boundaries")
def test_any_bytes_come_through_unchanged(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """Any bytes come through unchanged, also after a restart; an empty value is a value, not a tombstone."""
    topic = kafka_topic("odd")
    odd = {b"": b"of the empty key", b"\x00": b"\x00", b"\xff\xfe": b"", b"k" * 30_000: b"long", "é".encode(): b"1"}
    writer = producer(local_kafka.bootstrap_servers, topic)
    writer.begin_transaction()
    for key, value in odd.items():
        writer.produce(topic, key=key, value=value, headers=HEADERS)  # type: ignore[arg-type]
    writer.commit_transaction()
    for _ in range(2):
        with durable(local_kafka, topic, tmp_path) as replica:
            snapshot = decided(replica, local_kafka, topic)
            assert {key: record.value for key, record in snapshot.items()} == odd
            assert all(record.headers == tuple(HEADERS) for record in snapshot.values())
            assert b"\xff\xfe" in snapshot
            assert not snapshot[b"\xff\xfe"].is_tombstone


@pytest.mark.usefixtures("boundaries")
def test_tombstones_for_unknown_keys(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A tombstone of an unknown, deleted or new key deletes nothing, and is not reported as a deletion."""
    topic = kafka_topic("unknown")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"k": "1", "never there": None})
    with durable(local_kafka, topic, tmp_path) as replica:
        decided(replica, local_kafka, topic)
        changes = replica.changes(since=replica.snapshot().version, timeout_s=20)
        write(writer, topic, {"unknown": None, "never there": None})
        decided(replica, local_kafka, topic)
        write(writer, topic, {"k": None})
        decided(replica, local_kafka, topic)
        received = [next(changes), next(changes)]
        assert [(list(change.changed), list(change.deleted)) for change in received] == [([], []), ([], [b"k"])]
        assert len(replica.snapshot()) == 0
    assert replica.status().counts.tombstones == 4


@pytest.mark.long
def test_a_value_of_100_mb(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A value larger than any fetch is read with either kind of boundaries, written to disk, and kept."""
    size = 100_000_000
    topic = kafka_topic("large", config={"max.message.bytes": str(size + 10_000)})
    settings = quiet({"bootstrap.servers": local_kafka.bootstrap_servers, "message.max.bytes": size + 10_000})
    plain = Producer({**settings, "compression.type": "none"})
    value = bytes(range(250)) * (size // 250)
    plain.produce(topic, key=b"small", value=b"1")
    plain.produce(topic, key=b"large", value=value)
    plain.produce(topic, key=b"after", value=b"1")
    assert plain.flush(60) == 0
    for boundaries in ("markers", "quiescence"):
        for records in (3, 0) if boundaries == "markers" else (3,):
            with durable(local_kafka, topic, tmp_path / boundaries, boundaries=boundaries) as replica:
                snapshot = decided(replica, local_kafka, topic)
                assert snapshot["large"].value == value
                assert set(snapshot) == {b"small", b"large", b"after"}
            assert replica.status().counts.records == records


@pytest.mark.usefixtures("boundaries")
def test_a_store_of_another_filter_is_rebuilt(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A store written with another filter is rebuilt; the state equals a fresh replica's, and the topic."""
    topic = kafka_topic("filter", partitions=2)
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {f"{kind}{number}": "1" for number in range(10) for kind in "ab"})
    for letter in ("a", "b"):
        key_filter = KeyFilter.prefix(letter)
        with durable(local_kafka, topic, tmp_path, key_filter=key_filter) as replica:
            write(writer, topic, {"a1": None, "b2": None, "a3": letter, "b4": letter})
            snapshot = decided(replica, local_kafka, topic, 2)
            found = independent_read(local_kafka.bootstrap_servers, topic, 2)
            assert {key: (record.value, record.offset) for key, record in snapshot.items()} == {
                key: stored for key, stored in found.items() if key.startswith(letter.encode())
            }
        with Replica(config(local_kafka), topic, key_filter=key_filter) as fresh:
            fresh.wait_ready(timeout_s=60)
            assert dict(decided(fresh, local_kafka, topic, 2)) == dict(snapshot)
    with durable(local_kafka, topic, tmp_path) as replica:
        assert_same_as_topic(decided(replica, local_kafka, topic, 2), local_kafka, topic, 2)
