"""Consecutive series whose observations share columns, because building columns for each series is slower."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import chain, repeat
from typing import Any

from kafka_replica.common.concatenation import Concatenation
from kafka_replica.data.files.messages.json.component_values import ValueReader
from kafka_replica.data.files.messages.json.keys import Paths, json_pointer, key_columns, member_path
from kafka_replica.data.files.messages.json.message_objects import Values


class SeriesBatch:
    """Series with observations.

    Args:
        path: the location of the data set in errors.
        at: its location as a JSON Pointer.

    Attributes:
        keys: the key of each series.
        attributes: the attributes of each series, all with the same names.
        values: the values of each observation.
    """

    def __init__(self, path: str, at: str) -> None:
        self.keys: list[str] = []
        self.attributes: list[dict[str, Any]] = []
        self._path, self._at = path, at
        self._observations: list[list[str]] = []  # the keys of each series
        self.values: list[Values] = []

    def add(self, key: str, attributes: dict[str, Any], observations: Mapping[str, Values]) -> None:
        """Add a series, whose observations are not empty."""
        self.keys.append(key)
        self.attributes.append(attributes)
        self._observations.append([*observations])
        self.values += observations.values()

    def observation_columns(
        self, dimensions: Sequence[ValueReader], paths: Sequence[str], where: str
    ) -> dict[str, Sequence[Any]]:
        """Return the values of the dimensions of observations; the arguments are those of ``key_columns``."""
        first = self._observations[0]
        # The series of a message often have the same periods.
        if all(keys == first for keys in self._observations):
            columns = key_columns(dimensions, first, paths, where)
            return {name: [*column] * len(self.keys) for name, column in columns.items()}
        return key_columns(dimensions, [*chain.from_iterable(self._observations)], paths, where)

    @property
    def size(self) -> int:
        """The number of observations."""
        return len(self.values)

    def repeated(self, values: Sequence[Any]) -> list[Any]:
        """Return a value of each series once for each of its observations."""
        first = values[0]
        if all(value is first for value in values):
            return [first] * self.size
        return [*chain.from_iterable(map(repeat, values, map(len, self._observations)))]

    def paths(self) -> Sequence[str]:
        """Return the locations of the observations in errors."""
        series = (member_path(f"{self._path}.series", key) for key in self.keys)
        return self._located([f"{each}.observations" for each in series], member_path)

    def pointers(self) -> Sequence[str]:
        """Return the locations of the observations as JSON Pointers."""
        return self._located([json_pointer(self._at, "series", key, "observations") for key in self.keys], json_pointer)

    def _located(self, prefixes: Sequence[str], write: Callable[[str, str], str]) -> Sequence[str]:
        # Callers may keep locations longer than rows, so locations must not refer to the values.
        return Concatenation(
            [Paths(prefix, keys, write) for prefix, keys in zip(prefixes, self._observations, strict=True)]
        )
