"""What is behind ``FakeKafka``: topics, logs and writers under one lock. Not for users."""

from __future__ import annotations

import time
from copy import copy
from operator import attrgetter
from threading import Condition
from typing import TYPE_CHECKING
from uuid import uuid4
from zlib import crc32

from kafka_replica.errors import KafkaReplicaError, TopicNotFoundError, UsageError
from kafka_replica.records import Headers, Key, Partition, key_bytes
from kafka_replica.testing.fake_log import FakeLog, Writing

if TYPE_CHECKING:
    from kafka_replica.testing.fake_transaction import FakeTransaction

_FIRST_PRODUCER_ID = 1000


class TopicLogs:
    """A topic as it is now: its id, and a log a partition."""

    __slots__ = ("logs", "name", "topic_id")

    def __init__(self, name: str, partitions: int) -> None:
        self.name = name
        self.topic_id = str(uuid4())
        self.logs: list[FakeLog] = []
        self.grow(partitions)

    def grow(self, partitions: int) -> None:
        """From now on it has so many partitions.

        Raises:
            UsageError: it has as many already, or more.
        """
        if partitions < 1:
            raise UsageError(f"topic {self.name} needs at least one partition, not {partitions}")
        if partitions <= len(self.logs):
            raise UsageError(
                f"topic {self.name} cannot have {partitions} partitions: they only grow, from {len(self.logs)}"
            )
        self.logs += [FakeLog(Partition(self.name, number)) for number in range(len(self.logs), partitions)]


class Identity:
    """Who writes: a producer id, the epoch of its next transaction, the one that is open, how often it was taken up."""

    __slots__ = ("epoch", "open", "producer_id", "term")

    def __init__(self, producer_id: int) -> None:
        self.producer_id = producer_id
        self.epoch = 0
        self.open: FakeTransaction | None = None
        self.term = 0


class Cluster:
    """The topics by name, and who writes. ``news`` guards all of it, and wakes who waits."""

    def __init__(self, *, bumps_epochs: bool) -> None:
        self.bumps_epochs = bumps_epochs
        self.news = Condition()  # reentrant
        self.trouble: KafkaReplicaError | None = None
        self.tombstones_kept_s = 86_400.0  # Kafka's default
        self._topics: dict[str, TopicLogs] = {}
        self._pool: list[Identity] = []
        self._named: dict[str, Identity] = {}
        self._producers = 0

    def __len__(self) -> int:
        return len(self._topics)

    # --- topics ---

    def make_topic(self, name: str, partitions: int, *, replace: bool = False) -> None:
        """Makes a topic.

        Raises:
            UsageError: there is one, not to be replaced; or it would have no partition.
        """
        topic = TopicLogs(name, partitions)
        with self.news:
            if name in self._topics and not replace:
                raise UsageError(f"there is a fake topic {name} already; give this one another name")
            self._topics[name] = topic
            self.news.notify_all()

    def drop_topic(self, name: str) -> None:
        """Deletes a topic with all that is in it.

        Raises:
            TopicNotFoundError: there is none.
        """
        with self.news:
            self.find(name)
            del self._topics[name]
            self.news.notify_all()

    def find(self, name: str) -> TopicLogs:
        """A topic as it is now.

        Raises:
            TopicNotFoundError: there is none.
        """
        with self.news:
            topic = self._topics.get(name)
        if topic is None:
            raise TopicNotFoundError(f"looking up fake topic {name}: there is none now; make it, or recreate() it")
        return topic

    def log(self, partition: Partition) -> FakeLog:
        """The log of a partition.

        Raises:
            TopicNotFoundError: there is no such topic.
            UsageError: it has no such partition.
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
        writing: Writing | None = None,
    ) -> tuple[FakeLog, int]:
        """Writes a record to a topic, to that partition or the one of its key; returns where it lies."""
        topic, number = place
        raw_key = None if key is None else key_bytes(key)
        at_ms = int(time.time() * 1000) if timestamp_ms is None else timestamp_ms
        with self.news:
            logs = self.find(topic).logs
            log = self.log(Partition(topic, _partition_of(raw_key, len(logs)) if number is None else number))
            offset = log.append(raw_key, value, at_ms, tuple(headers), writing)
            self.news.notify_all()
        return log, offset

    def borrow(self) -> Identity:
        """A writer that has no transaction open: one that was there before, or a new one."""
        with self.news:
            identity = next((known for known in self._pool if known.open is None), None)
            if identity is None:
                identity = self._new_identity()
                self._pool.append(identity)
            return identity

    def take_up(self, transactional_id: str) -> Identity:
        """The writer of that name; what it left open is aborted."""
        with self.news:
            identity = self._named.get(transactional_id) or self._new_identity()
            self._named[transactional_id] = identity
            if identity.open is not None:
                identity.open.fence()
            identity.epoch += 1
            identity.term += 1
            return identity

    def open_transactions(self) -> list[FakeTransaction]:
        """Those that are open now, the oldest producer's first."""
        with self.news:
            writers = sorted([*self._pool, *self._named.values()], key=attrgetter("producer_id"))
            return [identity.open for identity in writers if identity.open is not None]

    def _new_identity(self) -> Identity:
        self._producers += 1
        return Identity(_FIRST_PRODUCER_ID + self._producers)

    # --- readers and their failures ---

    def wake(self) -> None:
        """Who waits looks anew at what it waits for."""
        with self.news:
            self.news.notify_all()

    def set_trouble(self, error: KafkaReplicaError | None) -> None:
        """What clients meet from now on."""
        with self.news:
            self.trouble = error
            self.news.notify_all()

    def check(self) -> None:
        """Raises what clients meet now."""
        if self.trouble is not None:
            raise copy(self.trouble)


def _partition_of(key: bytes | None, partitions: int) -> int:
    """As librdkafka's partitioner ``consistent_random`` does; what that does at random goes to the first one."""
    return crc32(key) % partitions if key else 0
