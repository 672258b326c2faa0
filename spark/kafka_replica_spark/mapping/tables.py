"""Look up texts in tables with Spark's own expressions, which are fast to plan and to run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from kafka_replica_spark.literal_table import cell_of
from kafka_replica_spark.literals import found_in

SMALL: Final = 5_000
"""The number of entries up to which a join is never worthwhile."""
_ENTRY, _BETWEEN = "\x04", "\x05"
_END: Final = 2**30


def look_up(text: Column, table: Mapping[str, str], *, in_map: bool) -> Column:
    """Return the value of a text in a table; NULL if the text is not in the table.

    Args:
        text: the text.
        table: the table, with at least one entry. Its texts must not contain the characters U+0004 and U+0005.
        in_map: whether to use a map, which Spark searches by hash since version 4.3, and not cells, which are slower.
    """
    if len(table) == 1:
        key, value = next(iter(table.items()))
        return F.when(text == F.lit(key), F.lit(value))
    return found_in(text, list(table), list(table.values()), _BETWEEN) if in_map else _in_cells(text, table)


def _in_cells(text: Column, table: Mapping[str, str]) -> Column:
    entries = ((key.encode(), f"{key}{_BETWEEN}{value}".encode()) for key, value in table.items())
    cell = cell_of(text.cast("binary"), entries, _ENTRY.encode()).cast("string")
    key = F.concat(F.lit(_ENTRY), text, F.lit(_BETWEEN))
    # There is no condition, so that each part is computed only once.
    at = F.nullif(F.instr(cell, key), F.lit(0))
    return F.substring_index(F.substring(cell, at + F.char_length(key), F.lit(_END)), _ENTRY, 1)
