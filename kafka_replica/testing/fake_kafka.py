"""A Kafka in memory, and its topics: transactions across them, simulated failures, and replicas.

Both classes are in one module because each creates the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from kafka_replica.common.wording import counted
from kafka_replica.errors import BrokerUnavailableError, KafkaReplicaError
from kafka_replica.headers import Stack
from kafka_replica.replica import Replica
from kafka_replica.stores import Store
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_identities import FakeIdentities
from kafka_replica.testing.fake_producer import FakeProducer
from kafka_replica.testing.fake_replica import FakeReplica
from kafka_replica.testing.fake_topic_logs import FakeTopicLogs
from kafka_replica.testing.fake_transaction import FakeTransaction


class FakeKafka:
    """A Kafka in memory with several topics; for a single topic, ``FakeTopic`` is simpler.

    ::

        kafka = FakeKafka()
        kafka.topic("codes")
        kafka.topic("flows", partitions=3)
        with kafka.transaction() as transaction:
            transaction.put("a", b"1", topic="codes")
            transaction.put("b", b"2", topic="flows")
        with kafka.replica("codes", "flows") as replica:
            snapshot = replica.wait_ready(timeout_s=5)

    This object and the objects that it returns are thread-safe.

    Args:
        bumps_epochs: whether each transaction has its own producer epoch, as with Kafka's Java client since Kafka 4
            (KIP-890). Otherwise many transactions share an epoch, as with librdkafka.
    """

    def __init__(self, *, bumps_epochs: bool = False) -> None:
        self.cluster = Cluster(bumps_epochs=bumps_epochs)  # internal: tests should not use it
        self.identities = FakeIdentities(self.cluster)  # internal: tests should not use it

    def __repr__(self) -> str:
        return f"<FakeKafka, {counted(len(self.cluster), 'topic')}>"

    def topic(self, name: str, partitions: int = 1) -> FakeTopic:
        """Create a topic.

        Raises:
            UsageError: a topic of this name exists, or ``partitions`` is less than 1.
        """
        return FakeTopic(name, partitions, kafka=self)

    # --- writing ---

    def begin(self, topic: str | None = None) -> FakeTransaction:
        """Begin a transaction, in addition to those already open.

        Args:
            topic: the default topic of records.
        """
        with self.cluster.changed:
            return FakeTransaction(self.cluster, self.identities.unused(), topic)

    @contextmanager
    def transaction(self, topic: str | None = None) -> Iterator[FakeTransaction]:
        """Run a transaction: commit at the end of the block, abort if the block raises."""
        transaction = self.begin(topic)
        try:
            yield transaction
        except BaseException:
            if transaction.is_open:
                transaction.abort()
            raise
        if transaction.is_open:
            transaction.commit()

    @property
    def open_transactions(self) -> list[FakeTransaction]:
        """All open transactions, including those of producers, which the test may commit or abort on their behalf."""
        return self.identities.open_transactions()

    # --- reading ---

    def replica(self, *topics: str, store: Store | None = None, **options: Any) -> Replica:
        """Return an unstarted replica of some topics, which is real except that it reads from memory.

        Args:
            topics: the names of the topics, which may be created later.
            store: the store of the replica; see ``Replica``.
            options: the other keyword arguments of ``Replica``. With ``boundaries="quiescence"``, the replica sees only
                committed records, and waits for open transactions.
        """
        return FakeReplica(self.cluster, topics, store=store, **options)

    # --- failures ---

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Make the broker unavailable to replicas and producers within the block; the test itself can still write."""
        before = self.cluster.failure
        self.fail(BrokerUnavailableError("the fake broker does not answer: the test has made it unavailable"))
        try:
            yield
        finally:
            self.cluster.set_failure(before)

    def fail(self, error: KafkaReplicaError) -> None:
        """Make replicas and producers receive this error until ``recover`` is called.

        A replica waits until a ``BrokerUnavailableError`` has passed, and also an ``AuthenticationError`` if it has
        received data before; other errors end the replica.
        """
        self.cluster.set_failure(error)

    def recover(self) -> None:
        """End the simulated failure. A replica that has failed does not recover: create a new replica."""
        self.cluster.set_failure(None)


class FakeTopic(FakeTopicLogs):
    """A topic in memory that behaves like Kafka in all respects that are relevant to a replica.

    ::

        topic = FakeTopic()
        with topic.transaction() as transaction:
            transaction.put("key", b"value")
        with topic.replica() as replica:
            assert replica.wait_ready(timeout_s=5)["key"].value == b"value"

    Offsets, markers, open and aborted transactions, compaction and failures behave as in Kafka; the same tests run
    on fake topics and on a real broker. ``docs/testing.md`` explains the use and the limits of fake topics.
    Thread-safe.

    Args:
        name: the name of the topic.
        partitions: the number of partitions.
        kafka: the Kafka of the topic; None creates a separate ``FakeKafka``.

    Raises:
        UsageError: a topic of this name exists, or ``partitions`` is less than 1.
    """

    def __init__(self, name: str = "fake", partitions: int = 1, *, kafka: FakeKafka | None = None) -> None:
        self.kafka = FakeKafka() if kafka is None else kafka
        super().__init__(self.kafka.cluster, name, partitions)

    # --- writing ---

    def transaction(self) -> AbstractContextManager[FakeTransaction]:
        """Run a transaction: commit at the end of the block, abort if the block raises."""
        return self.kafka.transaction(self.name)

    def begin(self) -> FakeTransaction:
        """Begin a transaction, which the test must commit or abort, in addition to those already open."""
        return self.kafka.begin(self.name)

    def producer(
        self, transactional_id: str = "fake-producer", *, timeout_s: float = 30.0, header_stack: Stack | None = None
    ) -> FakeProducer:
        """Return a ``TransactionalProducer`` that writes to this topic, for code under test.

        A new producer fences older ones with the same transactional id; transactions that they left open are aborted.

        Raises:
            BrokerUnavailableError: the test has made the broker unavailable.
        """
        return FakeProducer(
            self.kafka.identities, self.name, transactional_id, timeout_s=timeout_s, header_stack=header_stack
        )

    # --- reading ---

    def replica(self, store: Store | None = None, **options: Any) -> Replica:
        """Return an unstarted replica of this topic, which is real except that it reads from memory.

        Args:
            store: the store of the replica; see ``Replica``.
            options: the other keyword arguments of ``Replica``. With ``boundaries="quiescence"``, the replica sees only
                committed records, and waits for open transactions.
        """
        return self.kafka.replica(self.name, store=store, **options)

    @property
    def open_transactions(self) -> list[FakeTransaction]:
        """All open transactions, including those of producers, which the test may commit or abort on their behalf."""
        return self.kafka.open_transactions

    # --- failures ---

    def outage(self) -> AbstractContextManager[None]:
        """Make the broker unavailable to replicas and producers within the block; the test itself can still write."""
        return self.kafka.outage()

    def fail(self, error: KafkaReplicaError) -> None:
        """Make replicas and producers receive this error until ``recover`` is called; see ``FakeKafka.fail``."""
        self.kafka.fail(error)

    def recover(self) -> None:
        """End the simulated failure. A replica that has failed does not recover: create a new replica."""
        self.kafka.recover()
