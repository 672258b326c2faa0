"""The combined statistics of all workers' look-ups."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_replica.errors import NotReadyError
from kafka_replica.sdmx.lookups.cache import CacheStats
from kafka_replica.sdmx.lookups.live import LiveStats


class SummedStatistics:
    """Combines statistics: the counts of structures of the worker with the newest version, and all caches' sums.

    Args:
        reported: returns the workers' last reported statistics.
    """

    def __init__(self, reported: Callable[[], Sequence[LiveStats]]) -> None:
        self._reported = reported

    def stats(self) -> LiveStats:
        """Return the statistics.

        Raises:
            NotReadyError: no worker has reported statistics yet.
        """
        found = self._reported()
        if not found:
            raise NotReadyError("no worker has counted its structures yet")
        newest = max(found, key=lambda stats: (stats.version, stats.dangling is not None))
        return newest._replace(cache=CacheStats(*map(sum, zip(*(stats.cache for stats in found), strict=True))))
