"""Attributes of groups in SDMX-ML and SDMX-EDI, which apply to all rows whose dimensions have the values of their key.

Source: SDMX 2.1, Section 3A, "Group"; SDMX-ML 3.1, ``Group`` and ``Atts`` of a data set.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from kafka_replica.data.errors import DatasetError

Row: TypeAlias = dict[str, Any]

_MOST_SHAPES: Final = 500
"""The maximum number of combinations of component names; each combination needs its own index."""


class Group(NamedTuple):
    """A group.

    Attributes:
        line: the line of its element.
        key: the values of its dimensions; None if the message does not distinguish them from its attributes.
        values: its attributes; without a key, also its dimensions.
    """

    line: int
    key: Row | None
    values: Row


class _Match(NamedTuple):
    attributes: Row
    numbers: list[int]


_Index: TypeAlias = list[tuple[tuple[str, ...], dict[tuple[Any, ...], _Match]]]


class Groups:
    """The groups of a data set.

    Structure-specific messages write dimensions and attributes of a group in the same way. If the structure is unknown,
    the names of a group that are also in the key of a row are treated as its dimensions.

    Args:
        dimensions: the dimensions of the structure; None if it is unknown.
    """

    def __init__(self, dimensions: frozenset[str] | None) -> None:
        self._dimensions = dimensions
        self._groups: list[Group] = []
        self._is_used = bytearray()
        self._indexes: dict[frozenset[str], _Index] = {}
        self.names: set[str] = set()
        """The names that can be in the key of a group."""

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, line: int, key: Row | None, values: Row) -> None:
        """Add a group: see :class:`Group`."""
        if key is None and self._dimensions is not None:
            key = {name: value for name, value in values.items() if name in self._dimensions}
            values = {name: value for name, value in values.items() if name not in self._dimensions}
        self._groups.append(Group(line, key, values))
        self._is_used.append(0)
        self.names.update(values if key is None else key)
        self._indexes.clear()

    def attributes_of(self, key: Mapping[str, Any]) -> Row:
        """Return the attributes of the groups that a row belongs to; the group with the longer key wins.

        Args:
            key: the dimensions of the row; it may also have attributes.

        Raises:
            DatasetError: the structure is unknown, and the keys of groups cannot be determined.
        """
        found: Row = {}
        for names, table in self._index(frozenset(self.names.intersection(key))):
            match = table.get(tuple([key[name] for name in names]))
            if match is not None:
                found.update(match.attributes)
                for number in match.numbers:
                    self._is_used[number] = 1
        return found

    def unused(self) -> Iterator[Group]:
        """Yield the groups that no row belonged to."""
        for group, is_used in zip(self._groups, self._is_used, strict=True):
            if not is_used:
                yield group

    def _index(self, present: frozenset[str]) -> _Index:
        index = self._indexes.get(present)
        if index is None:
            if len(self._indexes) >= _MOST_SHAPES:
                raise DatasetError(
                    f"finding groups of rows: there are more than {_MOST_SHAPES} combinations of components in keys; "
                    "give the rules of the structure"
                )
            index = self._indexes[present] = self._indexed(present)
        return index

    def _indexed(self, present: frozenset[str]) -> _Index:
        tables: dict[tuple[str, ...], dict[tuple[Any, ...], _Match]] = {}
        for number, group in enumerate(self._groups):
            key, values = _key_and_values(group, present)
            if key.keys() <= present and _is_hashable(key.values()):
                names = tuple(sorted(key))
                match = tables.setdefault(names, {}).setdefault(tuple([key[name] for name in names]), _Match({}, []))
                match.attributes.update(values)
                match.numbers.append(number)
        if len(tables) > _MOST_SHAPES:
            raise DatasetError(
                f"reading groups: they have more than {_MOST_SHAPES} different combinations of dimensions"
            )
        return sorted(tables.items(), key=lambda one: len(one[0]))


def _key_and_values(group: Group, present: frozenset[str]) -> tuple[Row, Row]:
    if group.key is not None:
        return group.key, group.values
    key = {name: value for name, value in group.values.items() if name in present}
    return key, {name: value for name, value in group.values.items() if name not in present}


def _is_hashable(values: Collection[Any]) -> bool:
    """Return whether all values are texts, as those of dimensions are, and not lists or texts by language."""
    return all(isinstance(value, str) for value in values)
