"""A number in memory that all processes of the service share: the sequence of the newest version to show."""

from __future__ import annotations

import mmap
import os
from typing import Final

_SIZE: Final = 8


class SharedNumber:
    """A whole number that one process sets and all processes read, in the memory of an unnamed file.

    Eight aligned bytes are read and written atomically.

    Args:
        descriptor: the descriptor of the file; it may be closed afterwards.
    """

    def __init__(self, descriptor: int) -> None:
        if os.fstat(descriptor).st_size < _SIZE:
            os.ftruncate(descriptor, _SIZE)
        self._memory = memoryview(mmap.mmap(descriptor, _SIZE)).cast("q")

    @property
    def value(self) -> int:
        """The number."""
        return self._memory[0]

    @value.setter
    def value(self, value: int) -> None:
        self._memory[0] = value
