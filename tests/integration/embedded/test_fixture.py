"""The pytest fixtures, against a real broker."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points

import pytest
from confluent_kafka import Consumer, Producer

from kafka_replica.embedded import LocalKafka, wire
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.waiting import wait_until

pytestmark = pytest.mark.broker


@pytest.fixture
def deleted_afterwards(local_kafka: LocalKafka) -> Iterator[list[str]]:
    """A list of topics; checks at the end that soon none of them exists any more."""
    topics: list[str] = []
    yield topics
    host, _, port = local_kafka.bootstrap_servers.rpartition(":")
    assert len(topics) == 2
    wait_until(lambda: not wire.query_cluster(host, int(port), topics=tuple(topics), timeout_s=20).leaders)


# This fixture comes before kafka_topic, and therefore ends after it.
def test_topics_are_deleted_after_the_test(
    deleted_afterwards: list[str], local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """The topics of a test are deleted after it; a test may delete one itself."""
    deleted_afterwards += [kafka_topic("own"), kafka_topic("left", partitions=3)]
    local_kafka.delete_topic(deleted_afterwards[0])


def test_the_fixtures_come_with_the_package() -> None:
    """The installed package registers the fixtures; these tests name their plugins, and would not notice."""
    (plugin,) = entry_points(group="pytest11", name="kafka_replica")
    assert plugin.load().kafka_topic is not None


def test_transaction_round_trip(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """A committed transaction is read; an aborted one is not."""
    topic = kafka_topic("round-trip")
    producer = Producer({"bootstrap.servers": local_kafka.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(120)
    for key, commit in ((b"dropped", False), (b"kept", True)):
        producer.begin_transaction()
        producer.produce(topic, key=key, value=b"value")
        producer.flush(120)
        if commit:
            producer.commit_transaction(120)
        else:
            producer.abort_transaction(120)
    consumer = Consumer(
        {
            "bootstrap.servers": local_kafka.bootstrap_servers,
            "group.id": topic,
            "auto.offset.reset": "earliest",
            "isolation.level": "read_committed",
        }
    )
    consumer.subscribe([topic])
    try:
        message = consumer.poll(120)
        assert message is not None
        assert message.error() is None
        assert (message.key(), message.value()) == (b"kept", b"value")
    finally:
        consumer.close()
