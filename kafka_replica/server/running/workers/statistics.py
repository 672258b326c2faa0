"""The combined statistics of all workers' look-ups."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Final

from kafka_replica.errors import NotReadyError
from kafka_replica.sdmx.lookups.cache import CacheStats
from kafka_replica.sdmx.lookups.live_structures import LiveStats

_COUNTERS: Final = ("hits", "misses", "evictions", "decode_seconds")  # the other fields are those of living caches


class SummedStatistics:
    """Combines statistics: the counts of structures of the worker with the newest version, and all caches' sums.

    Counters never fall: what an ended worker had counted is kept. If other workers count at the same time as one is
    replaced, a part of that may be missing in the sums.

    Args:
        reported: returns the living workers' last reported statistics.
    """

    def __init__(self, reported: Callable[[], Sequence[LiveStats]]) -> None:
        self._reported = reported
        self._lock = Lock()
        self._last: dict[str, float] = dict.fromkeys(_COUNTERS, 0)
        self._ended: dict[str, float] = dict.fromkeys(_COUNTERS, 0)  # what ended workers had counted

    def stats(self) -> LiveStats:
        """Return the statistics.

        Raises:
            NotReadyError: no worker has reported statistics yet.
        """
        with self._lock:
            found = self._reported()
            if not found:
                raise NotReadyError("no worker has counted its structures yet")
            newest = max(found, key=lambda stats: (stats.version, stats.dangling is not None))
            return newest._replace(cache=self._summed([stats.cache for stats in found]))

    def _summed(self, caches: Sequence[CacheStats]) -> CacheStats:
        summed = CacheStats(*map(sum, zip(*caches, strict=True)))
        for name in _COUNTERS:
            count = getattr(summed, name)
            self._ended[name] += max(0, self._last[name] - count)
            self._last[name] = count
        return summed._replace(**{name: getattr(summed, name) + self._ended[name] for name in _COUNTERS})
