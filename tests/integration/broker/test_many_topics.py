"""Several topics and partitions as one replica; topics and partitions that are added later."""

from __future__ import annotations

from typing import Any

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewPartitions

from kafka_replica import Change, Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.replication.follower import Follower
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import all_decided, producer, quiet, write
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.quiescence_long]


def config(kafka: LocalKafka) -> dict[str, Any]:
    """Return the configuration of a client."""
    return quiet({"bootstrap.servers": kafka.bootstrap_servers})


def span(made: Producer, places: list[tuple[str, int]], value: str, key: str = "k") -> None:
    """Write a transaction with one value for several keys."""
    made.begin_transaction()
    for topic, partition in places:
        made.produce(topic, key=f"{key}-{partition}".encode(), value=value.encode(), partition=partition)
        if len(value) % 2:
            made.flush()
    made.commit_transaction()


@pytest.mark.usefixtures("boundaries")
def test_a_transaction_over_two_topics_is_one_version(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """Equal keys of two topics are separate; a transaction over both is never seen in only one of them."""
    one, two = kafka_topic("one", partitions=2), kafka_topic("two")
    writer = producer(local_kafka.bootstrap_servers, one)
    torn: list[int] = []

    def look(change: Change) -> None:
        values = {record.value for record in change.snapshot.values()}
        if len(values) > 1:
            torn.append(change.version)

    with Replica(config(local_kafka), topics=[one, two]) as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(look)
        for number in range(40):
            span(writer, [(one, 0), (one, 1), (two, 0)], "x" * number)
        ends = {
            **all_decided(local_kafka.bootstrap_servers, one, 2),
            **all_decided(local_kafka.bootstrap_servers, two, 1),
        }
        snapshot = replica.wait_for(ends, timeout_s=60)
    assert torn == []
    assert sorted(snapshot.of(one)) == [b"k-0", b"k-1"]
    assert sorted(snapshot.of(two)) == [b"k-0"]
    assert (snapshot.of(one)["k-0"].topic, snapshot.of(two)["k-0"].topic) == (one, two)
    assert len(snapshot) == len(snapshot.of(one)) + len(snapshot.of(two)) == 3


@pytest.mark.usefixtures("boundaries")
def test_the_last_topic_wins_in_one_key_space(local_kafka: LocalKafka, kafka_topic: TopicMaker) -> None:
    """The last topic wins where both have a key; if its record is deleted, the other's record shows again."""
    base, over = kafka_topic("base"), kafka_topic("over")
    writer = producer(local_kafka.bootstrap_servers, base)
    write(writer, over, {"both": "over", "only": "over"})
    write(writer, base, {"both": "base", "plain": "base"})
    with Replica(config(local_kafka), topics=[base, over], one_key_space=True) as replica:
        snapshot = replica.wait_ready(timeout_s=60)
        assert {key: record.value for key, record in snapshot.items()} == {
            b"both": b"over",
            b"only": b"over",
            b"plain": b"base",
        }
        write(writer, base, {"both": "base 2"})
        write(writer, over, {"only": None})
        wait_until(lambda: "only" not in replica.snapshot())
        assert replica.snapshot()["both"].value == b"over"
        write(writer, over, {"both": None})
        wait_until(lambda: replica.snapshot()["both"].value == b"base 2")
    with Replica(config(local_kafka), topics=[base, over], one_key_space=True) as later:
        found = {key: record.value for key, record in later.wait_ready(timeout_s=60).items()}
        assert found == {b"both": b"base 2", b"plain": b"base"}, "a replica that starts later says something else"


def versions_while_it_grows(local_kafka: LocalKafka, topic: str) -> list[dict[bytes, bytes | None]]:
    """Add partitions and write to old and new ones at once; return every version that was seen."""
    bootstrap = local_kafka.bootstrap_servers
    versions: list[dict[bytes, bytes | None]] = []
    with Replica(config(local_kafka), topic) as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(lambda change: versions.append({k: r.value for k, r in change.snapshot.items()}))
        span(producer(bootstrap, f"{topic}-a"), [(topic, 0)], "first")
        admin = AdminClient(config(local_kafka))  # kept: it answers the query
        admin.create_partitions([NewPartitions(topic, 3)])[topic].result(10)
        writer = producer(bootstrap, f"{topic}-b")
        for number in range(12):
            span(writer, [(topic, 0), (topic, 1), (topic, 2)], str(number))
        wait_until(lambda: versions and versions[-1].get(b"k-2") == b"11")
    return versions


def is_whole(version: dict[bytes, bytes | None]) -> bool:
    """Return True if a version shows one transaction in all three partitions, or the state before."""
    return version in ({}, {b"k-0": b"first"}) or (len(set(version.values())) == 1 and len(version) == 3)


@pytest.mark.usefixtures("boundaries")
@pytest.mark.parametrize("attempt", range(3))
def test_partitions_that_are_added_hold_no_half_transactions(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, attempt: int
) -> None:
    """Every version is whole, from the first transaction that spans old and new partitions."""
    versions = versions_while_it_grows(local_kafka, kafka_topic(f"grows-{attempt}"))
    assert [version for version in versions if not is_whole(version)] == []


def test_without_looking_for_partitions_versions_are_torn(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without the query for partitions versions are torn: the test above can fail."""
    monkeypatch.setattr(Follower, "_are_partitions_unchanged", lambda self: True)
    torn = 0
    for attempt in range(10):
        versions = versions_while_it_grows(local_kafka, kafka_topic(f"blind-{attempt}"))
        torn += sum(not is_whole(version) for version in versions)
        if torn:
            break
    assert torn


def test_a_hung_transaction_in_one_partition_does_not_delay_others(
    local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """With markers, versions continue during an open transaction in one partition, which is whole in the end."""
    topic = kafka_topic("hung", partitions=2)
    bootstrap = local_kafka.bootstrap_servers
    hung, other = producer(bootstrap, f"{topic}-hung"), producer(bootstrap, f"{topic}-other")
    with Replica(config(local_kafka), topic, boundaries="markers") as replica:
        replica.wait_ready(timeout_s=60)
        hung.begin_transaction()
        for partition in range(2):
            hung.produce(topic, key=f"hung-{partition}".encode(), value=b"x", partition=partition)
        hung.flush()
        for number in range(5):
            span(other, [(topic, 0), (topic, 1)], str(number))
        wait_until(lambda: "k-1" in replica.snapshot() and replica.snapshot()["k-1"].value == b"4")
        assert {open_.partition.partition for open_ in replica.snapshot().position.open} == {0, 1}
        assert not any(key.startswith(b"hung") for key in replica.snapshot())
        changes = replica.changes(since=replica.snapshot().version, timeout_s=20)
        hung.commit_transaction()
        assert set(next(changes).changed) == {b"hung-0", b"hung-1"}
