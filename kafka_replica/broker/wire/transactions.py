"""Requests to inspect and end a producer's transactions without a producer client.

Versions: FindCoordinator 3, AddPartitionsToTxn 3, EndTxn 3, DescribeProducers 0 and DescribeTransactions 0 (both of
KIP-664). Source: the message definitions of Apache Kafka.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import NamedTuple

from kafka_replica.broker.wire.messages import by_topic
from kafka_replica.broker.wire.primitives import Cursor, Writer
from kafka_replica.records import Partition

_TRANSACTION = 1  # coordinator type
_ERROR = struct.Struct(">h")
_I32 = struct.Struct(">i")
_PRODUCER = struct.Struct(">qh")
_PARTITION = struct.Struct(">ih")
_ACTIVE = struct.Struct(">qiiqiq")
_NODE = struct.Struct(">i")


class ProducerId(NamedTuple):
    """Kafka's numeric id of a producer, and the epoch that fences its predecessors."""

    number: int
    epoch: int


def coordinator_request(transactional_id: str) -> bytes:
    """Encode a query for the coordinator of a transactional id."""
    return Writer().string(transactional_id).pack("b", _TRANSACTION).tags().done()


def read_coordinator(data: memoryview) -> tuple[int, int]:
    """Decode the response: Kafka's error code and the broker's node id."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    (error,) = cursor.unpack(_ERROR)
    cursor.string()  # error message
    (node,) = cursor.unpack(_NODE)
    return error, node


def add_partitions_request(transactional_id: str, producer: ProducerId, partitions: Iterable[Partition]) -> bytes:
    """Encode a request to begin a transaction with these partitions."""
    topics = by_topic(dict.fromkeys(partitions))
    body = Writer().string(transactional_id).pack("qh", *producer).count(len(topics))
    for topic, numbers in topics.items():
        body.string(topic).count(len(numbers)).pack("i" * len(numbers), *numbers).tags()
    return body.tags().done()


def read_add_partitions(data: memoryview) -> int:
    """Decode the response: the first of Kafka's error codes, 0 if there is none."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    found: list[int] = []
    for _ in range(cursor.uvarint() - 1):
        cursor.string()
        for _ in range(cursor.uvarint() - 1):
            _number, error = cursor.unpack(_PARTITION)
            found.append(error)
            cursor.tags()
        cursor.tags()
    return next(filter(None, found), 0)


def end_request(transactional_id: str, producer: ProducerId, *, commit: bool) -> bytes:
    """Encode a request to commit or abort the producer's transaction."""
    return Writer().string(transactional_id).pack("qh?", *producer, commit).tags().done()


def read_end(data: memoryview) -> int:
    """Decode the response: Kafka's error code."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    return cursor.unpack(_ERROR)[0]


def transaction_request(transactional_id: str) -> bytes:
    """Encode a query for the coordinator's state of a transactional id."""
    return Writer().count(1).string(transactional_id).tags().done()


class TransactionState(NamedTuple):
    """The coordinator's state of a transactional id."""

    error: int
    """Kafka's error code; 0 if there is no error."""
    state: str
    """``Empty``, ``Ongoing``, ``PrepareCommit``, ``CompleteCommit``, ..."""
    producer: ProducerId


def read_transaction(data: memoryview) -> TransactionState:
    """Decode the response."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    cursor.uvarint()  # the request was for one id
    (error,) = cursor.unpack(_ERROR)
    cursor.string()  # the transactional id
    state = cursor.string() or ""
    cursor.at += 4 + 8  # timeout, start time
    return TransactionState(error, state, ProducerId(*cursor.unpack(_PRODUCER)))


def producers_request(partitions: Iterable[Partition]) -> bytes:
    """Encode a query for the producers that have written to partitions."""
    topics = by_topic(dict.fromkeys(partitions))
    body = Writer().count(len(topics))
    for topic, numbers in topics.items():
        body.string(topic).count(len(numbers)).pack("i" * len(numbers), *numbers).tags()
    return body.tags().done()


def read_producers(data: memoryview) -> dict[Partition, tuple[int, dict[int, int]]]:
    """Decode the response: for each partition Kafka's error code, and the first offset of open transactions."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    found: dict[Partition, tuple[int, dict[int, int]]] = {}
    for _ in range(cursor.uvarint() - 1):
        topic = cursor.string() or ""
        for _ in range(cursor.uvarint() - 1):
            number, error = cursor.unpack(_PARTITION)
            cursor.string()  # error message
            active = dict(cursor.array(_active))
            cursor.tags()
            found[Partition(topic, number)] = (
                error,
                {producer: first for producer, first in active.items() if first >= 0},
            )
        cursor.tags()
    return found


def _active(cursor: Cursor) -> tuple[int, int]:
    producer, _epoch, _sequence, _last_ms, _coordinator_epoch, first = cursor.unpack(_ACTIVE)
    cursor.tags()
    return producer, first
