"""Attributes of dimension groups: each belongs to all rows with a partial key.

Source: SDMX-JSON data message, field guide 2.1, ``dimensionGroupAttributes``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Any

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.json.component_values import ValueReader
from kafka_replica.data.files.messages.json.decoding import message_error
from kafka_replica.data.files.messages.json.keys import Paths, key_columns, member_path
from kafka_replica.data.files.messages.json.message_objects import Values
from kafka_replica.data.validation.actions import SWITCHED_OFF


@dataclass(slots=True)
class Group:
    """The attributes of one partial key.

    Attributes:
        key: the values of the dimensions to which the attributes are attached.
        attributes: the values that the group has.
        written: the key as written in the message.
        path: the location in the message.
        is_used: whether any row that has been read belongs to the group.
    """

    key: dict[str, Any]
    attributes: dict[str, Any]
    written: str
    path: str
    is_used: bool = False


class Groups:
    """The dimension groups of a data set.

    Args:
        found: the groups. Several may have the same key, if they do not contradict each other.
        attributes: the attributes, with their defaults.
        where: the file, for errors.

    Raises:
        DatasetError: groups with the same key contradict each other.
    """

    def __init__(self, found: Sequence[Group], attributes: Sequence[ValueReader], where: str) -> None:
        self._where = where
        self._defaults = {attribute.id: attribute.default for attribute in attributes if attribute.default is not None}
        self._tables: dict[tuple[str, ...], dict[tuple[Any, ...], Group]] = {}
        for group in found:
            table = self._tables.setdefault(tuple(group.key), {})
            first = table.setdefault(tuple(group.key.values()), group)
            if first is not group:
                self._add(first.attributes, group, first)

    @property
    def are_none(self) -> bool:
        """True if no row gets an attribute from a group, not even by default."""
        return not self._tables and not self._defaults

    @property
    def unused(self) -> list[Group]:
        """Return the groups that have attributes, but to which no row belongs."""
        groups = [group for table in self._tables.values() for group in table.values()]
        return [group for group in groups if group.attributes and not group.is_used]

    def shared(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """Return the attributes of a row, or of rows that share the dimensions of all groups.

        Raises:
            DatasetError: two groups give different values of one attribute.
        """
        found: dict[str, Any] = {}
        before: Group | None = None
        for names, table in self._tables.items():
            group = table.get(tuple([row.get(name) for name in names]))
            if group is not None:
                group.is_used = True
                self._add(found, group, before)
                before = group
        return self._defaults | found if self._defaults else found

    def columns(self, size: int, shared: Mapping[str, Any], varying: Mapping[str, Sequence[Any]]) -> dict[str, Any]:
        """Return the attributes as columns, for rows that differ in the dimensions of groups.

        Args:
            size: the number of rows.
            shared: the values that all rows share.
            varying: the columns of dimensions that differ.

        Raises:
            DatasetError: see :meth:`shared`.
        """
        names = list(dict.fromkeys(name for names in self._tables for name in names))
        values = [varying[name] if name in varying else repeat(shared.get(name), size) for name in names]
        kept: dict[tuple[Any, ...], dict[str, Any]] = {}
        rows: list[dict[str, Any]] = []
        for key in zip(*values, strict=True):
            found = kept.get(key)
            if found is None:
                found = kept[key] = self.shared(dict(zip(names, key, strict=True)))
            rows.append(found)
        ids = dict.fromkeys(name for found in kept.values() for name in found)
        return {name: [row.get(name) for row in rows] for name in ids}

    def vary_with(self, varying: Mapping[str, Sequence[Any]]) -> bool:
        """Return whether any group depends on a dimension that varies."""
        return any(name in varying for names in self._tables for name in names)

    def _add(self, found: dict[str, Any], group: Group, before: Group | None) -> None:
        for name, value in group.attributes.items():
            if found.setdefault(name, value) != value:
                other = "another group" if before is None else before.path
                raise message_error(
                    self._where, f"{group.path}: {name} is {value!r}, and {other} gives {found[name]!r} for the same "
                    "observations"
                )  # fmt: skip


def groups_of(
    given: Mapping[str, Values], orders: Sequence[Sequence[ValueReader]], attributes: Sequence[ValueReader],
    path: str, where: str,
) -> list[Group]:  # fmt: skip
    """Return the dimension groups of a data set.

    Args:
        given: the arrays of attribute values, by partial key.
        orders: all dimensions, in each order that partial keys may have; the first order that fits all keys is used.
        attributes: the attributes at the level of groups.
        path: the location of the groups.
        where: the file, for errors.

    Raises:
        DatasetError: a key or an attribute is wrong.
    """
    keys = _partial_keys(list(given), orders, path, where) if given else []
    found = []
    for (key, values), partial in zip(given.items(), keys, strict=True):
        location = member_path(path, key)
        named = attributes_of(attributes, values, location, where)
        found.append(Group(partial, {name: value for name, value in named.items() if value is not None}, key, location))
    return found


def _partial_keys(
    keys: Sequence[str], orders: Sequence[Sequence[ValueReader]], path: str, where: str
) -> list[dict[str, Any]]:
    """Return the dimensions of each partial key, without those that are empty or switched off (``~``)."""
    parts = len(orders[0])
    # Some services leave out the last positions, for example that of the time dimension.
    whole = [key + ":" * (parts - 1 - key.count(":")) for key in keys]
    error: DatasetError | None = None
    for dimensions in orders:
        try:
            columns = key_columns(dimensions, whole, Paths(path, keys), where)
        except DatasetError as wrong:
            error = error or wrong
            continue
        rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)] or [{}] * len(keys)
        return [{name: value for name, value in row.items() if value not in {None, SWITCHED_OFF}} for row in rows]
    raise error or message_error(where, f"{path}: there are no dimensions")


def attributes_of(attributes: Sequence[ValueReader], values: Values, path: str, where: str) -> dict[str, Any]:
    """Return the attributes of a data set, series or group, without defaults; None where there is no value.

    Raises:
        DatasetError: an index or value is wrong, or there are more values than attributes and annotations.
    """
    given = values or ()
    for index, one in enumerate(given[len(attributes) :], len(attributes)):
        check_annotation(one, f"{path}[{index}]", where)
    return {
        attribute.id: attribute.value(one, f"{path}[{index}]")
        for index, (attribute, one) in enumerate(zip(attributes, given, strict=False))
    }


def check_annotation(value: Any, path: str, where: str) -> None:
    """Check that a value after those of all components can be the index of an annotation. Raises DatasetError."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
        raise message_error(
            where, f"{path}: there is no component at this position, and the value is not the index of an annotation"
        )
