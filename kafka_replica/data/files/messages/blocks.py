"""Blocks of rows, in which a value that all rows share is stored once; and their columns and rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from kafka_replica.data.files.messages.uniform_values import uniform_values

TEXTS: Final = frozenset({str, NoneType})
Columns: TypeAlias = dict[str, list[Any]]


_LONG: Final = 4096
"""Sequences with at least this number of values are stored separately, without copying them."""


class Block(NamedTuple):
    """Rows that share values, for example those of a series.

    Attributes:
        size: the number of rows.
        shared: the values that all rows have in common, by component.
        varying: the values of the other components, one per row.
        lines: the line of each row; None if all rows have the same line, or none.
        paths: the location of each row within a message of SDMX-JSON, as a JSON Pointer (RFC 6901).
        texts: the names of ``varying`` whose values are known to be texts or None, so that they are not examined again.
    """

    size: int
    shared: Mapping[str, Any]
    varying: Mapping[str, Sequence[Any]]
    lines: Sequence[int] | None = None
    paths: Sequence[str] | None = None
    texts: Collection[str] = ()


def lines_of(line: int | None, block: Block) -> Sequence[int | None]:
    """Return the line of each row of a block; ``line`` applies if the block has no lines of its own."""
    return [line] * block.size if block.lines is None else block.lines


def columns_of(blocks: Iterable[Block]) -> Columns:
    """Return the columns of all blocks, of equal lengths; None where a block lacks a column.

    All values of a column have the same form; see :mod:`~kafka_replica.data.files.messages.uniform_values`.
    """
    parts: dict[str, _ColumnBuilder] = {}
    other_forms: set[str] = set()
    total = 0
    for block in blocks:
        size = block.size
        for name, value in block.shared.items():
            _of(parts, name).add(total, [value] * size)
            if type(value) not in TEXTS:
                other_forms.add(name)
        for name, values in block.varying.items():
            _of(parts, name).add(total, values)
            if name not in block.texts and not TEXTS.issuperset(map(type, values)):
                other_forms.add(name)
        total += size
    columns = {name: parts.pop(name).joined(total) for name in list(parts)}
    return columns | {name: uniform_values(columns[name]) for name in other_forms}


class _ColumnBuilder:
    """Collects the parts of a column and joins them at the end: many lists that grow in turn are copied repeatedly."""

    __slots__ = ("_end", "_growing", "_parts")

    def __init__(self) -> None:
        self._parts: list[tuple[int, Sequence[Any]]] = []  # the first row of each part, and its values
        self._growing: list[Any] = []  # the last part, unless it is a long one
        self._end = -1  # the row after it

    def add(self, start: int, values: Sequence[Any]) -> None:
        """Add values that begin at row ``start``; short sequences share a list, because each list needs memory."""
        size = len(values)
        if size >= _LONG:
            self._parts.append((start, values))
            return
        if start != self._end or len(self._growing) >= _LONG:
            self._growing = []
            self._parts.append((start, self._growing))
        self._growing.extend(values)
        self._end = start + size

    def joined(self, total: int) -> list[Any]:
        """Return the column with ``total`` rows; None in rows without a value."""
        column: list[Any] = []
        for start, values in self._parts:
            if start > len(column):
                column += [None] * (start - len(column))
            column += values
        column += [None] * (total - len(column))
        return column


def _of(parts: dict[str, _ColumnBuilder], name: str) -> _ColumnBuilder:
    found = parts.get(name)
    if found is None:
        found = parts[name] = _ColumnBuilder()
    return found


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """Return columns of equal lengths as rows."""
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
