"""Tools for the content and changes of a log, without kafka_replica's readers."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.errors import EmbeddedKafkaError
from support.broker.kafka_tools import AGGRESSIVE, producer, quiet, write

FORGETFUL = {**AGGRESSIVE, "delete.retention.ms": "3000"}
"""Compacted as aggressively as Kafka allows, with tombstones that are kept for three seconds.

That is more than the tolerance of a replica, and enough time to read a small topic on a busy machine.
"""


def records(kafka: LocalKafka, topic: str) -> list[tuple[bytes | None, bytes | None]]:
    """Return all keys and values that are left in the log of one partition, including tombstones."""
    settings = quiet({
        "bootstrap.servers": kafka.bootstrap_servers, "group.id": "log", "enable.partition.eof": True,
        "enable.auto.commit": False, "auto.offset.reset": "earliest", "fetch.wait.max.ms": 10,
    })  # fmt: skip
    reader = Consumer(settings)
    reader.assign([TopicPartition(topic, 0, 0)])
    try:
        return list(_until_the_end(reader))
    finally:
        reader.close()


def _until_the_end(reader: Consumer) -> Iterator[tuple[bytes | None, bytes | None]]:
    while True:
        message = reader.poll(20)
        assert message is not None, "nothing was heard"
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            return
        yield message.key(), message.value()


def forget_deletions(kafka: LocalKafka, topic: str, keys: list[str]) -> None:
    """Delete keys, and wait until the log no longer contains the tombstones."""
    writer = producer(kafka.bootstrap_servers, f"{topic}-forget")
    write(writer, topic, dict.fromkeys(keys))
    wait_compacted(kafka, topic, lambda left: all(value is not None for _, value in left))


def wait_compacted(
    kafka: LocalKafka, topic: str, is_done: Callable[[list[tuple[bytes | None, bytes | None]]], bool]
) -> None:
    """Write more records, because the last ones are never compacted, until the log has the desired state."""
    writer = producer(kafka.bootstrap_servers, f"{topic}-on")
    give_up_s = time.monotonic() + 120
    while not is_done(records(kafka, topic)):
        assert time.monotonic() < give_up_s, f"{topic} was not compacted in time"
        write(writer, topic, {"filler": "x"})
        time.sleep(0.15)


def make_again(kafka: LocalKafka, topic: str, partitions: int = 1) -> None:
    """Delete a topic, and create it again as soon as Kafka allows it."""
    admin = AdminClient(quiet({"bootstrap.servers": kafka.bootstrap_servers}))
    admin.delete_topics([topic])[topic].result(10)
    give_up_s = time.monotonic() + 30
    while True:
        try:
            kafka.create_topic(topic, partitions, {"cleanup.policy": "compact"})
        except EmbeddedKafkaError:
            assert time.monotonic() < give_up_s
            time.sleep(0.05)
        else:
            return


def folder_of(kafka: LocalKafka, topic: str, partition: int = 0) -> Path:
    """Return the folder of a partition's log, of a broker that keeps its data."""
    assert kafka._kept is not None
    return next(kafka._kept.rglob(f"{topic}-{partition}"))
