"""Python's cyclic garbage collector, paused while many objects without cycles are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause the garbage collector, for some milliseconds: every few hundred new objects would trigger a collection.

    The pause affects the whole process, so keep it short. If the collector is already off, it stays off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
