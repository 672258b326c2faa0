"""A Kafka in memory: fake topics with transactions that span them, one set of failures, and replicas of them."""

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
    """Topics in memory; where there is one topic, ``FakeTopic`` alone is simpler.

    ::

        kafka = FakeKafka()
        kafka.topic("codes")
        kafka.topic("flows", partitions=3)
        with kafka.transaction() as transaction:
            transaction.put("a", b"1", topic="codes")
            transaction.put("b", b"2", topic="flows")
        with kafka.replica("codes", "flows") as replica:
            snapshot = replica.wait_ready(timeout_s=5)

    Any thread may use it, the same as what it gives.

    Args:
        bumps_epochs: each transaction has a producer epoch of its own, as Kafka's Java client does it since
            Kafka 4 (KIP-890); else one epoch carries many transactions, as with librdkafka.
    """

    def __init__(self, *, bumps_epochs: bool = False) -> None:
        self.cluster = Cluster(bumps_epochs=bumps_epochs)  # what all of it is made of; not for tests

    def __repr__(self) -> str:
        return f"<FakeKafka, {counted(len(self.cluster), 'topic')}>"

    def topic(self, name: str, partitions: int = 1) -> FakeTopic:
        """Makes a topic.

        Raises:
            UsageError: there is one of that name.
        """
        from kafka_replica.testing.fake_topic import FakeTopic  # noqa: PLC0415 - which knows us, too

        return FakeTopic(name, partitions, kafka=self)

    # --- writing ---

    def begin(self, topic: str | None = None) -> FakeTransaction:
        """Begins a transaction, beside those that are open.

        Args:
            topic: where its records go that do not say it themselves.
        """
        with self.cluster.news:
            return FakeTransaction(self.cluster, self.cluster.borrow(), topic)

    @contextmanager
    def transaction(self, topic: str | None = None) -> Iterator[FakeTransaction]:
        """A transaction: committed at the end of the block, aborted if the block raises."""
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
        """Those that are open now, of producers too: to be committed or aborted in their stead."""
        return self.cluster.open_transactions()

    # --- reading ---

    def replica(self, *topics: str, store: Store | None = None, **options: Any) -> Replica:
        """A replica of some topics, to be started: the real one, but for where it reads.

        Args:
            topics: their names; they may be made later.
            store: as for ``Replica``.
            options: the other keywords of ``Replica``; ``boundaries="quiescence"`` gives one that sees
                committed records only, and waits for open transactions.
        """
        return FakeReplica(self.cluster, topics, store=store, **options)

    # --- failures ---

    @contextmanager
    def unavailable(self) -> Iterator[None]:
        """In the block the broker is gone, for replicas and producers; what the test itself writes gets through."""
        before = self.cluster.trouble
        self.fail(BrokerUnavailableError("the fake broker does not answer: the test has made it unavailable"))
        try:
            yield
        finally:
            self.cluster.set_trouble(before)

    def fail(self, error: KafkaReplicaError) -> None:
        """From now on replicas and producers meet this error, until ``recover``.

        ``BrokerUnavailableError`` may pass, and so may ``AuthenticationError`` once a replica has heard something;
        others end a replica.
        """
        self.cluster.set_trouble(error)

    def recover(self) -> None:
        """All is well again. A replica that failed stays failed: make a new one."""
        self.cluster.set_trouble(None)
