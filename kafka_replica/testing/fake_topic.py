"""A topic in memory, for tests of what uses a replica or a producer."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from kafka_replica.common.wording import counted
from kafka_replica.errors import KafkaReplicaError, TopicNotFoundError, UsageError
from kafka_replica.records import Headers, Key, Partition, Position, Record, as_record
from kafka_replica.replica import Replica
from kafka_replica.stores import Store
from kafka_replica.testing.fake_kafka import FakeKafka
from kafka_replica.testing.fake_log import FakeLog
from kafka_replica.testing.fake_producer import FakeProducer
from kafka_replica.testing.fake_transaction import FakeTransaction, check_value


class FakeTopic:
    """A topic in memory, with what of Kafka matters to a replica.

    ::

        topic = FakeTopic()
        with topic.transaction() as transaction:
            transaction.put("key", b"value")
        with topic.replica() as replica:
            assert replica.wait_ready(timeout_s=5)["key"].value == b"value"

    Offsets, markers, open and aborted transactions, compaction and failures are as Kafka has them; the same
    tests run on this and on a real broker. ``docs/testing.md`` says how to use it, and what it does not do. Any
    thread may use it.

    Args:
        name: of the topic.
        partitions: how many.
        kafka: where it is, if there are several topics.

    Raises:
        UsageError: there is a topic of that name.
    """

    def __init__(self, name: str = "fake", partitions: int = 1, *, kafka: FakeKafka | None = None) -> None:
        self.name = name
        self.kafka = FakeKafka() if kafka is None else kafka
        self._cluster = self.kafka.cluster
        self._made_with = partitions
        self._cluster.make_topic(name, partitions)

    def __repr__(self) -> str:
        try:
            logs = self._logs
        except TopicNotFoundError:
            return f"<FakeTopic {self.name}, dropped>"
        return f"<FakeTopic {self.name}, {counted(len(logs), 'partition')}, ends {[log.end for log in logs[:8]]}>"

    # --- writing ---

    def transaction(self) -> AbstractContextManager[FakeTransaction]:
        """A transaction: committed at the end of the block, aborted if the block raises."""
        return self.kafka.transaction(self.name)

    def begin(self) -> FakeTransaction:
        """Begins a transaction that is committed or aborted by hand, beside those that are open."""
        return self.kafka.begin(self.name)

    def put(
        self,
        key: Key | None,
        value: bytes,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Position:
        """Writes a record outside of transactions; returns the offset after it, for ``Replica.wait_for``.

        Args:
            key: bytes, or text as its UTF-8; None writes a record without a key, which no replica can take.
            value: its bytes.
            headers: of the record.
            partition: by default chosen by the key, as librdkafka does.
            timestamp_ms: milliseconds since 1970-01-01 UTC; now by default.

        Raises:
            UsageError: the value is not bytes, or there is no such partition.
            TopicNotFoundError: the topic was dropped.
        """
        check_value(key, value)
        log, offset = self._cluster.append((self.name, partition), key, value, headers, timestamp_ms)
        return Position({log.partition: offset + 1})

    def delete(
        self,
        key: Key,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> Position:
        """Writes a tombstone outside of transactions; as ``put``."""
        log, offset = self._cluster.append((self.name, partition), key, None, headers, timestamp_ms)
        return Position({log.partition: offset + 1})

    def producer(self, transactional_id: str = "fake-producer", *, timeout_s: float = 30.0) -> FakeProducer:
        """A ``TransactionalProducer`` that writes here, to be handed to code under test.

        Of the same transactional id the newest one counts: older ones are locked out, what they left open is aborted.

        Raises:
            BrokerUnavailableError: the test has made the broker unavailable.
        """
        return FakeProducer(self._cluster, self.name, transactional_id, timeout_s=timeout_s)

    # --- reading ---

    def replica(self, store: Store | None = None, **options: Any) -> Replica:
        """A replica of this topic, to be started: the real one, but for where it reads.

        Args:
            store: as for ``Replica``.
            options: the other keywords of ``Replica``; ``boundaries="quiescence"`` gives one that sees
                committed records only, and waits for open transactions.
        """
        return self.kafka.replica(self.name, store=store, **options)

    def end(self) -> Position:
        """The offsets after the last thing that is decided in each partition: ``replica.wait_for(topic.end())``.

        Raises:
            TopicNotFoundError: the topic was dropped.
        """
        with self._cluster.news:
            return Position({log.partition: log.decided_end for log in self._logs})

    def records(self) -> list[Record]:
        """What a plain reader of committed records gets from the beginning, tombstones too, a partition after another.

        Raises:
            TopicNotFoundError: the topic was dropped.
        """
        with self._cluster.news:
            return [as_record(raw, log.partition) for log in self._logs for raw in log.committed()]

    @property
    def partitions(self) -> list[Partition]:
        """Its partitions."""
        with self._cluster.news:
            return [log.partition for log in self._logs]

    @property
    def topic_id(self) -> str:
        """Its id; another one after it was made again."""
        return self._cluster.find(self.name).topic_id

    @property
    def open_transactions(self) -> list[FakeTransaction]:
        """Those that are open now, of producers too: to be committed or aborted in their stead."""
        return self.kafka.open_transactions

    @property
    def _logs(self) -> list[FakeLog]:
        return self._cluster.find(self.name).logs

    # --- what befalls a topic ---

    def compact(self, *, keep_tombstones: bool = False, keep_last: bool = True) -> None:
        """Compacts the log as aggressively as Kafka may: nothing beyond the first open transaction is touched.

        Goes: what was overwritten, what was aborted, what has no key; then tombstones, and the markers of
        transactions of which nothing is left, but for the last one of each producer.

        Args:
            keep_tombstones: and these markers: ``delete.retention.ms`` has not passed.
            keep_last: the last entry of each partition stays, for it lies in the active segment. Without it
                the log ends in a hole, which readers have to cope with.
        """
        with self._cluster.news:
            for log in self._logs:
                log.compact(keep_tombstones=keep_tombstones, keep_last=keep_last)

    def delete_before(self, offset: int, partition: int = 0) -> None:
        """Deletes all records below an offset, as Kafka does by age, or when asked to (``DeleteRecords``).

        Only topics whose ``cleanup.policy`` has ``delete`` in it know this.

        Raises:
            UsageError: the log does not reach as far, or there is no such partition.
        """
        with self._cluster.news:
            log = self._cluster.log(Partition(self.name, partition))
            if not 0 <= offset <= log.end:
                raise UsageError(f"{log.partition} ends at {log.end}, so nothing can be deleted up to {offset}")
            log.delete_before(offset)
            self._cluster.wake()

    def lose_end(self, end: int, partition: int = 0) -> None:
        """The log loses what lies at an offset and above, as after the election of a leader that did not have it.

        What is written next takes the same offsets. Transactions that were open there are not to be ended any more.

        Raises:
            UsageError: it does not reach as far, or there is no such partition.
        """
        with self._cluster.news:
            log = self._cluster.log(Partition(self.name, partition))
            if not 0 <= end < log.end:
                raise UsageError(f"{log.partition} ends at {log.end}, so it cannot lose what lies at {end}")
            log.truncate(end)
            self._cluster.wake()

    @property
    def tombstones_kept_s(self) -> float:
        """For how long replicas take tombstones to be kept (``delete.retention.ms``); a day, unless a test sets it.

        It is what is said: ``compact()`` removes them at once. One number for all topics of a ``FakeKafka``.
        """
        return self._cluster.tombstones_kept_s

    @tombstones_kept_s.setter
    def tombstones_kept_s(self, seconds: float) -> None:
        self._cluster.tombstones_kept_s = seconds

    def recreate(self, partitions: int | None = None) -> None:
        """Deletes the topic and makes it again: empty, of the same name, with another id.

        Args:
            partitions: how many; as many as it was made with by default.
        """
        self._cluster.make_topic(self.name, partitions or self._made_with, replace=True)

    def drop(self) -> None:
        """Deletes the topic with all that is in it; ``recreate`` makes it again.

        Raises:
            TopicNotFoundError: it was dropped before.
        """
        self._cluster.drop_topic(self.name)

    def add_partitions(self, total: int) -> None:
        """From now on the topic has so many partitions; keys may go to others than before.

        Raises:
            UsageError: it has as many already, or more.
        """
        with self._cluster.news:
            self._cluster.find(self.name).grow(total)
            self._cluster.news.notify_all()

    def unavailable(self) -> AbstractContextManager[None]:
        """In the block the broker is gone, for replicas and producers; what the test itself writes gets through."""
        return self.kafka.unavailable()

    def fail(self, error: KafkaReplicaError) -> None:
        """From now on replicas and producers meet this error, until ``recover``; see ``FakeKafka.fail``."""
        self.kafka.fail(error)

    def recover(self) -> None:
        """All is well again. A replica that failed stays failed: make a new one."""
        self.kafka.recover()
