"""Writes Kafka transactions with the confluent-kafka producer."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from kafka_replica.broker.failures import explained
from kafka_replica.broker.settings import common_settings
from kafka_replica.errors import ConfigurationError, PublishError
from kafka_replica.records import Headers, Partition

_log = logging.getLogger("kafka_replica.librdkafka")

T = TypeVar("T")

_DEFAULTS: dict[str, Any] = {
    "client.id": "kafka-replica-producer",
    "compression.type": "zstd",
    # librdkafka measures a record before compression, the broker a batch after it; the broker decides.
    "message.max.bytes": 256 << 20,
    "linger.ms": 5,
}


class TransactionalWriter:
    """One fenced transactional producer. For one thread; a transaction at a time."""

    def __init__(self, config: Mapping[str, Any], transactional_id: str, timeout_s: float) -> None:
        self._timeout_s = timeout_s
        self._ends: dict[Partition, int] = {}
        self._refused: list[tuple[KafkaError, Message]] = []
        settings = {**_DEFAULTS, **common_settings(config), "transactional.id": transactional_id}
        try:
            self._producer = Producer(settings, logger=_log)
        except KafkaException as error:
            raise explained(error, "setting up the producer") from error
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"setting up the producer: {error}") from error
        self._call("taking up the transactional id " + transactional_id, self._producer.init_transactions, timeout_s)

    def begin(self) -> None:
        """Begins a transaction."""
        self._ends, self._refused = {}, []
        self._call("beginning a transaction", self._producer.begin_transaction)

    def send(self, topic: str, key: bytes, value: bytes | None, headers: Headers) -> None:
        """Hands over a record of the open transaction; it is sent in the background."""
        while True:
            try:
                self._producer.produce(topic, key=key, value=value, headers=list(headers), on_delivery=self._delivered)
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                doing = f"handing over key {key.decode(errors='backslashreplace')} for topic {topic}"
                raise PublishError(str(explained(error, doing))) from error
            else:
                self._producer.poll(0)
                return

    def commit(self) -> dict[Partition, int]:
        """Commits; returns for each partition the offset after its last record.

        Raises:
            PublishError: it was not committed, and nothing of it is visible.
        """
        self._producer.flush(self._timeout_s)
        if self._refused:
            error, message = self._refused[0]
            key = (message.key() or b"").decode(errors="backslashreplace")
            raise PublishError(str(explained(error, f"sending key {key} to topic {message.topic()}")) + _advice(error))
        try:
            self._call("committing the transaction", self._producer.commit_transaction, self._timeout_s)
        except KafkaException as error:
            raise PublishError(str(explained(error, "committing the transaction"))) from error
        return self._ends

    def abort(self) -> None:
        """Takes back the open transaction; readers of committed data never see it."""
        self._call("aborting the transaction", self._producer.abort_transaction, self._timeout_s)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused.append((error, message))
            return
        partition = Partition(message.topic() or "", message.partition() or 0)
        self._ends[partition] = max(self._ends.get(partition, 0), (message.offset() or 0) + 1)

    def _call(self, doing: str, verb: Callable[..., T], *args: Any) -> T:
        while True:
            try:
                return verb(*args)
            except KafkaException as error:
                cause = error.args[0]
                if not cause.retriable() or cause.code() == KafkaError._TIMED_OUT:
                    raise explained(error, doing) from error


def _advice(error: KafkaError) -> str:
    if error.code() in {KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.RECORD_LIST_TOO_LARGE}:
        return "; raise the topic's max.message.bytes"
    return ""
