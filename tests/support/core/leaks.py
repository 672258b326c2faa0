"""Leaks of compiled code: memory that grows, and references that stay."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

_PASSES = 300


def assert_no_leaks(work: Callable[[], None], *shared: object) -> None:
    """Run some work often: memory stays as it is, and the shared objects keep their count of references.

    Args:
        work: the work.
        shared: objects that the work uses, and that nothing else uses meanwhile.
    """
    work()
    gc.collect()
    blocks, counts = sys.getallocatedblocks(), list(map(sys.getrefcount, shared))
    for _ in range(_PASSES):
        work()
    gc.collect()
    assert sys.getallocatedblocks() - blocks < _PASSES  # one object a pass would be more
    assert list(map(sys.getrefcount, shared)) == counts
