"""Writes Kafka transactions with the confluent-kafka producer."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from kafka_replica.broker.failures import explained, is_consequence
from kafka_replica.broker.logs import librdkafka_log
from kafka_replica.broker.settings import common_settings
from kafka_replica.errors import (
    BrokerError,
    BrokerUnavailableError,
    CommitUnknownError,
    ConfigurationError,
    PublishError,
    RecordNotSentError,
    UsageError,
)
from kafka_replica.records import Headers, Partition, key_text

T = TypeVar("T")

_RETRY_S = 0.1
_BY_KEY = -1  # librdkafka's partitioner chooses

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
        self.usable = True
        self._ends: dict[Partition, int] = {}
        self._refused: list[tuple[KafkaError, Message]] = []
        settings = {**_DEFAULTS, **common_settings(config), "transactional.id": transactional_id}
        try:
            self._producer = Producer(settings, logger=librdkafka_log)
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
        self.send_to(Partition(topic, _BY_KEY), key, value, headers)

    def send_to(self, place: Partition, key: bytes, value: bytes | None, headers: Headers) -> None:
        """The same, to a partition that is chosen."""
        topic, number = place
        while True:
            try:
                self._producer.produce(
                    topic, key=key, value=value, headers=list(headers), partition=number, on_delivery=self._delivered
                )
            except BufferError:
                self._producer.poll(0.1)
            except KafkaException as error:
                doing = f"handing over key {key_text(key)} for topic {topic}"
                raise RecordNotSentError(str(explained(error, doing))) from error
            else:
                self._producer.poll(0)
                return

    def commit(self) -> dict[Partition, int]:
        """Commits; returns for each partition the offset after its last record.

        Raises:
            PublishError: it was not committed, and nothing of it is visible; ``abort`` it.
            CommitUnknownError: Kafka did not answer in time; it may have been committed or not.
        """
        self._producer.flush(self._timeout_s)
        if self._refused:
            # What was given up because of another record's failure says nothing of the cause.
            error, message = next((each for each in self._refused if not is_consequence(each[0])), self._refused[0])
            key = key_text(message.key() or b"")
            explanation = explained(error, f"sending key {key} to topic {message.topic()}")
            raise PublishError(str(explanation)) from KafkaException(error)
        try:
            self._call("committing the transaction", self._producer.commit_transaction, self._timeout_s)
        except BrokerUnavailableError as error:
            self.usable = False
            raise CommitUnknownError(
                f"{error}; no answer in {self._timeout_s} s, so it may have been committed or not: read the topic to "
                "find out, and go on with a new producer of the same transactional id"
            ) from error
        except BrokerError as error:
            raise PublishError(str(error)) from error
        return self._ends

    def abort(self) -> None:
        """Takes back the open transaction; readers of committed data never see it."""
        self._call("aborting the transaction", self._producer.abort_transaction, self._timeout_s)

    def close(self) -> None:
        """Ends it; a transaction that is open stays so until its time-out, or the next producer of the same id."""
        self.usable = False
        with suppress(KafkaException, RuntimeError):
            self._producer.purge()
            self._producer.poll(0)

    def check_usable(self) -> None:
        """Makes sure that a transaction can be begun.

        Raises:
            UsageError: an earlier one ended in a way that only a new producer can resolve.
        """
        if not self.usable:
            raise UsageError("the outcome of this producer's last transaction is not known; go on with a new producer")

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._refused.append((error, message))
            return
        partition = Partition(message.topic() or "", message.partition() or 0)
        self._ends[partition] = max(self._ends.get(partition, 0), (message.offset() or 0) + 1)

    def _call(self, doing: str, verb: Callable[..., T], *args: Any) -> T:
        """Calls, again and again while librdkafka says that this may help and there is time."""
        give_up_s = time.monotonic() + self._timeout_s
        while True:
            try:
                return verb(*args)
            except KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() >= give_up_s:
                    raise explained(error, doing) from error
                time.sleep(_RETRY_S)
