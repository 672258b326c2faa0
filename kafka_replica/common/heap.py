"""Growth of the C library's heap, in which Python keeps all objects larger than 512 bytes."""

from __future__ import annotations

import os
from contextlib import suppress
from threading import Thread
from typing import Final

from kafka_replica.common.compiled import HEAP, CompiledHeap

_BLOCK_BYTES: Final = 100_000  # below 128 KiB, from which on glibc maps each block separately, outside of the heap
_LEAST_BYTES, _MOST_BYTES = 1 << 20, 64 << 20  # less is not worth the effort; glibc's heaps hold no more


def _is_glibc() -> bool:
    try:
        return "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):
        return False


_GROWS_BY_PAGES: Final = _is_glibc()


class GrowingHeap:
    """The heap of a thread that creates many objects and keeps them. Only this thread may use it.

    In threads other than the main thread, glibc's heap grows page by page, with a system call for each page
    (``grow_heap`` in its ``arena.c``); this took a tenth of the time of a bootstrap. This class makes the heap grow in
    larger steps. With the compiled module, another thread also lets the system provide the memory one step ahead:
    otherwise the first write to each page of 4 KiB causes a page fault, which took a quarter of the time.
    """

    def __init__(self) -> None:
        self._next: object | None = None  # the reserve for the next step

    def grow(self, size_bytes: int) -> None:
        """Grow the heap before objects of about this total size are created, and prepare as much for the next ones."""
        if not _GROWS_BY_PAGES:
            return
        size_bytes = min(size_bytes, _MOST_BYTES)
        if size_bytes < _LEAST_BYTES:
            self._next = None
        elif HEAP is None:
            # The blocks are freed immediately. Nothing is written to them, so that they need no physical memory.
            blocks = [bytes(_BLOCK_BYTES) for _ in range(size_bytes // _BLOCK_BYTES)]
            del blocks
        else:
            self._provide(HEAP, size_bytes)

    def _provide(self, heap: CompiledHeap, size_bytes: int) -> None:
        now = self._next
        if now is None:
            now = heap.reserve(size_bytes)
            heap.populate(now)
        # Reserved before the other reserve is freed: glibc returns free memory at the end of its heap to the system.
        self._next = heap.reserve(size_bytes)
        with suppress(RuntimeError):  # no thread can be started, because the process is ending or has too many
            Thread(target=heap.populate, args=(self._next,), name="kafka-replica-heap", daemon=True).start()
        heap.release(now)
