"""The collector of a registry, when it is first used."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from prometheus_client import CollectorRegistry, Gauge, generate_latest

from kafka_replica.errors import UsageError
from kafka_replica.metrics import export_replica
from kafka_replica.testing import FakeTopic


@pytest.mark.thorough
def test_replicas_that_are_exported_at_the_same_time_share_a_collector() -> None:
    """The scrape has them all."""
    topics = [FakeTopic(f"t{number}") for number in range(4)]
    replicas = [topic.replica() for topic in topics]
    interval_s = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(200):
                registry = CollectorRegistry()
                list(pool.map(lambda replica, registry=registry: export_replica(replica, registry=registry), replicas))
                scraped = generate_latest(registry).decode()
                assert all(f'"{topic.name}"' in scraped for topic in topics)
    finally:
        sys.setswitchinterval(interval_s)
        for replica in replicas:
            replica.close()


def test_a_registry_that_refuses_raises_our_error_each_time() -> None:
    """A second attempt does not go to a collector that no registry has. The default registry describes, too."""
    registry, replica = CollectorRegistry(auto_describe=True), FakeTopic().replica()
    Gauge("kafka_replica_state", "one of the program's own", registry=registry)
    for _ in range(2):
        with pytest.raises(UsageError, match=r"the registry refuses them: .*kafka_replica_state.*; use another"):
            export_replica(replica, registry=registry)
    replica.close()
