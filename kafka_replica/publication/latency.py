"""How long transactions took from their source to the version that shows them: a histogram, without I/O or clock."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Final

BOUNDS_S: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
"""Upper bounds of the buckets, in seconds; one more bucket has all above."""


@dataclass(frozen=True, slots=True)
class Latencies:
    """What was measured since the start, one latency a transaction. Immutable."""

    counts: tuple[int, ...] = field(default=(0,) * (len(BOUNDS_S) + 1))
    """How many fell into each bucket and no lower one."""
    sum_s: float = 0.0
    last_s: float | None = None

    def plus(self, latency_s: float) -> Latencies:
        """With one more; a source whose clock is ahead of ours counts as 0."""
        latency_s = max(0.0, latency_s)
        counts = list(self.counts)
        counts[bisect_left(BOUNDS_S, latency_s)] += 1
        return Latencies(tuple(counts), self.sum_s + latency_s, latency_s)

    @property
    def count(self) -> int:
        """How many there are."""
        return sum(self.counts)

    def as_json(self) -> dict[str, float | int | None]:
        """Plain values, without the buckets."""
        return {"count": self.count, "sum_s": self.sum_s, "last_s": self.last_s}
