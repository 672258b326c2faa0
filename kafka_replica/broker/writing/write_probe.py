"""Test whether a producer can write, by aborted transactions, which readers of committed records do not see."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from kafka_replica.broker.connection.clients import create_client
from kafka_replica.broker.connection.settings import common_settings, error_callback
from kafka_replica.broker.errors import is_consequence, translate_error
from kafka_replica.broker.writing.size_limits import (
    DEFAULT_QUEUE_KBYTES,
    QUEUE_LIMIT,
    is_too_large,
    over_kafkas_limit,
    over_own_limit,
)
from kafka_replica.broker.writing.writer import DEFAULTS
from kafka_replica.errors import AuthenticationError, BrokerError, BrokerUnavailableError, ConfigurationError

_KEY = b"kafka-replica-doctor"
_OURS: dict[str, Any] = {
    "client.id": "kafka-replica-doctor",
    "acks": "all",
    "message.max.bytes": DEFAULTS["message.max.bytes"],
}


class WriteProbe:
    """A transactional producer whose transactions are all aborted.

    Args:
        config: librdkafka's properties, as the real producer will use them.
        transactional_id: the producer's transactional id, for which a right may be needed.
        timeout_s: how long each step may take, in seconds.

    Raises:
        ConfigurationError: librdkafka does not accept the properties.
        BrokerError: the transactional id could not be initialised.
    """

    def __init__(self, config: Mapping[str, Any], transactional_id: str, timeout_s: float) -> None:
        self._config = config
        self._timeout_s = timeout_s
        self._trouble: list[KafkaError] = []
        self._refused: list[KafkaError] = []
        settings = {
            **_OURS, **common_settings(config), "transactional.id": transactional_id,
            "error_cb": error_callback(config, self._trouble),
            "message.timeout.ms": max(1, int(timeout_s * 1000)),
            "transaction.timeout.ms": max(1, int(timeout_s * 2000)),
        }  # fmt: skip
        self._producer = create_client(Producer, settings, "setting up the producer")
        # Both are numbers, since librdkafka accepted them.
        self._own_limit_bytes = int(settings["message.max.bytes"])
        self._queue_bytes = int(settings.get(QUEUE_LIMIT, DEFAULT_QUEUE_KBYTES)) * 1024
        try:
            self._producer.init_transactions(timeout_s)
        except KafkaException as error:
            raise self._why(error, f"acquiring the transactional id {transactional_id}") from error

    def send(self, topic: str, size_bytes: int) -> None:
        """Send a record of random bytes, which cannot be compressed, and abort once it was acknowledged.

        Raises:
            ConfigurationError: the record is larger than our own limit, ``max.request.size``, or than our queue.
            BrokerError: Kafka refused the record, or did not acknowledge it in time; the message states whether the
                limit is the topic's own or the brokers', if the client may query it.
        """
        doing = f"sending a record of {size_bytes:,} bytes to topic {topic}"
        self._refused.clear()
        left = 0
        try:
            self._producer.begin_transaction()
            try:
                self._produce(topic, size_bytes, doing)
                left = self._producer.flush(self._timeout_s)
            finally:
                self._producer.abort_transaction(self._timeout_s)
        except KafkaException as error:
            if not self._refused:  # otherwise this is only a consequence
                raise self._why(error, doing) from error
        if self._refused:
            refused = self._refused[0]
            if is_too_large(refused):
                raise BrokerError(over_kafkas_limit(doing, self._config, topic, size_bytes, self._timeout_s))
            raise translate_error(refused, doing)
        if left:
            raise BrokerUnavailableError(f"{doing}: not acknowledged in {self._timeout_s:g} s; see the brokers' logs")

    def _produce(self, topic: str, size_bytes: int, doing: str) -> None:
        whole_bytes = len(_KEY) + size_bytes
        try:
            self._producer.produce(topic, key=_KEY, value=os.urandom(size_bytes), on_delivery=self._delivered)
        except KafkaException as error:
            if not is_too_large(error.args[0]):
                raise
            raise ConfigurationError(over_own_limit(doing, whole_bytes, self._own_limit_bytes)) from error
        except BufferError as error:  # the queue was empty
            message = over_own_limit(doing, whole_bytes, self._queue_bytes, setting=QUEUE_LIMIT)
            raise ConfigurationError(message) from error

    def _delivered(self, error: KafkaError | None, _message: Message) -> None:
        if error is not None and not is_consequence(error):
            self._refused.append(error)

    def _why(self, error: KafkaException, doing: str) -> BrokerError | ConfigurationError:
        """Return the broker's refusal of our credentials, if there is one, otherwise librdkafka's error."""
        with suppress(KafkaException):  # poll raises the fatal error that is being explained
            self._producer.poll(0)
        reasons = [translate_error(trouble, doing) for trouble in self._trouble]
        refusal = next((reason for reason in reasons if isinstance(reason, AuthenticationError)), None)
        return refusal or translate_error(error, doing)
