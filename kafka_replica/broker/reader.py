"""Reads one partition with the confluent-kafka consumer, in the terms of the rule of quiet points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from confluent_kafka import OFFSET_BEGINNING, Consumer, KafkaError, KafkaException, Message, TopicPartition

from kafka_replica.broker.failures import explained, is_missing_topic, is_refusal, may_pass
from kafka_replica.broker.logs import librdkafka_log
from kafka_replica.broker.settings import error_callback, reader_settings
from kafka_replica.errors import BadRecordError, BrokerError, ConfigurationError
from kafka_replica.records import Partition, Record

# consume(n, timeout) waits for its time-out unless n messages came; poll() returns with the first, and
# consume(n, 0) takes what is queued behind it. Batches of 500 were the fastest measured.
_BATCH_RECORDS = 500


class Fetched(NamedTuple):
    """What one read brought, as ``QuietPoints.read`` wants it, and what else came with it."""

    records: list[Record]
    position: int | None
    high_watermark: int | None
    bad_records: list[BadRecordError]
    trouble: BrokerError | None
    """Something that may pass by itself, such as a broker that went away."""
    heard: bool
    """Whether the broker sent anything."""


class QuietPointReader:
    """A ``read_committed`` consumer of one partition, from its beginning. For one thread.

    Args:
        config: librdkafka's properties as they are.
        partition: what to read.
        beginning: its first offset, as the broker said a moment ago. A consumer that has to find it out
            itself takes half a second for that.

    Raises:
        ConfigurationError: librdkafka does not take the properties.
    """

    def __init__(self, config: Mapping[str, Any], partition: Partition, beginning: int = OFFSET_BEGINNING) -> None:
        self._partition = partition
        self._trouble: list[KafkaError] = []
        try:
            settings = {**reader_settings(config), "error_cb": error_callback(config, self._trouble)}
            self._consumer = Consumer(settings, logger=librdkafka_log)
        except KafkaException as error:
            raise explained(error, "setting up the consumer") from error
        except (TypeError, ValueError) as error:
            raise ConfigurationError(f"setting up the consumer: {error}") from error
        self._place = TopicPartition(partition.topic, partition.partition)
        self._position: int | None = None
        self._high = -1
        self._read_from(beginning)

    def read(self, timeout_s: float) -> Fetched:
        """What has come, waiting at most ``timeout_s`` for the first of it.

        Raises:
            BrokerError: Kafka said something that waiting does not mend.
        """
        first = self._consumer.poll(timeout_s)
        messages = [] if first is None else [first, *self._consumer.consume(_BATCH_RECORDS, 0)]
        records: list[Record] = []
        bad: list[BadRecordError] = []
        heard = False
        partition = self._partition
        for message in messages:
            if message.error() is not None:
                heard |= self._take_event(message)
                continue
            key = message.key()
            if key is None:
                bad.append(self._without_key(message))
                continue
            # Record's own __new__ costs as much as all else here; this is where every record passes.
            fields = (
                key,
                message.value(),
                message.offset(),
                message.timestamp()[1],
                tuple(message.headers() or ()),
                partition,
            )
            records.append(tuple.__new__(Record, fields))
        heard |= bool(records or bad)
        return Fetched(records, self._reached(), self._high_watermark(), bad, self._passing_trouble(), heard)

    def close(self) -> None:
        """Closes the consumer; idempotent."""
        self._consumer.close()

    def _without_key(self, message: Message) -> BadRecordError:
        offset = message.offset()
        return BadRecordError(
            *self._partition,
            -1 if offset is None else offset,
            "it has no key, so it replaces nothing and nothing can delete it",
            "find the producer that writes without keys, or set on_bad_record='skip' to set such records aside",
        )

    def _take_event(self, message: Message) -> bool:
        """Takes in what is no record; tells whether it came from the broker that has the partition."""
        error = message.error()
        if error is None or error.code() == KafkaError.GROUP_AUTHORIZATION_FAILED:
            return False  # the latter is said once, of a group that nobody uses
        if error.code() == KafkaError._AUTO_OFFSET_RESET and self._position is None:
            self._read_from(OFFSET_BEGINNING)  # the log was cut off at its front since it was asked
            return True
        if error.code() != KafkaError._PARTITION_EOF:
            self._trouble.append(error)
            return False
        # Carries the offset reached, beyond position() where the last records were compacted away.
        self._move_to(message.offset())
        return True

    def _read_from(self, offset: int) -> None:
        self._consumer.assign([TopicPartition(self._partition.topic, self._partition.partition, offset)])

    def _reached(self) -> int | None:
        (place,) = self._consumer.position([self._place])
        self._move_to(place.offset)
        return self._position

    def _move_to(self, offset: int | None) -> None:
        if offset is not None and offset >= 0:
            self._position = offset if self._position is None else max(offset, self._position)

    def _high_watermark(self) -> int | None:
        """As the newest fetch reported it; librdkafka sets it before it hands out that fetch's records."""
        # Never taken back: a late answer of a former leader must not make a point look quiet.
        _low, high = self._consumer.get_watermark_offsets(self._place, cached=True)
        self._high = max(high, self._high)
        return self._high if self._high >= 0 else None

    def _passing_trouble(self) -> BrokerError | None:
        trouble, self._trouble[:] = list(self._trouble), []
        explanations = [explained(error, f"reading {self._partition}") for error in trouble]
        for error, explanation in zip(trouble, explanations, strict=True):
            # A topic that is gone is noticed by asking for it; here it may be a broker that is coming up.
            passing = may_pass(error) or is_missing_topic(error) or (is_refusal(error) and self._position is not None)
            if not passing:
                raise explanation
        return next((text for text in explanations if isinstance(text, BrokerError)), None)
