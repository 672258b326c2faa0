"""Blocks of rows, in which a value that all rows share is stored once; and their columns and rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from types import NoneType
from typing import Any, Final, NamedTuple, TypeAlias

from kafka_replica.data.files.messages.aligned import aligned

TEXTS: Final = frozenset({str, NoneType})
Columns: TypeAlias = dict[str, list[Any]]


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

    All values of a column have the same form; see :func:`~kafka_replica.data.files.messages.aligned.aligned`.
    """
    columns: Columns = {}
    other_forms: set[str] = set()
    total = 0
    for block in blocks:
        size, shared, varying = block.size, block.shared, block.varying
        for name, value in shared.items():
            _filled(columns, name, total).extend(repeat(value, size))
            if type(value) not in TEXTS:
                other_forms.add(name)
        for name, values in varying.items():
            _filled(columns, name, total).extend(values)
            if name not in block.texts and not TEXTS.issuperset(map(type, values)):
                other_forms.add(name)
        total += size
    for name in columns:
        _filled(columns, name, total)
    return columns | {name: aligned(columns[name]) for name in other_forms}


def _filled(columns: Columns, name: str, total: int) -> list[Any]:
    """Return a column of at least ``total`` values, after adding None for each earlier row that lacks it."""
    column = columns.get(name)
    if column is None:
        column = columns[name] = [None] * total
    elif len(column) < total:
        column.extend(repeat(None, total - len(column)))
    return column


def rows_of(columns: Columns) -> list[dict[str, Any]]:
    """Return columns of equal lengths as rows."""
    names = list(columns)
    return [dict(zip(names, row, strict=True)) for row in zip(*columns.values(), strict=True)]
