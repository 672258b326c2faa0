"""The time that reading a message takes, compared between two sizes."""

from __future__ import annotations

import time
from collections.abc import Callable

from kafka_replica.sdmx import read_message


def assert_linear(made: Callable[[int], bytes]) -> None:
    """Check that reading a message four times as large takes less than 12 times as long.

    Args:
        made: returns a message with one artefact, given the number of its parts.
    """

    def seconds(count: int) -> float:
        data = made(count)
        best = 60.0
        for _ in range(2):
            began_s = time.thread_time()
            assert len(read_message(data)) == 1
            best = min(best, time.thread_time() - began_s)
        return best

    seconds(10)
    # Several attempts, as other programs can change the speed of the processor between the two sizes.
    assert any(seconds(8000) < 12 * max(seconds(2000), 0.002) for _ in range(3))
