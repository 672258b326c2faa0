"""The internal state of ``FakeKafka``: topics and logs under one lock. Tests should not use it directly."""

from __future__ import annotations

from threading import Condition
from uuid import uuid4
from zlib import crc32

from kafka_replica.common.clock import now_ms
from kafka_replica.common.error_causes import copy_of
from kafka_replica.errors import KafkaReplicaError, TopicNotFoundError, UsageError
from kafka_replica.records import Headers, Key, Partition, key_bytes
from kafka_replica.testing.fake_log import FakeLog, LoggedTransaction


class TopicLogs:
    """The current state of a topic: its id, and a log per partition."""

    __slots__ = ("logs", "name", "topic_id")

    def __init__(self, name: str, partitions: int) -> None:
        self.name = name
        self.topic_id = str(uuid4())
        self.logs: list[FakeLog] = []
        self.grow(partitions)

    def grow(self, partitions: int) -> None:
        """Increase the number of partitions.

        Raises:
            UsageError: the topic already has that many partitions, or more.
        """
        if partitions < 1:
            raise UsageError(f"topic {self.name} needs at least one partition, not {partitions}")
        if partitions <= len(self.logs):
            raise UsageError(
                f"topic {self.name} cannot have {partitions} partitions: it has {len(self.logs)}, and they only grow"
            )
        self.logs += [FakeLog(Partition(self.name, number)) for number in range(len(self.logs), partitions)]


class Cluster:
    """The topics of a ``FakeKafka`` by name. The condition ``changed`` guards all state, and wakes waiting threads."""

    def __init__(self, *, bumps_epochs: bool) -> None:
        self.bumps_epochs = bumps_epochs
        self.changed = Condition()  # reentrant
        self.failure: KafkaReplicaError | None = None
        self.tombstones_kept_s = 86_400.0  # Kafka's default
        self._topics: dict[str, TopicLogs] = {}

    def __len__(self) -> int:
        return len(self._topics)

    # --- topics ---

    def make_topic(self, name: str, partitions: int, *, replace: bool = False) -> None:
        """Create a topic.

        Raises:
            UsageError: the topic exists and ``replace`` is False, or ``partitions`` is less than 1.
        """
        topic = TopicLogs(name, partitions)
        with self.changed:
            if name in self._topics and not replace:
                raise UsageError(f"the fake topic {name} already exists; use another name")
            self._topics[name] = topic
            self.changed.notify_all()

    def drop_topic(self, name: str) -> None:
        """Delete a topic with its records.

        Raises:
            TopicNotFoundError: there is no such topic.
        """
        with self.changed:
            self.find(name)
            del self._topics[name]
            self.changed.notify_all()

    def find(self, name: str) -> TopicLogs:
        """Return the current state of a topic.

        Raises:
            TopicNotFoundError: there is no such topic.
        """
        with self.changed:
            topic = self._topics.get(name)
        if topic is None:
            raise TopicNotFoundError(f"looking up fake topic {name}: it does not exist; create it, or recreate() it")
        return topic

    def log(self, partition: Partition) -> FakeLog:
        """Return the log of a partition.

        Raises:
            TopicNotFoundError: there is no such topic.
            UsageError: the topic has no such partition.
        """
        logs = self.find(partition.topic).logs
        if partition.partition not in range(len(logs)):
            raise UsageError(f"topic {partition.topic} has {len(logs)} partitions; there is no {partition}")
        return logs[partition.partition]

    # --- writing ---

    def append(
        self,
        place: tuple[str, int | None],
        key: Key | None,
        value: bytes | None,
        headers: Headers,
        timestamp_ms: int | None,
        writing: LoggedTransaction | None = None,
    ) -> tuple[FakeLog, int]:
        """Write a record; return its log and offset.

        Args:
            place: the topic and the partition; None chooses the partition by the key.
            key: the key, or None for a record without a key.
            value: the value; None for a tombstone.
            headers: the headers.
            timestamp_ms: milliseconds since 1970-01-01 UTC; None means now.
            writing: the transaction of the record; None means outside of transactions.
        """
        topic, number = place
        raw_key = None if key is None else key_bytes(key)
        at_ms = now_ms() if timestamp_ms is None else timestamp_ms
        with self.changed:
            logs = self.find(topic).logs
            log = self.log(Partition(topic, _partition_of(raw_key, len(logs)) if number is None else number))
            offset = log.append(raw_key, value, at_ms, tuple(headers), writing)
            self.changed.notify_all()
        return log, offset

    # --- readers and their failures ---

    def wake(self) -> None:
        """Wake all waiting threads, so that they check their conditions again."""
        with self.changed:
            self.changed.notify_all()

    def set_failure(self, error: KafkaReplicaError | None) -> None:
        """Set the error that clients receive from now on; None ends the simulated failure."""
        with self.changed:
            self.failure = error
            self.changed.notify_all()

    def check(self) -> None:
        """Raise the error that clients receive at the moment, if any."""
        if self.failure is not None:
            raise copy_of(self.failure)


def _partition_of(key: bytes | None, partitions: int) -> int:
    """Return the partition that librdkafka's ``consistent_random`` chooses, but 0 where it chooses at random."""
    return crc32(key) % partitions if key else 0
