"""Hanging transactions, ended the way an operator does it with ``kafka-transactions.sh abort`` (KIP-664).

A broker that was killed may give a transaction no markers in some partitions; ``log_witness`` describes how. If its
producer does not come back, nothing else ends it. Versions: DescribeProducers 0, WriteTxnMarkers 1.
"""

from __future__ import annotations

import socket
import struct
from typing import Any, NamedTuple

from confluent_kafka.admin import AdminClient

from kafka_replica.broker.wire.primitives import Cursor, Writer
from kafka_replica.broker.wire.transactions import producers_request
from kafka_replica.records import Partition

_DESCRIBE_PRODUCERS, _WRITE_TXN_MARKERS = 61, 27
_TIMEOUT_S = 30.0
_I32 = struct.Struct(">i")
_PARTITION = struct.Struct(">ih")
_PRODUCER = struct.Struct(">qiiqiq")


class HangingTransaction(NamedTuple):
    """An open transaction of a partition; the numbers are Kafka's."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    first_offset: int


def abort_open(admin: AdminClient, topic: str, partitions: int) -> list[str]:
    """Abort every transaction that is open in the topic; return what was aborted, as text.

    Raises:
        OSError: a broker does not answer.
    """
    known: Any = admin.list_topics(topic, timeout=_TIMEOUT_S)
    aborted = []
    for number in range(partitions):
        leader = known.brokers[known.topics[topic].partitions[number].leader]
        partition = Partition(topic, number)
        with socket.create_connection((leader.host, leader.port), _TIMEOUT_S) as link:
            for each in _read(_ask(link, _DESCRIBE_PRODUCERS, 0, producers_request([partition]))):
                _ask(link, _WRITE_TXN_MARKERS, 1, _abort_request(partition, each))
                aborted.append(f"producer {each.producer_id} at {number}@{each.first_offset}")
    return aborted


def _abort_request(partition: Partition, found: HangingTransaction) -> bytes:
    """Encode WriteTxnMarkers: one abort marker in one partition."""
    body = Writer().count(1).pack("qhb", found.producer_id, found.producer_epoch, 0)
    body.count(1).string(partition.topic).count(1).pack("i", partition.partition).tags()
    return body.pack("i", max(found.coordinator_epoch, 0)).tags().tags().done()


def _read(answer: bytes) -> list[HangingTransaction]:
    """Decode the answer of DescribeProducers for one partition: its open transactions."""
    cursor = Cursor(memoryview(answer), 4)  # after the throttle time
    found: list[HangingTransaction] = []
    for _ in range(cursor.uvarint() - 1):
        cursor.string()  # topic
        for _ in range(cursor.uvarint() - 1):
            cursor.unpack(_PARTITION)
            cursor.string()  # error message
            found += cursor.array(_active)
            cursor.tags()
        cursor.tags()
    return [each for each in found if each.first_offset >= 0]


def _active(cursor: Cursor) -> HangingTransaction:
    producer, epoch, _sequence, _last_ms, coordinator_epoch, first = cursor.unpack(_PRODUCER)
    cursor.tags()
    return HangingTransaction(producer, epoch, coordinator_epoch, first)


def _ask(link: socket.socket, api: int, version: int, body: bytes) -> bytes:
    """Send a request with a flexible header (version 2); return the body of the answer."""
    request = struct.pack(">hhi", api, version, 1) + struct.pack(">h", 5) + b"chaos" + b"\0" + body
    link.sendall(_I32.pack(len(request)) + request)
    (size,) = _I32.unpack(_exactly(link, 4))
    return _exactly(link, size)[5:]  # after correlation id and tags


def _exactly(link: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        part = link.recv(size - len(parts))
        if not part:
            raise ConnectionResetError("the broker has closed the connection")
        parts += part
    return bytes(parts)
