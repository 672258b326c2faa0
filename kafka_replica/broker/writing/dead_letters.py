"""A topic for records that could not be replicated, with headers named as in Kafka Connect."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.settings import common_settings
from kafka_replica.broker.errors import translate_error
from kafka_replica.common.secret_values import hide_secrets
from kafka_replica.common.wording import encodable
from kafka_replica.errors import BadRecordError, PublishError
from kafka_replica.records import Headers, Record, key_text

__all__ = ["DeadLetterTopic"]

_LOOK_S = 0.1
_PREFIX = "__connect.errors."
_DEFAULTS: dict[str, Any] = {
    "client.id": "kafka-replica-dead-letters",
    "compression.type": "zstd",
    "message.max.bytes": 256 << 20,  # the broker decides which size it accepts
    "linger.ms": 0,
}


class DeadLetterTopic:
    """A topic of dead letters: each has the record's key, value and headers, its origin and the reason.

    The added headers are those of Kafka Connect's dead letter queue, as text: ``__connect.errors.topic``,
    ``.partition``, ``.offset`` and ``.exception.message``. In the names of the record's headers, bytes that are not
    UTF-8 are escaped. A batch that cannot be read gives a letter with neither key nor value. Each object serves one
    replica.

    Args:
        config: librdkafka's properties; at least ``bootstrap.servers``.
        topic: the topic to write to; should have ``cleanup.policy=delete``, because a compacted topic accepts no
            records without a key, and keeps one letter per key.
        timeout_s: how long Kafka may take to acknowledge the letters of a call, in seconds.

    Raises:
        ConfigurationError: librdkafka does not accept the properties.
    """

    def __init__(self, config: Mapping[str, Any], topic: str, *, timeout_s: float = 30.0) -> None:
        config = hide_secrets(config)
        self._topic = topic
        self._timeout_s = timeout_s
        self._refused: list[KafkaError] = []
        ours = {"enable.idempotence": True, "message.timeout.ms": max(1, int(timeout_s * 1000))}
        settings = {**_DEFAULTS, **common_settings(config), **ours}
        self._producer = create_client(Producer, settings, "setting up the producer of dead letters")

    def __repr__(self) -> str:
        return f"<DeadLetterTopic {self._topic}>"

    def put(self, bad_records: list[BadRecordError]) -> None:
        """Write a letter for each record, and wait until Kafka has acknowledged them.

        Raises:
            PublishError: Kafka refused a letter, or did not acknowledge it in time; other letters may be written.
        """
        self._refused.clear()
        give_up_s = time.monotonic() + self._timeout_s
        for bad in bad_records:
            self._send(bad, give_up_s)
        # Within the timeout, each letter is either acknowledged or given up by librdkafka.
        while self._producer.flush(_LOOK_S) and not self._refused and time.monotonic() < give_up_s + 1:
            pass
        if self._refused:
            raise PublishError(str(translate_error(self._refused[0], self._doing(bad_records[0], len(bad_records)))))
        if len(self._producer):
            raise PublishError(
                f"{self._doing(bad_records[0], len(bad_records))}: Kafka did not acknowledge them in "
                f"{self._timeout_s:g} s; check that the broker runs, and start the replica again"
            )

    def _send(self, bad: BadRecordError, give_up_s: float) -> None:
        record = bad.record if isinstance(bad.record, Record) else None
        key = None if record is None or bad.key is None else record.key
        value = None if record is None else record.value
        own = () if record is None else record.headers
        headers: list[tuple[str, str | bytes | None]] = [*((encodable(name), data) for name, data in own), *_why(bad)]
        while True:
            try:
                self._producer.produce(self._topic, key=key, value=value, headers=headers, on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(_LOOK_S)
                if time.monotonic() > give_up_s:
                    raise PublishError(f"{self._doing(bad, 1)}: Kafka accepts no records; check that it runs") from None
            except KafkaException as error:
                raise PublishError(str(translate_error(error, self._doing(bad, 1)))) from error
            else:
                return

    def _doing(self, first: BadRecordError, count: int) -> str:
        named = "" if first.key is None else f", key '{key_text(first.key)}'"
        more = f" and {count - 1} more" if count > 1 else ""
        return (
            f"writing the dead letter of {first.topic}-{first.partition}, offset {first.offset}{named}{more} to topic "
            + self._topic
        )

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None:
            self._refused.append(error)


def _why(bad: BadRecordError) -> Headers:
    texts = {
        "topic": bad.topic,
        "partition": str(bad.partition),
        "offset": str(bad.offset),
        "exception.message": bad.reason,
    }
    return tuple((_PREFIX + name, encodable(text).encode()) for name, text in texts.items())
