"""The contract's backend for a fake topic."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

from kafka_replica import Position, Replica
from kafka_replica.broker.reading.contract import LogReader
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.producer import TransactionalProducer
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.fake_replica import make_fake_reader
from kafka_replica.transactions import BoundaryDetector
from support.broker.topic_backend import FILLER, Backend, Writing


class FakeBackend(Backend):
    """A fake topic; each method calls the corresponding one of the fake."""

    def __init__(self, partitions: int = 1, name: str = "fake") -> None:
        self.name = name
        self.topic = FakeTopic(name, partitions)

    def begin(self) -> Writing:  # noqa: D102 - as the backend says, here and below
        return self.topic.begin()

    def put(self, key: str | None, value: bytes | None, *, partition: int | None = None) -> object:  # noqa: D102
        if value is None:
            assert key is not None
            return self.topic.delete(key, partition=partition)
        return self.topic.put(key, value, partition=partition)

    def producer(self, transactional_id: str, *, timeout_s: float = 30.0) -> TransactionalProducer:  # noqa: D102
        return self.topic.producer(transactional_id, timeout_s=timeout_s)

    def replica(self, **options: Any) -> Replica:  # noqa: D102
        return self.topic.replica(**options)

    def source(self, boundaries: Boundaries) -> tuple[LogReader, BoundaryDetector]:  # noqa: D102
        return make_fake_reader(self.topic.kafka.cluster, [self.name], boundaries)

    def end(self) -> Position:  # noqa: D102
        return self.source(Boundaries.MARKERS)[0].open().ends

    def compact(self) -> None:  # noqa: D102
        self.topic.put(FILLER, b"")
        self.topic.compact()

    def delete_before(self, offset: int) -> None:  # noqa: D102
        self.topic.delete_before(offset)

    def drop(self) -> None:  # noqa: D102
        self.topic.drop()

    def recreate(self) -> None:  # noqa: D102
        self.topic.recreate()

    def add_partitions(self, total: int) -> None:  # noqa: D102
        self.topic.add_partitions(total)

    def outage(self) -> AbstractContextManager[object]:  # noqa: D102
        return self.topic.outage()
