"""Points in time on two clocks, because neither clock is reliable alone.

The wall clock can be set forwards and backwards. The monotonic clock also runs while the computer is suspended, but
restarts at every boot, and stops while a virtual machine is paused.
"""

from __future__ import annotations

import math
import time
from typing import NamedTuple

# Linux counts suspended time with CLOCK_BOOTTIME only, macOS with CLOCK_MONOTONIC, Windows with time.monotonic().
_CLOCK_ID: int | None = getattr(time, "CLOCK_BOOTTIME", getattr(time, "CLOCK_MONOTONIC", None))


class Instant(NamedTuple):
    """A point in time on both clocks."""

    wall_ms: int
    """Milliseconds since 1970-01-01 UTC."""
    counted_s: float | None = None
    """Seconds on the monotonic clock; None for an instant of another process."""

    def age_s(self, now: Instant) -> float:
        """Return the maximum number of seconds that may have passed: the longer of the times on the two clocks.

        The result is infinite if only the wall clock is known, and has been set back since then.
        """
        wall_s = (now.wall_ms - self.wall_ms) / 1000
        if self.counted_s is None or now.counted_s is None:
            return wall_s if wall_s >= 0 else math.inf
        return max(wall_s, now.counted_s - self.counted_s)


def now_ms() -> int:
    """Return the time of the wall clock, in milliseconds since 1970-01-01 UTC."""
    return time.time_ns() // 1_000_000


def now() -> Instant:
    """Return the current instant."""
    counted_s = time.monotonic() if _CLOCK_ID is None else time.clock_gettime(_CLOCK_ID)
    return Instant(now_ms(), counted_s)
