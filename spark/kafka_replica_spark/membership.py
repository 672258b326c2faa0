"""Test whether a text is in a set with Spark's own expressions, which are fast to plan and to run.

A list of 20,000 codes in ``isin`` delays the query by ten seconds, because each value becomes a node of the plan.
Here, a larger set is a single literal: a table in cells, or a map, which is faster to search but costs more to send.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from kafka_replica_spark.literal_table import Bytes, cell_of
from kafka_replica_spark.literals import SHORT, is_missing_from

_FEW: Final = 16
_LONG: Final = 48
"""The size in bytes above which values are in a separate table, because the longest cell determines that of all."""
_BYTE: Final = b"\xff"
"""The byte before and after each value, which does not occur in UTF-8."""
_BETWEEN: Final = "\x05"


def is_in(text: Column, values: Iterable[str], *, in_map: bool = False, put: Bytes = F.lit) -> Column:
    """Return whether a text exactly equals one of the values; NULL if the text is NULL.

    Args:
        text: the text.
        values: the values.
        in_map: whether to look the text up in a map, which is only possible if no value contains U+0005.
        put: puts a table into the plan.
    """
    every = sorted(set(values))
    if in_map and fits_a_map(every):
        return F.when(text.isNotNull(), ~is_missed(text, every))
    if len(every) <= _FEW:
        return text.isin(every) if every else F.when(text.isNotNull(), F.lit(False))
    codes = [value.encode() for value in every]
    parts = [[code for code in codes if len(code) <= _LONG], [code for code in codes if len(code) > _LONG]]
    return reduce(or_, (_in_cells(text.cast("binary"), part, put) for part in parts if part))


def fits_a_map(values: Collection[str]) -> bool:
    """Return whether values can be in a map, and a map is faster for them than a sequential search."""
    return len(values) > SHORT and not any(_BETWEEN in value for value in values)


def is_missed(text: Column, values: Iterable[str]) -> Column:
    """Return whether a text is not one of the values, by a map; also true for NULL, which saves another condition."""
    return is_missing_from(text, sorted(values), _BETWEEN)


def _in_cells(value: Column, values: Sequence[bytes], put: Bytes) -> Column:
    cell = cell_of(value, ((each, each) for each in values), _BYTE, put)
    return F.contains(cell, F.concat(F.lit(_BYTE), value, F.lit(_BYTE)))
