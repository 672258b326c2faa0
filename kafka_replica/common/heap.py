"""The heap of the C library, in which Python keeps all objects above 512 bytes."""

from __future__ import annotations

import os
from typing import Final

_BLOCK_BYTES: Final = 100_000  # below 128 KiB, from which on glibc maps a block by itself, outside of the heap
_LEAST_BYTES, _MOST_BYTES = 1 << 20, 64 << 20  # less is not worth it; more does not fit into one of glibc's heaps


def _is_glibc() -> bool:
    try:
        return "glibc" in (os.confstr("CS_GNU_LIBC_VERSION") or "")
    except (AttributeError, ValueError, OSError):
        return False


_GROWS_BY_PAGES: Final = _is_glibc()


def grow_heap(size_bytes: int) -> None:
    """Let this thread's heap grow now for objects of about this size that are about to be created and kept.

    In threads other than the main thread, glibc's heap grows by a page at a time, with a system call for each
    (``grow_heap`` in its ``arena.c``), which took a tenth of the time of a bootstrap. Blocks that are requested and
    freed at once make it grow in larger steps. They are not written to, so that they take no memory.
    """
    if _GROWS_BY_PAGES and size_bytes >= _LEAST_BYTES:
        blocks = [bytes(_BLOCK_BYTES) for _ in range(min(size_bytes, _MOST_BYTES) // _BLOCK_BYTES)]
        del blocks
