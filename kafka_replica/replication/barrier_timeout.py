"""The time limit of a replica that is not ready and reads nothing, without I/O or clock."""

from __future__ import annotations

from kafka_replica.records import Position


class BarrierTimeout:
    """A limit on the time without progress while the broker answers.

    Args:
        limit_s: the limit in seconds; None waits without limit.
        now_s: the present time, on the same monotonic clock as all later times.
    """

    def __init__(self, limit_s: float | None, now_s: float) -> None:
        self.limit_s = limit_s
        self._moved_s = now_s
        self._last = Position()

    def is_over(self, position: Position, now_s: float, *, is_stalled: bool) -> bool:
        """Return whether reading has made no progress for longer than the limit, although the broker answers."""
        if position != self._last or is_stalled:
            self._last, self._moved_s = position, now_s
        return self.limit_s is not None and now_s - self._moved_s > self.limit_s
