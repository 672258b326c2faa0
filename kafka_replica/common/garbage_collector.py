"""Pauses of Python's cyclic garbage collector while many objects without cycles are created."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident
from typing import Final

from kafka_replica.common.process import after_fork

_COLLECTED_AT: Final = 400
_pausing_threads: set[int] = set()


@contextmanager
def collector_paused() -> Iterator[Callable[[int], None]]:
    """Pause the garbage collector within the block, because every few hundred new objects would trigger a collection.

    The pause affects the whole process, so it should last only some milliseconds. If the collector is already off, it
    stays off. A process that is forked meanwhile, which does not have the thread that ends the pause, is not paused.

    Yields:
        A function to be called with the number of tuples that were created since the last call. From time to time, it
        collects the youngest objects. The collector visits each new tuple once, and never again if the tuple contains
        only plain values; this takes a fraction of the time while the tuple is in the processor's cache.
    """
    if not gc.isenabled():
        yield _ignore
        return
    _pausing_threads.add(get_ident())  # before the pause, which a fork may interrupt
    gc.disable()
    young = 0

    def made(tuples: int) -> None:
        nonlocal young
        young += tuples
        if young >= _COLLECTED_AT:
            young = 0
            gc.collect(0)

    try:
        yield made
    finally:
        if get_ident() in _pausing_threads:
            gc.enable()
            _pausing_threads.discard(get_ident())


@contextmanager
def collector_resumed() -> Iterator[None]:
    """Interrupt this thread's pause of the garbage collector within the block, which may wait for long."""
    if get_ident() not in _pausing_threads:
        yield
        return
    gc.enable()
    _pausing_threads.discard(get_ident())
    try:
        yield
    finally:
        if gc.isenabled():  # otherwise it is off for another reason, and is not this thread's to switch on again
            _pausing_threads.add(get_ident())
            gc.disable()


def _end_pauses() -> None:
    if _pausing_threads:
        _pausing_threads.clear()
        gc.enable()


after_fork(_end_pauses)


def _ignore(tuples: int) -> None:
    """Do nothing, because the user has switched the collector off."""
