"""The replica of fake topics: the real one, but for where it reads."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any

from kafka_replica.broker.sources import Evidence
from kafka_replica.cuts import Markers, QuietPoints, Rule
from kafka_replica.opening import MakeSource
from kafka_replica.replica import Replica
from kafka_replica.testing.fake_cluster import Cluster
from kafka_replica.testing.fake_source import FakeSource

_ADDRESS = {"bootstrap.servers": "fake.invalid:9092"}  # nobody connects to it


def make_fake_source(cluster: Cluster, topics: Iterable[str], evidence: Evidence) -> tuple[FakeSource, Rule]:
    """What a replica reads with, in the place of ``broker.sources.make_source``."""
    if evidence is Evidence.QUIET_POINTS:
        return FakeSource(cluster, topics, committed_only=True), QuietPoints()
    return FakeSource(cluster, topics, committed_only=False), Markers()


class FakeReplica(Replica):
    """A replica that is closed at once, so that unit tests may have hundreds of them: its reader is woken."""

    def __init__(self, cluster: Cluster, topics: tuple[str, ...], **options: Any) -> None:
        self._cluster = cluster
        super().__init__(_ADDRESS, topics, **options)

    def close(self) -> None:
        """Ends reading and tells listeners no more; see ``Replica.close``."""
        if self._pid == os.getpid():  # a lock that a fork inherited may be held for ever
            self._keeper.closing.set()
            self._cluster.wake()
        super().close()

    def _source_factory(self) -> MakeSource:
        return self._make_fake_source

    def _make_fake_source(
        self, config: Mapping[str, Any], topics: Iterable[str], evidence: Evidence
    ) -> tuple[FakeSource, Rule]:
        del config  # there is nothing to connect to
        source, rule = make_fake_source(self._cluster, topics, evidence)
        source.is_over = self._keeper.closing.is_set
        return source, rule
