"""The heap of the C library, in which Python keeps all objects above 512 bytes."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread
from typing import Final

from kafka_replica.common.compiled import HEAP, CompiledHeap

_BLOCK_BYTES: Final = 100_000  # below 128 KiB, from which on glibc maps a block by itself, outside of the heap
_LEAST_BYTES, _MOST_BYTES = 1 << 20, 64 << 20  # less is not worth it; more does not fit into one of glibc's heaps


def _is_glibc() -> bool:
    try:
        return "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):
        return False


_GROWS_BY_PAGES: Final = _is_glibc()


class GrowingHeap:
    """The heap of a thread that creates many objects and keeps them. Only this thread may use it.

    In threads other than the main thread, glibc's heap grows by a page at a time, with a system call for each
    (``grow_heap`` in its ``arena.c``), which took a tenth of the time of a bootstrap. So it is made to grow in larger
    steps. With the compiled module, another thread also lets the system provide the memory, one step ahead: the first
    write to each page of 4 KiB is an interrupt otherwise, which took a quarter of the time.
    """

    def __init__(self) -> None:
        self._next: object | None = None  # the reserve for the next step

    def grow(self, size_bytes: int) -> None:
        """Grow for objects of about this size that are about to be created, and as many after them."""
        if not _GROWS_BY_PAGES:
            return
        size_bytes = min(size_bytes, _MOST_BYTES)
        if size_bytes < _LEAST_BYTES:
            self._next = None
        elif HEAP is None:
            # Blocks that are freed at once; they are not written to, so that they take no memory.
            blocks = [bytes(_BLOCK_BYTES) for _ in range(size_bytes // _BLOCK_BYTES)]
            del blocks
        else:
            self._provide(HEAP, size_bytes)

    def _provide(self, heap: CompiledHeap, size_bytes: int) -> None:
        now = self._next
        if now is None:
            now = heap.reserve(size_bytes)
            heap.populate(now)
        # Before the other is freed: free memory at the end of its heap would be returned to the system by glibc.
        self._next = heap.reserve(size_bytes)
        with suppress(RuntimeError):  # no thread can be started: the process is ending, or has too many
            Thread(target=heap.populate, args=(self._next,), name="kafka-replica-heap", daemon=True).start()
        heap.release(now)
