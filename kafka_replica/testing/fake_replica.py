"""A replica of fake topics, which is real except that it reads from memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.replica import Replica
from kafka_replica.replication.opening import MakeReader
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_reader import FakeReader
from kafka_replica.transactions import BoundaryDetector, MarkerDetector, QuiescenceDetector

_ADDRESS = {"bootstrap.servers": "fake.invalid:9092"}  # never used to connect


def make_fake_reader(
    cluster: Cluster, topics: Iterable[str], boundaries: Boundaries
) -> tuple[FakeReader, BoundaryDetector]:
    """Return the reader and the boundary detector of a fake replica, like ``broker.reading.readers.make_reader``."""
    if boundaries is Boundaries.QUIESCENCE:
        return FakeReader(cluster, topics, committed_only=True), QuiescenceDetector()
    return FakeReader(cluster, topics, committed_only=False), MarkerDetector()


class FakeReplica(Replica):
    """A replica of fake topics, which closes without delay, so that unit tests can have hundreds of replicas."""

    def __init__(self, cluster: Cluster, topics: tuple[str, ...], **options: Any) -> None:
        self._cluster = cluster
        super().__init__(_ADDRESS, topics=topics, **options)

    def close(self) -> None:
        """Stop reading and calling listeners; see ``Replica.close``."""
        if self._owner is not None and self._owner.is_current:  # because a lock inherited by a fork may remain locked
            self._supervisor.closing.set()
            self._cluster.wake()
        super().close()

    def _reader_factory(self) -> MakeReader:
        return self._make_fake_reader

    def _make_fake_reader(
        self, config: Mapping[str, Any], topics: Iterable[str], boundaries: Boundaries
    ) -> tuple[FakeReader, BoundaryDetector]:
        del config  # unused: there is no broker to connect to
        reader, detector = make_fake_reader(self._cluster, topics, boundaries)
        reader.is_over = self._supervisor.closing.is_set
        return reader, detector
