"""Programs that take turns: compared programs run in alternating pieces, and so under the same machine conditions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.programs.common import tell


def take_turns(turn: Callable[[], dict[str, Any]]) -> None:
    """Print that the program is ready; then run a turn for each line of input, and print its time."""
    tell(ready=True)
    for _ in sys.stdin:
        tell(**turn())
