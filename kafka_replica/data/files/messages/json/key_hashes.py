"""Find keys that occur in several parts of an object, with 8 bytes of memory for each key."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Collection
from itertools import pairwise
from typing import Final

_BITS: Final = 8
_WIDTH: Final = 64 - _BITS
_BOUNDS: Final = [(number - (1 << _BITS - 1)) << _WIDTH for number in range(1, 1 << _BITS)]
"""The lowest hash of each group, except the first group."""


class KeyHashes:
    """The hashes of the keys of an object, in groups that are small enough to be compared one after the other."""

    def __init__(self) -> None:
        self._first: Collection[str] | None = None
        self._groups: list[array[int]] = []

    def add(self, keys: Collection[str]) -> None:
        """Add the keys of a part, all different."""
        if self._first is None:
            self._first = keys  # most objects have only one part
            return
        if not self._groups:
            self._groups = [array("q") for _ in range(1 << _BITS)]
            self._store(self._first)
        self._store(keys)

    def _store(self, keys: Collection[str]) -> None:
        hashes = sorted(map(hash, keys))
        ends = [0, *(bisect_left(hashes, bound) for bound in _BOUNDS), len(hashes)]
        for group, (start, end) in zip(self._groups, pairwise(ends), strict=True):
            group.extend(hashes[start:end])

    def repeated(self) -> frozenset[int]:
        """Return the hashes that occur in several parts; different keys may have the same hash."""
        found: set[int] = set()
        for group in self._groups:
            if len(set(group)) < len(group):
                found |= {one for one, after in pairwise(sorted(group)) if one == after}
        return frozenset(found)
