"""G6 on a real broker: a record that cannot be replicated stops a replica, or is left out and reported."""

from __future__ import annotations

import json
import os
from base64 import b64decode
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from kafka_replica import (
    BadRecordError,
    ConfigurationError,
    DeadLetterFile,
    Partition,
    Record,
    Replica,
    RocksStore,
    State,
)
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import PublishError
from kafka_replica.producer import DeadLetterTopic
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import config, decided, durable, values
from support.broker.kafka_tools import producer, quiet, write
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.quiescence_long]

BAD = "not wanted"


def refuse(record: Record) -> None:
    """The validator of these tests."""
    if record.value == BAD.encode():
        raise ValueError(f"{record.key.decode()} is {BAD}")


def write_keyless(made: Producer, topic: str) -> None:
    """Write a transaction of a good record and a record without a key."""
    made.begin_transaction()
    made.produce(topic, key=b"beside", value=b"1")
    made.produce(topic, value=b"no key", headers=[("h", b"\xff")])
    made.commit_transaction()


@pytest.mark.usefixtures("boundaries")
@pytest.mark.parametrize("kind", ["no key", "refused"])
def test_stop_keeps_the_last_good_version_and_names_the_record(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, kind: str
) -> None:
    """With ``stop`` the last good version stays, and the error names the place; a restart stops again or continues."""
    topic = kafka_topic("stop", config={"cleanup.policy": "delete"})
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"good": "1"})
    with durable(local_kafka, topic, tmp_path, validator=refuse) as replica:
        decided(replica, local_kafka, topic)
        if kind == "no key":
            write_keyless(writer, topic)
        else:
            write(writer, topic, {"beside": "1", "good": BAD})
        wait_until(lambda: replica.state is State.FAILED)
        assert values(replica.snapshot()) == {"good": "1"}
    with (
        Replica(config(local_kafka), topic, RocksStore(tmp_path), validator=refuse) as replica,
        pytest.raises(BadRecordError, match="it has no key" if kind == "no key" else "good is not wanted") as raised,
    ):
        replica.wait_ready(timeout_s=60)
    assert (raised.value.topic, raised.value.partition, raised.value.offset) == (topic, 0, 3)
    with durable(local_kafka, topic, tmp_path, validator=refuse, on_bad_record="skip") as replica:
        assert values(replica.snapshot()) == {"beside": "1", **({"good": "1"} if kind == "no key" else {})}
        assert [bad.offset for bad in replica.bad_records] == [3]


@pytest.mark.usefixtures("boundaries")
def test_a_bad_record_is_set_aside_until_a_good_one_replaces_it(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """A key is missing while its record is bad; a good record or a tombstone clears it, also after a restart.

    At each point a replica that starts today holds the same, and lists the same.
    """
    topic = kafka_topic("aside", partitions=2)
    options: dict[str, Any] = {"validator": refuse, "on_bad_record": "skip"}
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"a": "1", "b": "1", "c": "1", "d": "1"})

    def look(*bad: str) -> dict[str, str]:
        with durable(local_kafka, topic, tmp_path / "lasting", **options) as lasting:
            found = values(decided(lasting, local_kafka, topic, 2))
            assert {str(record.key, "utf8") for record in lasting.bad_records if record.key} == set(bad)
        with Replica(config(local_kafka), topic, **options) as fresh:
            fresh.wait_ready(timeout_s=60)
            assert values(decided(fresh, local_kafka, topic, 2)) == found
            assert {bad.key for bad in fresh.bad_records} == {bad.key for bad in lasting.bad_records}
        return found

    write(writer, topic, {"a": BAD, "b": BAD, "c": BAD})
    assert look("a", "b", "c") == {"d": "1"}
    write(writer, topic, {"a": "2"})
    assert look("b", "c") == {"a": "2", "d": "1"}
    write(writer, topic, {"b": None, "c": BAD})
    write(writer, topic, {"c": "3", "a": "4"}, commit=False)
    assert look("c") == {"a": "2", "d": "1"}


def test_bad_records_outlive_a_long_absence(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """The list of bad records survives an absence that is longer than the retention of tombstones."""
    topic = kafka_topic("absence")
    options: dict[str, Any] = {"validator": refuse, "on_bad_record": "skip", "boundaries": "markers"}
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"a": BAD, "b": BAD, "c": "1"})
    with durable(local_kafka, topic, tmp_path, **options) as replica:
        incarnation = decided(replica, local_kafka, topic) and replica.incarnation
    write(writer, topic, {"b": "2", "c": "2"})
    with durable(local_kafka, topic, tmp_path, **options, tombstones_kept_s=0.001) as replica:
        assert values(decided(replica, local_kafka, topic)) == {"b": "2", "c": "2"}
        assert [bad.key for bad in replica.bad_records] == [b"a"]
        assert replica.incarnation == incarnation
        assert replica.status().counts.rebuilds == 0


@pytest.mark.usefixtures("boundaries")
def test_dead_letters_in_a_file(local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path) -> None:
    """A dead letter file has one JSON object per line, with the whole record."""
    topic = kafka_topic("file", config={"cleanup.policy": "delete"})
    writer = producer(local_kafka.bootstrap_servers, topic)
    write_keyless(writer, topic)
    writer.begin_transaction()
    writer.produce(topic, key=b"\xff", value=BAD.encode(), headers=[("h", b"1"), ("h", None)], timestamp=12345)
    writer.commit_transaction()
    letters = DeadLetterFile(tmp_path / "letters")

    def refuse_all(record: Record) -> None:
        if record.key == b"\xff":
            raise ValueError("nö")

    with Replica(
        config(local_kafka), topic, validator=refuse_all, on_bad_record="dead-letter", dead_letters=letters
    ) as replica:
        replica.wait_ready(timeout_s=60)
        assert set(decided(replica, local_kafka, topic)) == {b"beside"}
    first, second = map(json.loads, (tmp_path / "letters").read_text(encoding="utf-8").splitlines())
    assert (first["topic"], first["partition"], first["offset"], first["key"]) == (topic, 0, 1, None)
    assert b64decode(first["value_base64"]) == b"no key"
    assert (second["offset"], second["key"], second["reason"], second["timestamp_ms"]) == (
        3,
        "\\xff",
        "ValueError: nö",
        12345,
    )
    assert b64decode(second["key_base64"]) == b"\xff"
    assert [(name, value and b64decode(value)) for name, value in second["headers"]] == [("h", b"1"), ("h", None)]


@pytest.mark.usefixtures("boundaries")
def test_dead_letters_in_a_topic(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A dead letter topic has the form of Kafka Connect: the original record, and the place and reason in headers."""
    topic, letters = (kafka_topic(name, config={"cleanup.policy": "delete"}) for name in ("from", "letters"))
    writer = producer(local_kafka.bootstrap_servers, topic)
    write_keyless(writer, topic)
    write(writer, topic, {"k": BAD, "good": "1"})
    with Replica(
        config(local_kafka), topic, validator=refuse, on_bad_record="dead-letter",
        dead_letters=DeadLetterTopic(config(local_kafka), letters),
    ) as replica:  # fmt: skip
        replica.wait_ready(timeout_s=60)
        assert set(decided(replica, local_kafka, topic)) == {b"beside", b"good"}
    reader = Consumer(quiet({"bootstrap.servers": local_kafka.bootstrap_servers, "group.id": "letters"}))
    reader.assign([TopicPartition(letters, 0, 0)])
    first, second = reader.consume(2, 20)
    reader.close()
    assert (first.key(), first.value()) == (None, b"no key")
    where = [("topic", topic.encode()), ("partition", b"0"), ("offset", b"1")]
    reason = b"it has no key, so it replaces nothing and nothing can delete it"
    named = [(f"__connect.errors.{name}", value) for name, value in [*where, ("exception.message", reason)]]
    assert first.headers() == [("h", b"\xff"), *named]
    assert (second.key(), second.value()) == (b"k", BAD.encode())
    assert dict(second.headers() or [])["__connect.errors.exception.message"] == b"ValueError: k is not wanted"


def test_dead_letters_that_cannot_be_written_end_the_replica(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Dead letters that cannot be written end the replica without losing a record; later it continues."""
    topic, compacted = kafka_topic("source"), kafka_topic("refuses", config={"max.message.bytes": "200"})
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"good": "1"})
    options: dict[str, Any] = {"validator": refuse, "on_bad_record": "dead-letter"}
    letters = DeadLetterTopic(config(local_kafka), compacted, timeout_s=10)
    with durable(local_kafka, topic, tmp_path / "store", dead_letters=letters, **options) as replica:
        decided(replica, local_kafka, topic)
        write(writer, topic, {os.urandom(200).hex(): BAD, "good": "2"})
        wait_until(lambda: replica.state is State.FAILED)
        assert values(replica.snapshot()) == {"good": "1"}
        with pytest.raises(PublishError, match=r"(?s)dead letter of .*, offset 2, key '[0-9a-f]+' .*max\.message"):
            replica.wait_for({Partition(topic, 0): 1_000_000}, timeout_s=20)
    with durable(local_kafka, topic, tmp_path / "store", dead_letters=DeadLetterFile(tmp_path / "f"), **options) as one:
        assert values(decided(one, local_kafka, topic)) == {"good": "2"}
    assert (tmp_path / "f").read_text(encoding="utf-8").count("\n") == 1
    with pytest.raises(ConfigurationError, match="no property 'nonsense'"):
        DeadLetterTopic({**config(local_kafka), "nonsense": 1}, topic)
