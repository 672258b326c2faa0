"""The sums of the statistics of several workers."""

from __future__ import annotations

import pytest

from kafka_replica.errors import NotReadyError
from kafka_replica.sdmx.lookups.cache import CacheStats
from kafka_replica.sdmx.lookups.live_structures import LiveStats
from kafka_replica.server.running.workers.statistics import SummedStatistics


def worker(hits: int, size_bytes: int, version: int = 1) -> LiveStats:
    """Return the statistics of a worker."""
    return LiveStats(version, 9, None, None, CacheStats(hits, 1, 0, 0.5, 2, size_bytes, 1000))


def test_counters_do_not_fall_when_a_worker_is_replaced() -> None:
    """A lower counter would look like a restart, and all hits like new ones; gauges are those of living workers."""
    living = [worker(100, 10), worker(50, 10)]
    summed = SummedStatistics(lambda: living)
    assert summed.stats().cache == CacheStats(150, 2, 0, 1.0, 4, 20, 2000)
    living.pop(0)
    assert summed.stats().cache == CacheStats(150, 2, 0, 1.0, 2, 10, 1000)
    living.append(worker(3, 7, version=2))
    found = summed.stats()
    assert (found.version, found.cache) == (2, CacheStats(153, 3, 0, 1.5, 4, 17, 2000))
    living.clear()
    with pytest.raises(NotReadyError):
        summed.stats()
    living.append(worker(1, 1))
    assert summed.stats().cache.hits == 153
    living[0] = worker(5, 1)
    assert summed.stats().cache.hits == 157
