"""Consecutive series whose observations become columns together: a column for each series takes longer to make."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, repeat
from typing import Any, overload

from kafka_replica.data.files.messages.json.keys import member, pointer
from kafka_replica.data.files.messages.json.wire import Values


class SeriesBatch:
    """Series with observations.

    Args:
        path: the location of the data set in errors.
        at: its location as a JSON Pointer.

    Attributes:
        keys: the key of each series.
        attributes: the attributes of each series, all with the same names.
        size: the number of observations.
    """

    def __init__(self, path: str, at: str) -> None:
        self.keys: list[str] = []
        self.attributes: list[dict[str, Any]] = []
        self.size = 0
        self._path, self._at = path, at
        self._observations: list[Mapping[str, Values]] = []

    def add(self, key: str, attributes: dict[str, Any], observations: Mapping[str, Values]) -> None:
        """Add a series, whose observations are not empty."""
        self.keys.append(key)
        self.attributes.append(attributes)
        self._observations.append(observations)
        self.size += len(observations)

    @property
    def observation_keys(self) -> list[str]:
        """Return the keys of all observations."""
        return [*chain.from_iterable(self._observations)]

    @property
    def values(self) -> list[Values]:
        """Return the values of all observations."""
        return [*chain.from_iterable(one.values() for one in self._observations)]

    def repeated(self, values: Sequence[Any]) -> list[Any]:
        """Return a value of each series once for each of its observations."""
        return [*chain.from_iterable(map(repeat, values, map(len, self._observations)))]

    def paths(self) -> BatchPaths:
        """Return the locations of the observations in errors."""

        def located(key: str, observation: str) -> str:
            return member(f"{member(f'{self._path}.series', key)}.observations", observation)

        return BatchPaths(self.keys, self._observations, located)

    def pointers(self) -> BatchPaths:
        """Return the locations of the observations as JSON Pointers."""
        return BatchPaths(
            self.keys,
            self._observations,
            lambda key, observation: pointer(self._at, "series", key, "observations", observation),
        )


class BatchPaths(Sequence[str]):
    """The locations of the observations of several series, written only when needed."""

    def __init__(
        self, keys: Sequence[str], observations: Sequence[Mapping[str, Values]], write: Callable[[str, str], str]
    ) -> None:
        self._keys, self._observations, self._write = keys, observations, write
        self._ends = [*accumulate(map(len, observations))]

    @cached_property
    def _observation_keys(self) -> list[list[str]]:
        return [[*each] for each in self._observations]

    def __iter__(self) -> Iterator[str]:
        return (
            self._write(key, each) for key, found in zip(self._keys, self._observations, strict=True) for each in found
        )

    def __len__(self) -> int:
        return self._ends[-1]

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        place %= len(self)
        series = bisect_right(self._ends, place)
        before = self._ends[series - 1] if series else 0
        return self._write(self._keys[series], self._observation_keys[series][place - before])
