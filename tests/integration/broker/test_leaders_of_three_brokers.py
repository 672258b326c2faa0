"""On three brokers, all brokers with a copy are asked who leads before the ends of several partitions are used."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import pytest

from chaos.cluster import Cluster as Brokers
from kafka_replica import Partition
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire.cluster import Cluster
from kafka_replica.broker.wire.messages import MetadataResponse
from kafka_replica.errors import BrokerUnavailableError, TopicNotFoundError
from support.waiting import wait_until

pytestmark = pytest.mark.long
"""Three brokers take eight seconds; `make test` compares the leaders of a model, in test_leader_views.py."""


@pytest.fixture(scope="module")
def brokers() -> Iterator[Brokers]:
    """Three brokers, each with a copy of every partition."""
    with Brokers(3) as started:
        yield started


@pytest.fixture
def views(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of brokers that answered each time that those with a copy were asked."""
    counts: list[int] = []
    ask = Cluster.views

    async def counted(cluster: Cluster, topics: Iterable[str], nodes: Iterable[int]) -> dict[int, MetadataResponse]:
        found = await ask(cluster, topics, nodes)
        counts.append(len(found))
        return found

    monkeypatch.setattr(Cluster, "views", counted)
    return counts


@contextmanager
def opened(brokers: Brokers, topic: str, partitions: int, min_insync_replicas: int = 2) -> Iterator[MarkerReader]:
    """Create a topic and yield a reader of it."""
    brokers.create_topic(topic, partitions, {"min.insync.replicas": str(min_insync_replicas)})
    reader = MarkerReader({"bootstrap.servers": brokers.bootstrap}, [topic])
    try:
        wait_until(lambda: is_open(reader))
        yield reader
    finally:
        reader.close()


def is_open(reader: MarkerReader) -> bool:
    """Open the reader if its partitions have leaders."""
    try:
        reader.open()
    except (BrokerUnavailableError, TopicNotFoundError):  # a broker may learn of a new partition or leader later
        return False
    return True


def test_one_partition_asks_its_leader_alone(brokers: Brokers, views: list[int]) -> None:
    """No transaction spans another partition, so nothing is compared."""
    with opened(brokers, "one", 1) as reader:
        reader.ends()
        assert views == []


@pytest.mark.parametrize("min_insync_replicas", [1, 2])
def test_a_frozen_broker_does_not_delay_the_others(
    brokers: Brokers, views: list[int], min_insync_replicas: int
) -> None:
    """Brokers that lead nothing are asked, too; one that does not answer is left alone for a while.

    It could be a newer leader only if one broker is enough to confirm a record: that is reported.
    """
    topic = f"insync-{min_insync_replicas}"
    partitions = frozenset({Partition(topic, 0), Partition(topic, 1)})
    with opened(brokers, topic, 2, min_insync_replicas) as reader:
        leaders = set(reader.leaders.values())

        def all_answer() -> bool:  # a busy machine may need several attempts
            assert not reader.ends().unconfirmed or views[-1] < 3 - len(leaders)
            return views[-1] == 3 - len(leaders)

        wait_until(all_answer)
        idle = next(number for number in (1, 2, 3) if number not in leaders)
        frozen = brokers.brokers[idle - 1]
        frozen.pause()
        try:
            del views[:]
            for _ in range(3):
                ends = reader.ends()
                assert set(ends.high_watermarks) == partitions
                assert ends.unconfirmed == (partitions if min_insync_replicas == 1 else frozenset())
            assert len(views) == 3
            assert max(views) <= 2 - len(leaders)
        finally:
            frozen.resume()
