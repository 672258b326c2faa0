"""The statistics of the look-ups of all workers, as one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from kafka_replica.errors import NotReadyError
from kafka_replica.sdmx.lookups.cache import CacheStats
from kafka_replica.sdmx.lookups.live import LiveStats


class SummedStatistics:
    """The structures as the worker with the newest version counts them; the sums of the caches' counts.

    Args:
        reported: returns the last reports of the workers.
    """

    def __init__(self, reported: Callable[[], Sequence[LiveStats]]) -> None:
        self._reported = reported

    def stats(self) -> LiveStats:
        """Return the statistics.

        Raises:
            NotReadyError: no worker has reported any yet.
        """
        found = self._reported()
        if not found:
            raise NotReadyError("no worker has counted its structures yet")
        newest = max(found, key=lambda stats: (stats.version, stats.dangling is not None))
        return newest._replace(cache=CacheStats(*map(sum, zip(*(stats.cache for stats in found), strict=True))))
