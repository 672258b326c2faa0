"""The three main requests of a reader and their responses: Metadata, ListOffsets, Fetch.

Versions: Metadata 12 and Fetch 13 are the first versions that identify a topic by its id, so that the broker
rejects a fetch from a topic that was deleted and recreated (Kafka 3.1 and later); ListOffsets 7.
Source: Kafka protocol guide, and the message definitions of Apache Kafka.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple
from uuid import UUID

from kafka_replica.broker.wire.primitives import Cursor, Writer, uvarint
from kafka_replica.records import Partition

FETCH, LIST_OFFSETS, METADATA, EPOCH_ENDS, DESCRIBE_CONFIGS = 1, 2, 3, 23, 32
FIND_COORDINATOR, ADD_PARTITIONS, END_TXN = 10, 24, 26
DESCRIBE_PRODUCERS, DESCRIBE_TRANSACTIONS = 61, 65
VERSIONS = {
    FETCH: 13, LIST_OFFSETS: 7, METADATA: 12, EPOCH_ENDS: 4, DESCRIBE_CONFIGS: 4,
    FIND_COORDINATOR: 3, ADD_PARTITIONS: 3, END_TXN: 3,
    DESCRIBE_PRODUCERS: 0, DESCRIBE_TRANSACTIONS: 0,
}  # fmt: skip
"""The version used of each API."""
TO_READ = (FETCH, LIST_OFFSETS, METADATA, EPOCH_ENDS, DESCRIBE_CONFIGS)
"""The APIs that every broker must support for reading; the others are for transactions."""

LATEST, EARLIEST = -1, -2
READ_UNCOMMITTED, READ_COMMITTED = 0, 1

_ERROR = struct.Struct(">h")
_I32 = struct.Struct(">i")
_PARTITION = struct.Struct(">hiii")
_FETCHED = struct.Struct(">ihqqq")
_OFFSET = struct.Struct(">ihqqi")
# replica, time, bytes, isolation level, session; and for each partition: number, leader epoch, offset, epoch of the
# last batch read, log start, bytes, no tags
_FETCH, _FETCH_FROM = struct.Struct(">iiiibii"), struct.Struct(">iiqiqib")
_FETCH_END = b"\1\1\0"  # no forgotten topics, no rack, no tags


class TopicMetadata(NamedTuple):
    """A broker's metadata of a topic; ``error`` is Kafka's code, 0 if there is no error."""

    name: str
    topic_id: UUID
    error: int
    leaders: dict[int, int]
    """Partition -> the node id of its leader; -1 if there is currently none."""
    epochs: dict[int, int]
    """Partition -> the epoch of that leader, which increases with each change."""
    replicas: dict[int, frozenset[int]]
    """Partition -> the brokers that have a copy of the partition; the next leader will be one of them."""


class MetadataResponse(NamedTuple):
    """A broker's metadata of the cluster."""

    brokers: dict[int, tuple[str, int]]
    topics: dict[str, TopicMetadata]


def metadata_request(topics: Iterable[str]) -> bytes:
    """Encode a query for topics by name, which does not create topics."""
    names = list(topics)
    body = Writer().count(len(names))
    for name in names:
        body.raw(bytes(16)).string(name).tags()
    return body.pack("??", False, False).tags().done()


def read_metadata(data: memoryview) -> MetadataResponse:
    """Decode a response to Metadata."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    brokers = dict(cursor.array(_broker))
    cursor.string()  # cluster id
    cursor.at += 4  # controller
    return MetadataResponse(brokers, {topic.name: topic for topic in cursor.array(_topic)})


def _broker(cursor: Cursor) -> tuple[int, tuple[str, int]]:
    (node,) = cursor.unpack(_I32)
    host = cursor.string() or ""
    (port,) = cursor.unpack(_I32)
    cursor.string()  # rack
    cursor.tags()
    return node, (host, port)


def _topic(cursor: Cursor) -> TopicMetadata:
    (error,) = cursor.unpack(_ERROR)
    name = cursor.string() or ""
    topic_id = UUID(bytes=bytes(cursor.take(16)))
    cursor.at += 1  # is internal
    found = cursor.array(_partition)
    cursor.at += 4  # authorized operations
    cursor.tags()
    leaders = {partition: leader for partition, leader, _, _ in found}
    epochs = {partition: epoch for partition, _, epoch, _ in found}
    replicas = {partition: frozenset(nodes) for partition, _, _, nodes in found}
    return TopicMetadata(name, topic_id, error, leaders, epochs, replicas)


def _partition(cursor: Cursor) -> tuple[int, int, int, list[int]]:
    _error, partition, leader, epoch = cursor.unpack(_PARTITION)
    replicas = cursor.array(_node)
    for _ in range(2):  # in-sync replicas, offline replicas
        cursor.skip_array(4)
    cursor.tags()
    return partition, leader, epoch, replicas


def _node(cursor: Cursor) -> int:
    return cursor.unpack(_I32)[0]


def offsets_request(partitions: Iterable[Partition], timestamp: int, isolation: int) -> bytes:
    """Encode a query for the first or last offsets of partitions."""
    topics = by_topic(dict.fromkeys(partitions))
    body = Writer().pack("ib", -1, isolation).count(len(topics))
    for topic, numbers in topics.items():
        body.string(topic).count(len(numbers))
        for number in numbers:
            body.pack("iiq", number, -1, timestamp).tags()
        body.tags()
    return body.tags().done()


def read_offsets(data: memoryview) -> dict[Partition, tuple[int, int]]:
    """Decode a response to ListOffsets: Partition -> (Kafka's error code, offset)."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    found: dict[Partition, tuple[int, int]] = {}
    for _ in range(cursor.uvarint() - 1):
        topic = cursor.string() or ""
        for _ in range(cursor.uvarint() - 1):
            number, error, _timestamp, offset, _epoch = cursor.unpack(_OFFSET)
            cursor.tags()
            found[Partition(topic, number)] = error, offset
        cursor.tags()
    return found


class FetchFrom(NamedTuple):
    """The position at which to fetch a partition; ``epoch`` is the leader epoch of the last batch read, or -1.

    With the epoch the broker detects that the log was truncated and has grown again since (KIP-595).
    """

    topic_id: UUID
    number: int
    offset: int
    epoch: int


class FetchLimits(NamedTuple):
    """The size and time limits of a fetch, such as librdkafka's ``fetch.wait.max.ms``."""

    wait_ms: int
    min_bytes: int
    max_bytes: int
    partition_bytes: int


def fetch_request(fetches: Iterable[FetchFrom], limits: FetchLimits) -> bytes:
    """Encode a fetch of batches, committed or not, including markers."""
    topics: dict[UUID, list[bytes]] = {}
    for topic_id, number, offset, epoch in fetches:
        wanted = _FETCH_FROM.pack(number, -1, offset, epoch, -1, limits.partition_bytes, 0)
        topics.setdefault(topic_id, []).append(wanted)
    head = _FETCH.pack(-1, limits.wait_ms, limits.min_bytes, limits.max_bytes, READ_UNCOMMITTED, 0, -1)
    body = [head, uvarint(len(topics) + 1)]
    for topic_id, partitions in topics.items():
        body += [topic_id.bytes, uvarint(len(partitions) + 1), *partitions, b"\0"]
    body.append(_FETCH_END)
    return b"".join(body)


class FetchedPartition(NamedTuple):
    """The part of a fetch response that belongs to a partition."""

    topic_id: UUID
    number: int
    error: int
    high_watermark: int
    stable: int
    log_start: int
    diverged: bool
    """True if the log was truncated below the fetch position."""
    batches: memoryview


def throttle_ms(data: memoryview) -> int:
    """Return for how long the broker answers nothing else on the connection, by a response to Fetch."""
    (found,) = _I32.unpack_from(data)
    return int(found)


def read_fetch(data: memoryview) -> tuple[int, list[FetchedPartition]]:
    """Decode a response to Fetch: (Kafka's error code of the whole response, its partitions)."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    (error,) = cursor.unpack(_ERROR)
    cursor.at += 4  # session
    found: list[FetchedPartition] = []
    for _ in range(cursor.uvarint() - 1):
        topic_id = _topic_id(bytes(cursor.take(16)))
        for _ in range(cursor.uvarint() - 1):
            number, code, high, stable, start = cursor.unpack(_FETCHED)
            cursor.array(_aborted)
            cursor.at += 4  # preferred replica
            batches = cursor.take(max(0, cursor.uvarint() - 1))
            diverged = 0 in cursor.tags()
            found.append(FetchedPartition(topic_id, number, code, high, stable, start, diverged, batches))
        cursor.tags()
    return error, found


@lru_cache(maxsize=1000)
def _topic_id(data: bytes) -> UUID:
    return UUID(bytes=data)


def _aborted(cursor: Cursor) -> None:
    cursor.at += 16
    cursor.tags()


def by_topic(partitions: Mapping[Partition, None]) -> dict[str, list[int]]:
    """Return the partition numbers of each topic."""
    topics: dict[str, list[int]] = {}
    for partition in partitions:
        topics.setdefault(partition.topic, []).append(partition.partition)
    return topics
