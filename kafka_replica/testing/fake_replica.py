"""The replica of fake topics: the real one, but for where it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.replica import Replica
from kafka_replica.replication.opening import MakeReader
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_source import FakeSource
from kafka_replica.transactions import BoundaryDetector, MarkerDetector, QuiescenceDetector

_ADDRESS = {"bootstrap.servers": "fake.invalid:9092"}  # nobody connects to it


def make_fake_source(
    cluster: Cluster, topics: Iterable[str], boundaries: Boundaries
) -> tuple[FakeSource, BoundaryDetector]:
    """What a replica reads with, in the place of ``broker.sources.make_reader``."""
    if boundaries is Boundaries.QUIET_POINTS:
        return FakeSource(cluster, topics, committed_only=True), QuiescenceDetector()
    return FakeSource(cluster, topics, committed_only=False), MarkerDetector()


class FakeReplica(Replica):
    """A replica that is closed at once, so that unit tests may have hundreds of them: its reader is woken."""

    def __init__(self, cluster: Cluster, topics: tuple[str, ...], **options: Any) -> None:
        self._cluster = cluster
        super().__init__(_ADDRESS, topics, **options)

    def close(self) -> None:
        """Ends reading and tells listeners no more; see ``Replica.close``."""
        if self._pid == os.getpid():  # a lock that a fork inherited may be held for ever
            self._supervisor.closing.set()
            self._cluster.wake()
        super().close()

    def _source_factory(self) -> MakeReader:
        return self._make_fake_source

    def _make_fake_source(
        self, config: Mapping[str, Any], topics: Iterable[str], boundaries: Boundaries
    ) -> tuple[FakeSource, BoundaryDetector]:
        del config  # there is nothing to connect to
        source, rule = make_fake_source(self._cluster, topics, boundaries)
        source.is_over = self._supervisor.closing.is_set
        return source, rule
