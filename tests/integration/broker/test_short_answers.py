"""A live replica receives short answers without the event loop, and still learns of added partitions."""

from __future__ import annotations

import time
from contextlib import closing, suppress
from types import CoroutineType
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient, NewPartitions

from kafka_replica import Partition
from kafka_replica.broker.reading.fetch_positions import FetchPositions
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.broker.wire import waiting
from kafka_replica.broker.wire.waiting import AnswerWaiter
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import BrokerUnavailableError
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import producer, write
from support.waiting import wait_until

_PATIENCE_S = 30.0


def read_up_to(reader: MarkerReader, partition: Partition, offset: int) -> None:
    """Read until a partition has been read up to an offset."""
    give_up_s = time.monotonic() + _PATIENCE_S
    while reader.read(0.5).reading.positions[partition] < offset:
        assert time.monotonic() < give_up_s


def test_live_fetches_need_no_event_loop(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The event loop gets a turn now and then, but no fetch and no question about partitions waits for it."""
    topic = kafka_topic("short")
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {"a": "1"})
    with closing(MarkerReader({"bootstrap.servers": local_kafka.bootstrap_servers}, [topic])) as reader:
        reader.open()
        read_up_to(reader, Partition(topic, 0), 2)
        reader.check_topics()
        monkeypatch.setattr(waiting, "_LOOP_EVERY_S", 1e9)
        run: list[str] = []

        def noted(_waiter: AnswerWaiter, coroutine: CoroutineType[Any, Any, Any]) -> Any:
            run.append(coroutine.__qualname__)
            return reader._loop.run_until_complete(coroutine)

        monkeypatch.setattr(AnswerWaiter, "run", noted)
        for number in range(1, 20):
            write(writer, topic, {"a": str(number)})
            read_up_to(reader, Partition(topic, 0), 2 + 2 * number)
            assert reader.check_topics() == []
        assert run == []


def test_an_added_partition_is_listed_after_a_fetch(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The question that is sent with each fetch finds the partitions that were added since the answer before."""
    topic = kafka_topic("added")
    writer = producer(local_kafka.bootstrap_servers, topic)
    with closing(MarkerReader({"bootstrap.servers": local_kafka.bootstrap_servers}, [topic])) as reader:
        reader.open()
        transactions = 0

        def unread() -> list[Partition]:
            """Write a transaction to the first partition, read it, and return the partitions that are not read yet."""
            nonlocal transactions
            transactions += 1
            writer.begin_transaction()
            writer.produce(topic, b"value", b"key", partition=0)
            writer.commit_transaction()
            read_up_to(reader, Partition(topic, 0), 2 * transactions)
            return reader.check_topics()

        async def second_request(_positions: FetchPositions) -> list[Partition]:
            raise AssertionError("the question after the fetch was not answered")

        monkeypatch.setattr(FetchPositions, "check_topics", second_request)
        assert unread() == []
        assert unread() == []
        admin = AdminClient({"bootstrap.servers": local_kafka.bootstrap_servers})
        admin.create_partitions([NewPartitions(topic, 3)])[topic].result(_PATIENCE_S)
        while not (found := unread()):  # the broker learns of them a moment after they were created
            assert transactions < 1000
        assert found == [Partition(topic, 1), Partition(topic, 2)]
        assert unread() == found

        def begun() -> bool:
            with suppress(BrokerUnavailableError):  # their leader is not ready yet
                reader.add(found)
                return True
            return False

        wait_until(begun)
        assert unread() == []
