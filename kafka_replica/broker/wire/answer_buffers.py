"""Buffers for the answers of brokers; buffers of long answers are reused."""

from __future__ import annotations

import sys
from typing import Final

_LONG: Final = 256 << 10  # from this size on, the system provides the memory of a new buffer page by page, cleared
_STEP: Final = 1 << 20  # sizes are rounded up to multiples, so that answers of similar sizes fit
_KEPT: Final = 2  # one answer is processed while the next one arrives
_SHORT_ANSWERS: Final = 100  # after this many short answers in sequence, no long answer is expected soon
_COUNTS_REFERENCES: Final = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


class AnswerBuffers:
    """The buffers of one connection.

    A buffer is reused once no view of its content exists. With a new buffer of some megabytes for each answer, half of
    the time would be spent on page faults.
    """

    def __init__(self) -> None:
        self._kept: list[bytearray] = []
        self._short_answers = 0

    @property
    def kept_bytes(self) -> int:
        """The total size of the kept buffers, in bytes."""
        return sum(map(len, self._kept))

    def take(self, size: int) -> memoryview:
        """Return a buffer of ``size`` bytes with undefined content; it is not reused while a view of it exists."""
        if size < _LONG or not _COUNTS_REFERENCES:
            self._short_answers += 1
            if self._short_answers >= _SHORT_ANSWERS:
                self.free()
            return memoryview(bytearray(size))
        self._short_answers = 0
        for at in range(len(self._kept)):
            # One reference is from the list, one from the argument; any further reference is from a view.
            if len(self._kept[at]) >= size and sys.getrefcount(self._kept[at]) == 2:
                return memoryview(self._kept[at])[:size]
        made = bytearray(-(-size // _STEP) * _STEP)
        self._kept = [*self._kept, made][-_KEPT:]
        return memoryview(made)[:size]

    def free(self) -> None:
        """Free the kept buffers, because no long answer is expected soon."""
        self._kept.clear()
