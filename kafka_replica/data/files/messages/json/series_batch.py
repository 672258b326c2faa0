"""Consecutive series whose observations become columns together: a column for each series takes longer to make."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
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
        observation_keys: the key of each observation within its series.
        values: the values of each observation.
    """

    def __init__(self, path: str, at: str) -> None:
        self.keys: list[str] = []
        self.attributes: list[dict[str, Any]] = []
        self._path, self._at = path, at
        self._counts: list[int] = []
        self.observation_keys: list[str] = []
        self.values: list[Values] = []

    def add(self, key: str, attributes: dict[str, Any], observations: Mapping[str, Values]) -> None:
        """Add a series, whose observations are not empty."""
        self.keys.append(key)
        self.attributes.append(attributes)
        self._counts.append(len(observations))
        self.observation_keys += observations
        self.values += observations.values()

    @property
    def size(self) -> int:
        """The number of observations."""
        return len(self.values)

    def repeated(self, values: Sequence[Any]) -> list[Any]:
        """Return a value of each series once for each of its observations."""
        return [*chain.from_iterable(map(repeat, values, self._counts))]

    def paths(self) -> BatchPaths:
        """Return the locations of the observations in errors."""
        path = f"{self._path}.series"

        def located(key: str, observation: str) -> str:
            return member(f"{member(path, key)}.observations", observation)

        return BatchPaths(self.keys, self._counts, self.observation_keys, located)

    def pointers(self) -> BatchPaths:
        """Return the locations of the observations as JSON Pointers."""
        at = self._at

        def located(key: str, observation: str) -> str:
            return pointer(at, "series", key, "observations", observation)

        return BatchPaths(self.keys, self._counts, self.observation_keys, located)


class BatchPaths(Sequence[str]):
    """The locations of the observations of several series, written only when needed.

    They are kept as long as the rows, so they refer to keys only, and not to the values.

    Args:
        keys: the key of each series.
        counts: the number of observations of each series.
        observation_keys: the key of each observation.
        write: returns the location for the two keys.
    """

    def __init__(
        self,
        keys: Sequence[str],
        counts: Sequence[int],
        observation_keys: Sequence[str],
        write: Callable[[str, str], str],
    ) -> None:
        self._keys, self._observation_keys, self._write = keys, observation_keys, write
        self._ends = [*accumulate(counts)]

    def __len__(self) -> int:
        return len(self._observation_keys)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        observation = self._observation_keys[place]
        return self._write(self._keys[bisect_right(self._ends, place % len(self))], observation)
