"""A Kafka in memory: fake topics with transactions across them, simulated failures, and replicas."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from kafka_replica.common.wording import counted
from kafka_replica.errors import BrokerUnavailableError, KafkaReplicaError
from kafka_replica.replica import Replica
from kafka_replica.stores import Store
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_replica import FakeReplica
from kafka_replica.testing.fake_transaction import FakeTransaction

if TYPE_CHECKING:
    from kafka_replica.testing.fake_topic import FakeTopic


class FakeKafka:
    """A Kafka in memory with several topics; for a single topic, ``FakeTopic`` alone is simpler.

    ::

        kafka = FakeKafka()
        kafka.topic("codes")
        kafka.topic("flows", partitions=3)
        with kafka.transaction() as transaction:
            transaction.put("a", b"1", topic="codes")
            transaction.put("b", b"2", topic="flows")
        with kafka.replica("codes", "flows") as replica:
            snapshot = replica.wait_ready(timeout_s=5)

    This object, and the objects it returns, are thread-safe.

    Args:
        bumps_epochs: whether each transaction has its own producer epoch, as with Kafka's Java client since Kafka 4
            (KIP-890); otherwise many transactions share an epoch, as with librdkafka.
    """

    def __init__(self, *, bumps_epochs: bool = False) -> None:
        self.cluster = Cluster(bumps_epochs=bumps_epochs)  # internal; not for tests

    def __repr__(self) -> str:
        return f"<FakeKafka, {counted(len(self.cluster), 'topic')}>"

    def topic(self, name: str, partitions: int = 1) -> FakeTopic:
        """Create a topic.

        Raises:
            UsageError: there is a topic of that name.
        """
        from kafka_replica.testing.fake_topic import FakeTopic  # noqa: PLC0415 - a circular import

        return FakeTopic(name, partitions, kafka=self)

    # --- writing ---

    def begin(self, topic: str | None = None) -> FakeTransaction:
        """Begin a transaction, in addition to those already open.

        Args:
            topic: the topic of records for which no topic is given.
        """
        with self.cluster.news:
            return FakeTransaction(self.cluster, self.cluster.borrow(), topic)

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
        return self.cluster.open_transactions()

    # --- reading ---

    def replica(self, *topics: str, store: Store | None = None, **options: Any) -> Replica:
        """Return an unstarted replica of some topics, which is real except that it reads from memory.

        Args:
            topics: the names of the topics, which may be created later.
            store: as for ``Replica``.
            options: the other keywords of ``Replica``; with ``boundaries="quiescence"``, the replica sees only
                committed records, and waits for open transactions.
        """
        return FakeReplica(self.cluster, topics, store=store, **options)

    # --- failures ---

    @contextmanager
    def unavailable(self) -> Iterator[None]:
        """Make the broker unavailable to replicas and producers within the block; the test itself can still write."""
        before = self.cluster.trouble
        self.fail(BrokerUnavailableError("the fake broker does not answer: the test has made it unavailable"))
        try:
            yield
        finally:
            self.cluster.set_trouble(before)

    def fail(self, error: KafkaReplicaError) -> None:
        """Make replicas and producers get this error, until ``recover``.

        A replica waits for ``BrokerUnavailableError`` to pass, and for ``AuthenticationError`` once it has received
        data; other errors end a replica.
        """
        self.cluster.set_trouble(error)

    def recover(self) -> None:
        """End the simulated failure. A replica that failed stays failed: create a new one."""
        self.cluster.set_trouble(None)
