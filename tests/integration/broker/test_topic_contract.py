"""The contract of topics on a real topic, which shows that ``FakeTopic`` is faithful."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, ClassVar

import pytest
from confluent_kafka import IsolationLevel, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, NewPartitions, OffsetSpec

from kafka_replica import Headers, Position, Record, Replica, Snapshot
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.readers import Boundaries, make_reader
from kafka_replica.embedded import LocalKafka
from kafka_replica.embedded.errors import EmbeddedKafkaError
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from kafka_replica.transactions import BoundaryDetector
from support.broker.fake_backend import FakeBackend
from support.broker.kafka_tools import AGGRESSIVE, quiet
from support.broker.kafka_tools import producer as transactional
from support.broker.topic_backend import FILLER, PATIENCE_S, Backend, Writing
from support.broker.topic_contract import MARKERS, TopicContract, both_kinds
from support.broker.topic_history import BackendPlayer, random_history
from support.waiting import wait_until

pytestmark = pytest.mark.broker


class RealWriting:
    """A transaction of one of the backend's producers."""

    def __init__(self, topic: RealTopic, producer: Producer) -> None:
        self._topic, self._producer = topic, producer
        self._partitions: set[int] = set()
        producer.begin_transaction()

    def put(
        self,
        key: str,
        value: bytes | None,
        headers: Headers = (),
        *,
        partition: int | None = None,
        timestamp_ms: int | None = None,
    ) -> None:
        """Write a record and wait until it is in the log."""
        number = self._topic.produce(self._producer, key, value, partition, headers, timestamp_ms)
        self._partitions.add(number)

    def delete(self, key: str, *, partition: int | None = None) -> None:
        """Write a tombstone."""
        self.put(key, None, partition=partition)

    def commit(self) -> None:
        """Commit."""
        self._end(self._producer.commit_transaction)

    def abort(self) -> None:
        """Abort."""
        self._end(self._producer.abort_transaction)

    def _end(self, verb: Any) -> None:
        before = self._topic.end() if self._partitions else {}
        verb(PATIENCE_S)
        if self._partitions:  # the call returns before the markers are written
            goal = {self._topic.place(number): before[self._topic.place(number)] + 1 for number in self._partitions}
            wait_until(lambda: self._topic.end().dominates(goal))
        self._topic.busy.remove(self._producer)


class RealTopic(Backend):
    """A topic of the embedded broker."""

    writers: ClassVar[list[Producer]] = []
    """The producers, shared by all topics because creating one takes half a second."""
    busy: ClassVar[list[Producer]] = []
    """The producers with an open transaction."""

    def __init__(self, kafka: LocalKafka, name: str, partitions: int) -> None:
        self.kafka, self.name, self.partitions = kafka, name, partitions
        self.config = quiet({"bootstrap.servers": kafka.bootstrap_servers})
        self.admin = AdminClient(self.config)
        self.plain = Producer({**self.config, "linger.ms": 0})
        self.is_aggressive = False

    def begin(self) -> Writing:
        """Return the oldest free producer, or a new one."""
        free = [writer for writer in self.writers if writer not in self.busy]
        if not free:
            free = [transactional(self.kafka.bootstrap_servers, f"writer {len(self.writers)} of {self.name}")]
            self.writers.extend(free)
        self.busy.append(free[0])
        return RealWriting(self, free[0])

    def put(self, key: str | None, value: bytes | None, *, partition: int | None = None) -> int:
        """Write with a plain producer."""
        return self.produce(self.plain, key, value, partition)

    def produce(
        self,
        producer: Producer,
        key: str | None,
        value: bytes | None,
        partition: int | None,
        headers: Headers = (),
        timestamp_ms: int | None = None,
    ) -> int:
        """Write a record and wait until it is in the log; return its partition."""
        arrived: list[int] = []

        def take(error: object, message: Any) -> None:
            assert error is None, error
            arrived.append(message.partition())

        more = {"partition": partition, "timestamp": timestamp_ms}
        given: dict[str, Any] = {name: number for name, number in more.items() if number is not None}
        producer.produce(self.name, key=key, value=value, headers=list(headers), on_delivery=take, **given)
        producer.flush(PATIENCE_S)
        return arrived[0]

    def producer(self, transactional_id: str, *, timeout_s: float = 30.0) -> TransactionalProducer:
        """Return the real producer."""
        return TransactionalProducer(self.config, self.name, f"{self.name}-{transactional_id}", timeout_s=timeout_s)

    def replica(self, **options: Any) -> Replica:
        """Return a replica of the real topic."""
        return Replica(self.config, self.name, **options)

    def source(self, boundaries: Boundaries) -> tuple[LogReader, BoundaryDetector]:
        """Return the real boundaries."""
        return make_reader(self.config, [self.name], boundaries)

    def end(self) -> Position:
        """Return the high watermarks, as the broker reports them to another client."""
        metadata = self.admin.list_topics(self.name, timeout=PATIENCE_S).topics[self.name]
        wanted = {TopicPartition(self.name, number): OffsetSpec.latest() for number in metadata.partitions}
        found = self.admin.list_offsets(wanted, isolation_level=IsolationLevel.READ_UNCOMMITTED)
        return Position(
            {self.place(place.partition): answer.result(PATIENCE_S).offset for place, answer in found.items()}
        )

    def compact(self) -> None:
        """Give the cleaner work once more: a filler closes the active segment, which is old enough."""
        if not self.is_aggressive:
            resource = ConfigResource(ConfigResource.Type.TOPIC, self.name)
            for name, value in AGGRESSIVE.items():
                resource.add_incremental_config(ConfigEntry(name, value, incremental_operation=AlterConfigOpType.SET))
            self.admin.incremental_alter_configs([resource])[resource].result(PATIENCE_S)
            self.is_aggressive = True
        time.sleep(0.2)
        self.put(FILLER.decode(), b"")

    def delete_before(self, offset: int) -> None:
        """Delete records with the admin client."""
        place = TopicPartition(self.name, 0, offset)
        self.admin.delete_records([place])[place].result(PATIENCE_S)

    def drop(self) -> None:
        """Delete the topic with the admin client, and wait until it is gone."""
        self.admin.delete_topics([self.name])[self.name].result(PATIENCE_S)
        wait_until(lambda: self.name not in self.admin.list_topics(timeout=PATIENCE_S).topics)

    def recreate(self) -> None:
        """Create the topic again, although the broker may still be deleting the old one."""

        def is_made() -> bool:
            try:
                self.kafka.create_topic(self.name, self.partitions, {"cleanup.policy": "compact"})
            except EmbeddedKafkaError:
                return False
            return True

        wait_until(is_made)

    def add_partitions(self, total: int) -> None:
        """Add partitions with the admin client."""
        self.admin.create_partitions([NewPartitions(self.name, total)])[self.name].result(PATIENCE_S)
        wait_until(
            lambda: len(self.plain.list_topics(self.name, timeout=PATIENCE_S).topics[self.name].partitions) == total
        )

    @contextmanager
    def outage(self) -> Iterator[None]:
        """Stop the broker's process, and let it continue."""
        if not isinstance(self.kafka, LocalKafka):
            pytest.skip("only an embedded broker can be made unavailable")
        self.kafka.pause()
        try:
            yield
        finally:
            self.kafka.resume()


class TestRealTopic(TopicContract):
    """The contract on the embedded broker."""

    @pytest.fixture(autouse=True)
    def _take(self, local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
        self.kafka, self.topic = local_kafka, kafka_topic

    def make(self, partitions: int = 1, *, takes_any_key: bool = False) -> RealTopic:
        """Return a topic of the embedded broker."""
        config = {"cleanup.policy": "delete"} if takes_any_key else None
        return RealTopic(self.kafka, self.topic("contract", partitions=partitions, config=config), partitions)


def contents(snapshot: Snapshot) -> dict[bytes, Record]:
    """Return the content of a version, except the time of writing."""
    return {key: record.replace(timestamp_ms=0) for key, record in snapshot.items()}


@both_kinds
@pytest.mark.parametrize(("seed", "partitions"), [(1, 1), (2, 3)])
def test_the_same_history_makes_the_same_log_and_the_same_versions(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, boundaries: Boundaries, seed: int, partitions: int
) -> None:
    """A random history gives equal logs, batch by batch, and equal versions on a real topic and on a fake one."""
    real = RealTopic(local_kafka, kafka_topic("twin", partitions=partitions), partitions)
    fake = FakeBackend(partitions, real.name)
    players = [BackendPlayer(real), BackendPlayer(fake)]
    compared = 0
    with real.replica(boundaries=boundaries) as real_replica, fake.replica(boundaries=boundaries) as fake_replica:
        for step in random_history(seed, 80, partitions):
            for player in players:
                player.play(step)
            assert real.end() == fake.end(), step
            is_shown = step.verb == "commit" or (step.verb == "put" and step.writer < 0)
            if is_shown and (boundaries is MARKERS or players[0].is_quiet):
                end = fake.topic.end()
                versions = [replica.wait_for(end, PATIENCE_S) for replica in (real_replica, fake_replica)]
                assert contents(versions[0]) == contents(versions[1]), step
                compared += 1
        assert compared > 5, "the history shows nothing"
    assert real.look(boundaries) == fake.look(boundaries)
    assert real.look() == fake.look()
