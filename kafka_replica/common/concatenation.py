"""The concatenation of sequences as one sequence, without a copy."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain
from typing import TypeVar, overload

T = TypeVar("T")


class Concatenation(Sequence[T]):
    """A read-only concatenation of sequences; slices do not copy elements, either.

    Args:
        parts: the sequences, which must not change.
    """

    def __init__(self, parts: Sequence[Sequence[T]]) -> None:
        self._parts = parts
        self._ends = list(accumulate(map(len, parts)))
        self._indexes = range(self._ends[-1] if parts else 0)

    def __len__(self) -> int:
        return len(self._indexes)

    def __iter__(self) -> Iterator[T]:
        if len(self._indexes) == sum(map(len, self._parts)) and self._indexes.step == 1:
            return chain.from_iterable(self._parts)
        return map(self.__getitem__, range(len(self)))

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Concatenation[T]: ...
    def __getitem__(self, index: int | slice) -> T | Concatenation[T]:
        if isinstance(index, slice):
            part: Concatenation[T] = Concatenation.__new__(Concatenation)
            part._parts, part._ends, part._indexes = self._parts, self._ends, self._indexes[index]
            return part
        at = self._indexes[index]
        number = bisect_right(self._ends, at)
        part_of = self._parts[number]
        return part_of[at - self._ends[number] + len(part_of)]
