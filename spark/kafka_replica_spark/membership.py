"""Whether a text is in a set, as a native expression that plans and runs fast.

A list of 20,000 codes as ``isin`` costs ten seconds before the query starts, for each value becomes a node of the plan.
Here a larger set is one literal: a table in cells, or a map, which is found faster and costs more to send.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import reduce
from operator import or_
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

from kafka_replica_spark.cells import Bytes, cell_of
from kafka_replica_spark.literals import SHORT, is_missing_from

_FEW: Final = 16
_LONG: Final = 48
"""Bytes of a value above which it goes into a table of its own, for the longest decides how long all cells are."""
_BYTE: Final = b"\xff"
"""Before and after each value; UTF-8 has no such byte."""
_BETWEEN: Final = "\x05"


def is_in(text: Column, values: Iterable[str], *, in_map: bool = False, put: Bytes = F.lit) -> Column:
    """Whether a text is one of the values, exactly; NULL where the text is.

    Args:
        text: the text.
        values: the values.
        in_map: whether to look it up in a map, where no value has the character 5 in it.
        put: puts a table into the plan.
    """
    every = sorted(set(values))
    if in_map and fits_a_map(every):
        return F.when(text.isNotNull(), ~is_missed(text, every))
    if len(every) <= _FEW:
        return text.isin(every) if every else F.when(text.isNotNull(), F.lit(False))
    codes = [value.encode() for value in every]
    parts = [[one for one in codes if len(one) <= _LONG], [one for one in codes if len(one) > _LONG]]
    return reduce(or_, (_in_cells(text.cast("binary"), part, put) for part in parts if part))


def fits_a_map(values: Collection[str]) -> bool:
    """Whether values can be looked up in a map, and are enough to be found faster there than one after the other."""
    return len(values) > SHORT and not any(_BETWEEN in value for value in values)


def is_missed(text: Column, values: Iterable[str]) -> Column:
    """Whether a map does not have a text; also true for NULL, so that nothing else is to be asked."""
    return is_missing_from(text, sorted(values), _BETWEEN)


def _in_cells(value: Column, values: Sequence[bytes], put: Bytes) -> Column:
    cell = cell_of(value, ((one, one) for one in values), _BYTE, put)
    return F.contains(cell, F.concat(F.lit(_BYTE), value, F.lit(_BYTE)))
