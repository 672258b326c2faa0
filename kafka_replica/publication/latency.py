"""A histogram of how long transactions took from their source to a version; without I/O or clock."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the buckets, in seconds; a final bucket has everything above."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """The latencies measured since the start, one for each transaction, as an immutable histogram."""

    counts: tuple[int, ...] = field(default=(0,) * (len(BOUNDS_S) + 1))
    """The number of latencies in each bucket; the counts are not cumulative."""
    sum_s: float = 0.0
    last_s: float | None = None

    def plus(self, latency_s: float) -> Latencies:
        """Return these latencies with another one added; a negative one (the source's clock is ahead) counts as 0."""
        latency_s = max(0.0, latency_s)
        counts = list(self.counts)
        counts[bisect_left(BOUNDS_S, latency_s)] += 1
        return Latencies(tuple(counts), self.sum_s + latency_s, latency_s)

    @property
    def count(self) -> int:
        """The number of latencies."""
        return sum(self.counts)

    def as_json(self) -> dict[str, float | int | None]:
        """Return the latencies as plain JSON values, without the buckets."""
        return {"count": self.count, "sum_s": self.sum_s, "last_s": self.last_s}
