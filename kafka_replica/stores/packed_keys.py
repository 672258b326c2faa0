"""A compact sequence of keys: their bytes concatenated, and the end of each key."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from typing import overload

from kafka_replica.common.wording import counted


class PackedKeys(Sequence[bytes]):
    """A sequence of keys that takes eight bytes per key in addition to the key itself."""

    __slots__ = ("_data", "_ends")

    def __init__(self) -> None:
        self._data = bytearray()
        self._ends = array("Q")

    def append(self, key: bytes) -> None:
        """Append a key, while the sequence is being built."""
        self._data += key
        self._ends.append(len(self._data))

    def __len__(self) -> int:
        return len(self._ends)

    @overload
    def __getitem__(self, at: int, /) -> bytes: ...
    @overload
    def __getitem__(self, at: slice, /) -> Sequence[bytes]: ...
    def __getitem__(self, at: int | slice, /) -> bytes | Sequence[bytes]:
        """Return the key at an index, or the keys of a slice."""
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if at < 0:
            at += len(self)
        if not 0 <= at < len(self):
            raise IndexError(at)
        return bytes(self._data[self._ends[at - 1] if at else 0 : self._ends[at]])

    def __iter__(self) -> Iterator[bytes]:
        begin, data = 0, self._data
        for end in self._ends:
            yield bytes(data[begin:end])
            begin = end

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'key')}>"
