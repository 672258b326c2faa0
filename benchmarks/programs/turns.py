"""Programs that take turns: what is compared runs in pieces, one after the other, and so meets the same machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from benchmarks.programs.common import tell


def take_turns(turn: Callable[[], dict[str, Any]]) -> None:
    """Says that it is ready; then does a turn for each line of its input, and tells what it took."""
    tell(ready=True)
    for _ in sys.stdin:
        tell(**turn())
