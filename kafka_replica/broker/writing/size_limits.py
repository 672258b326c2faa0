"""Find out which size limit a record exceeded: the client's own, the topic's, or the brokers'.

Three limits have similar names, but differ:

* ``max.request.size`` (librdkafka: ``message.max.bytes``) is the client's own. It counts key and value BEFORE
  compression, and the client does not send larger records.
* ``max.message.bytes`` is the topic's. It counts a batch AFTER compression.
* ``message.max.bytes`` is the brokers' limit, with the same meaning, for topics without a limit of their own.

A value that is larger than the client's whole queue (``queue.buffering.max.kbytes``) cannot be sent, either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from confluent_kafka import KafkaError

from kafka_replica.broker.admin.topics import Topics
from kafka_replica.broker.connection.settings import common_settings
from kafka_replica.errors import BrokerError

LIBRDKAFKA_BATCH_BYTES: Final = 1_000_000
"""The default of librdkafka's ``batch.size``."""

OWN_LIMIT: Final = "max.request.size (librdkafka calls it message.max.bytes)"
"""The name of the client's own limit, for users."""
QUEUE_LIMIT: Final = "queue.buffering.max.kbytes"
"""The size of the client's queue, which a value must not exceed."""
DEFAULT_QUEUE_KBYTES: Final = 1_048_576
"""The default of librdkafka for this size."""

_TOO_LARGE = {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}


def is_too_large(error: KafkaError) -> bool:
    """Return whether a record or batch was refused for its size; the error does not name the limit."""
    return error.code() in _TOO_LARGE


class OwnLimit(NamedTuple):
    """The limit of a client for key and value of a record together, before compression."""

    size_bytes: int
    setting: str
    """The property to raise."""


def over_own_limit(
    doing: str, size_bytes: int, limit_bytes: int, done: str = "sent", *, setting: str = OWN_LIMIT
) -> str:
    """Return the error message for a record over the client's own limit, which was not sent, or not recorded."""
    return (
        f"{doing}: MSG_SIZE_TOO_LARGE: key and value have {size_bytes:,} bytes before compression, and this producer's "
        f"own limit is {limit_bytes:,}, so it was not {done}; raise {setting}"
    )


def over_kafkas_limit(doing: str, config: Mapping[str, Any], topic: str, size_bytes: int, timeout_s: float) -> str:
    """Return the error message for a record that Kafka refused for its size; query the limit, if this is permitted."""
    start = f"{doing}: Kafka reports MSG_SIZE_TOO_LARGE: {size_bytes:,} bytes before compression were sent"
    try:
        limit = Topics(config).largest_batch(topic, timeout_s)
    except BrokerError:  # for example, without permission DescribeConfigs
        return (
            f"{start}, and the limit of the topic, after compression, is lower; raise max.message.bytes of topic "
            f"{topic}, or the "
            "brokers' message.max.bytes if the topic has none of its own"
        )
    if limit.is_the_topics_own:
        return (
            f"{start}, and topic {topic} accepts batches of {limit.size_bytes:,} bytes after compression, by its own "
            f"max.message.bytes; raise it: kafka-configs --alter --entity-type topics --entity-name {topic} "
            "--add-config max.message.bytes=BYTES"
        )
    return (
        f"{start}, and the brokers accept batches of {limit.size_bytes:,} bytes after compression, by their "
        f"message.max.bytes; topic {topic} has no max.message.bytes of its own. Set one: kafka-configs --alter "
        f"--entity-type topics --entity-name {topic} --add-config max.message.bytes=BYTES, or raise the brokers'"
    )


def fitting_batches(config: Mapping[str, Any], topics: list[str], timeout_s: float) -> dict[str, int]:
    """Return ``batch.size`` if a topic's limit is below the default, because larger batches would be refused.

    Returns:
        The property ``batch.size``; empty if the user has set it, a default batch fits, or Kafka does not report its
        limit.
    """
    if "batch.size" in common_settings(config):
        return {}
    try:
        existing = Topics(config)
        least = min(existing.largest_batch(topic, timeout_s).size_bytes for topic in topics)
    except BrokerError:
        return {}
    return {"batch.size": max(1, least)} if least < LIBRDKAFKA_BATCH_BYTES else {}
