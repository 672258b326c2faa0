"""Two infrequent requests: for the ends of leader epochs, which show truncation, and for settings of topics.

Versions: OffsetForLeaderEpoch 4, DescribeConfigs 4. Source: Kafka protocol guide, and KIP-320 for the first.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from kafka_replica.broker.wire.messages import by_topic
from kafka_replica.broker.wire.primitives import Cursor, Writer
from kafka_replica.records import Partition

_TOPIC = 2  # resource type
_ERROR = struct.Struct(">h")
_END = struct.Struct(">hiiq")


def epoch_ends_request(epochs: Mapping[Partition, int]) -> bytes:
    """Encode a query for the end offsets of the leader epochs of the batches read last."""
    topics = by_topic(dict.fromkeys(epochs))
    body = Writer().pack("i", -1).count(len(topics))
    for topic, numbers in topics.items():
        body.string(topic).count(len(numbers))
        for number in numbers:
            body.pack("iii", number, -1, epochs[Partition(topic, number)]).tags()
        body.tags()
    return body.tags().done()


def read_epoch_ends(data: memoryview) -> dict[Partition, tuple[int, int, int]]:
    """Decode the response: Partition -> (Kafka's error code, newest epoch up to the requested one, its end offset)."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    found: dict[Partition, tuple[int, int, int]] = {}
    for _ in range(cursor.uvarint() - 1):
        topic = cursor.string() or ""
        for _ in range(cursor.uvarint() - 1):
            error, number, epoch, end = cursor.unpack(_END)
            cursor.tags()
            found[Partition(topic, number)] = error, epoch, end
        cursor.tags()
    return found


def settings_request(topics: Sequence[str], names: Sequence[str]) -> bytes:
    """Encode a query for some settings of topics."""
    body = Writer().count(len(topics))
    for topic in topics:
        body.pack("b", _TOPIC).string(topic).count(len(names))
        for name in names:
            body.string(name)
        body.tags()
    return body.pack("??", False, False).tags().done()


def read_settings(data: memoryview) -> dict[str, tuple[int, dict[str, str | None]]]:
    """Decode the response: topic -> (Kafka's error code, the values of the requested settings)."""
    cursor = Cursor(data)
    cursor.at += 4  # throttle time
    return dict(cursor.array(_topic_settings))


def _topic_settings(cursor: Cursor) -> tuple[str, tuple[int, dict[str, str | None]]]:
    (error,) = cursor.unpack(_ERROR)
    cursor.string()  # error message
    cursor.at += 1  # resource type
    topic = cursor.string() or ""
    values = dict(cursor.array(_setting))
    cursor.tags()
    return topic, (error, values)


def _setting(cursor: Cursor) -> tuple[str, str | None]:
    name, value = cursor.string() or "", cursor.string()
    cursor.at += 3  # is read-only, source, is sensitive
    cursor.array(_synonym)
    cursor.at += 1  # type
    cursor.string()  # documentation
    cursor.tags()
    return name, value


def _synonym(cursor: Cursor) -> None:
    cursor.string()
    cursor.string()
    cursor.at += 1
    cursor.tags()
