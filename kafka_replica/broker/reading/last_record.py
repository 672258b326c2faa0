"""Find the last committed record of a key, or all keys of a topic, by reading the log.

Compaction never removes the last record of a key.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.settings import reader_settings
from kafka_replica.broker.errors import may_pass, translate_error
from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.records import Partition

_PRODUCER_ONLY = (
    "transactional.", "transaction.", "enable.idempotence", "linger.", "acks", "batch.", "compression.", "retries",
    "message.timeout", "message.send", "queue.buffering", "partitioner", "delivery.", "sticky.", "request.required",
    "request.timeout", "enable.gapless", "message.max.bytes", "max.in.flight", "isolation.level",
)  # fmt: skip
_AT_ONCE = 50
_MEMORY_LIMITS: dict[str, Any] = {"queued.max.messages.kbytes": 8192, "fetch.message.max.bytes": 4 << 20}


class FoundRecord(NamedTuple):
    """The key, value and offset of a record that was read."""

    key: bytes | None
    value: bytes | None
    offset: int


def last_of_key(
    config: Mapping[str, Any], partition: Partition, key: bytes, timeout_s: float, hint: int | None = None
) -> FoundRecord | None:
    """Return the last committed record of a key in a partition, or None.

    The function reads the partition up to its current end.

    Args:
        config: librdkafka's properties.
        partition: the partition to read.
        key: the key of the record.
        timeout_s: the time for which the broker may send nothing, in seconds.
        hint: an offset at which the key once had a record, from which to read first; a newer record has a higher
            offset. Without it, or if no record is found, the whole partition is read.

    Raises:
        BrokerError: Kafka did not answer or refused, or an open transaction blocked reading.
    """
    found: FoundRecord | None = None
    for start in (0,) if hint is None else (hint, 0):
        for record in committed_records(config, [partition], timeout_s, {partition: start}):
            if record.key == key:
                found = record
        if found is not None:
            break
    return found


def committed_records(
    config: Mapping[str, Any],
    partitions: list[Partition],
    timeout_s: float,
    begin: Mapping[Partition, int],
    *,
    decided_only: bool = False,
) -> Iterator[FoundRecord]:
    """Yield all committed records below the current high watermarks, each partition in log order.

    With ``decided_only``, yield the records below the last stable offsets, without waiting for open transactions.

    Raises:
        BrokerError: Kafka did not answer or refused, or an open transaction blocked reading.
    """
    own = {name: value for name, value in config.items() if not name.startswith(_PRODUCER_ONLY)}
    topics = Topics(own)
    beginnings = topics.beginnings(partitions, timeout_s)
    found_ends = topics.ends(partitions, timeout_s)
    ends = found_ends.last_stable if decided_only else found_ends.high_watermarks
    starts = {partition: max(beginnings[partition], begin.get(partition, 0)) for partition in partitions}
    todo = {partition: ends[partition] for partition in partitions if starts[partition] < ends[partition]}
    if not todo:
        return
    doing = f"reading {', '.join(map(str, partitions))}"
    with _consumer(own, doing) as consumer:
        consumer.assign([TopicPartition(*partition, starts[partition]) for partition in todo])
        received_s = time.monotonic()
        while todo:
            messages = consumer.consume(_AT_ONCE, 0.05)
            reached = dict[Partition, int]()
            for message in messages:
                found = _taken(message, doing)
                partition = Partition(message.topic() or "", message.partition() or 0)
                if partition in todo:  # partitions that are read to their ends may get new records all the time
                    received_s = time.monotonic()
                if found is not None and partition in todo and found.offset < ends[partition]:
                    yield found
                if found is not None or _is_end(message):  # a log may end in markers, which consumers do not see
                    reached[partition] = (message.offset() or 0) + (found is not None)
            todo = _left(
                consumer, {partition: end for partition, end in todo.items() if reached.get(partition, 0) < end}
            )
            if time.monotonic() - received_s > timeout_s:
                raise BrokerUnavailableError(
                    f"{doing}: no record arrived in {timeout_s:g} s, and {', '.join(map(str, todo))} is not read to "
                    "its "
                    "end; Kafka does not answer, or a transaction remains open there"
                )


def _is_end(message: Message) -> bool:
    error = message.error()
    return error is not None and error.code() == KafkaError._PARTITION_EOF


def _left(consumer: Consumer, todo: dict[Partition, int]) -> dict[Partition, int]:
    if not todo:
        return {}
    positions = consumer.position([TopicPartition(*partition) for partition in todo])
    return {
        partition: todo[partition]
        for position in positions
        if position.offset < todo[partition := Partition(position.topic, position.partition)]
    }


def _taken(message: Message, doing: str) -> FoundRecord | None:
    error = message.error()
    if error is None:
        return FoundRecord(message.key(), message.value(), message.offset() or 0)
    if error.code() == KafkaError._PARTITION_EOF or may_pass(error) or error.code() == _NO_GROUP:
        return None
    raise translate_error(error, doing)


_NO_GROUP = KafkaError.GROUP_AUTHORIZATION_FAILED  # concerns a group that we do not use


@contextmanager
def _consumer(config: Mapping[str, Any], doing: str) -> Iterator[Consumer]:
    settings = {
        **reader_settings({**_MEMORY_LIMITS, **config}), "enable.partition.eof": True, "auto.offset.reset": "earliest",
    }  # fmt: skip
    consumer = create_client(Consumer, settings, doing)
    try:
        yield consumer
    finally:
        with suppress(KafkaException, RuntimeError):
            consumer.close()
