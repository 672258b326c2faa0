"""Sequences one after the other, as one sequence, without a copy."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import TypeVar, overload

T = TypeVar("T")


class Chained(Sequence[T]):
    """Sequences that follow each other.

    Args:
        parts: the sequences.
    """

    def __init__(self, parts: Sequence[Sequence[T]]) -> None:
        self._parts = parts
        self._ends = list(accumulate(map(len, parts)))
        self._places = range(self._ends[-1] if parts else 0)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, place: int) -> T: ...
    @overload
    def __getitem__(self, place: slice) -> Chained[T]: ...
    def __getitem__(self, place: int | slice) -> T | Chained[T]:
        if isinstance(place, slice):
            part: Chained[T] = Chained.__new__(Chained)
            part._parts, part._ends, part._places = self._parts, self._ends, self._places[place]
            return part
        at = self._places[place]
        number = bisect_right(self._ends, at)
        part_of = self._parts[number]
        return part_of[at - self._ends[number] + len(part_of)]
