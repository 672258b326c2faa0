"""The ends of a partition are not believed if another broker knows of a newer leader than the one that was asked.

A leader that was replaced while it was frozen answers for a moment as if it still led, with the ends of the past.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import closing

import pytest

from kafka_replica import Partition
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire.cluster import Cluster
from kafka_replica.broker.wire.messages import MetadataResponse
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.waiting import wait_until


def is_open(reader: MarkerReader) -> bool:
    """Open the reader if the partitions of the new topic have leaders."""
    try:
        reader.open()
    except BrokerUnavailableError:
        return False
    return True


@pytest.mark.parametrize("is_newer", [True, False])
def test_ends_of_a_replaced_leader(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch, *, is_newer: bool
) -> None:
    """A second broker names another leader, of a newer epoch or of an older one."""
    topic, ask = kafka_topic("replaced", partitions=2), Cluster.metadata

    async def with_copies(cluster: Cluster, topics: Iterable[str], nodes: Iterable[int] = ()) -> list[MetadataResponse]:
        (answer,) = await ask(cluster, topics, nodes)
        known = answer.topics[topic]
        copies = {number: nodes | {99} for number, nodes in known.replicas.items()}
        return [answer._replace(topics={topic: known._replace(replicas=copies)})]

    async def another(cluster: Cluster, topics: Iterable[str], nodes: Iterable[int]) -> dict[int, MetadataResponse]:
        assert list(nodes) == [99]
        (answer,) = await ask(cluster, topics)
        known = answer.topics[topic]
        epoch = known.epochs[0] + (1 if is_newer else -1)
        other = known._replace(leaders={0: 99, 1: known.leaders[1]}, epochs={0: epoch, 1: known.epochs[1]})
        return {99: answer._replace(topics={topic: other})}

    with closing(MarkerReader({"bootstrap.servers": local_kafka.bootstrap_servers}, [topic])) as reader:
        wait_until(lambda: is_open(reader))
        leader = reader.leaders[Partition(topic, 0)]
        monkeypatch.setattr(Cluster, "metadata", with_copies)
        monkeypatch.setattr(Cluster, "views", another)
        if is_newer:
            with pytest.raises(BrokerUnavailableError, match=f"has changed, from broker {leader} to 99"):
                reader.ends()
            assert reader.leaders[Partition(topic, 0)] == 99
        else:
            assert reader.ends().high_watermarks[Partition(topic, 0)] == 0
            assert reader.leaders[Partition(topic, 0)] == leader
