"""Buffers for the answers of brokers; those of long answers are used again."""

from __future__ import annotations

import sys
from typing import Final

_LONG: Final = 256 << 10  # a buffer of this size is memory that the system provides, and clears, page by page
_STEP: Final = 1 << 20  # sizes are rounded up, so that answers of similar sizes fit
_KEPT: Final = 2  # one answer is processed while the next one arrives
_SHORT_ANSWERS: Final = 100  # after so many, no long answer is expected soon
_COUNTS_REFERENCES: Final = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()


class AnswerBuffers:
    """The buffers of one connection.

    A buffer is used again once there is no view of its content. Half of the time that a new buffer of some
    megabytes takes is spent on page faults.
    """

    def __init__(self) -> None:
        self._kept: list[bytearray] = []
        self._short_answers = 0

    @property
    def kept_bytes(self) -> int:
        """The size of the buffers that are kept, in bytes."""
        return sum(map(len, self._kept))

    def take(self, size: int) -> memoryview:
        """Return a buffer of this many bytes, with any content; it belongs to the caller while a view of it exists."""
        if size < _LONG or not _COUNTS_REFERENCES:
            self._short_answers += 1
            if self._short_answers >= _SHORT_ANSWERS:
                self.free()
            return memoryview(bytearray(size))
        self._short_answers = 0
        for at in range(len(self._kept)):
            # One reference is the list's, one the argument's; each further one belongs to views.
            if len(self._kept[at]) >= size and sys.getrefcount(self._kept[at]) == 2:
                return memoryview(self._kept[at])[:size]
        made = bytearray(-(-size // _STEP) * _STEP)
        self._kept = [*self._kept, made][-_KEPT:]
        return memoryview(made)[:size]

    def free(self) -> None:
        """Free the buffers that are kept, because no long answer is expected soon."""
        self._kept.clear()
