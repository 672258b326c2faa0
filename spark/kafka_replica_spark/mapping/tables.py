"""Look-up of a text in a table, as native expressions that plan and run fast."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

from kafka_replica_spark.literal_table import cell_of
from kafka_replica_spark.literals import found_in

SMALL: Final = 5_000
"""A table with up to this number of entries is never worth a join."""
_ENTRY, _BETWEEN = "\x04", "\x05"
_END: Final = 2**30


def look_up(text: Column, table: Mapping[str, str], *, in_map: bool) -> Column:
    """Return the value of a text in the table; NULL if there is none. Entries must not contain characters 4 and 5.

    Args:
        text: the text.
        table: the table, with at least one entry.
        in_map: whether the table is a map, which Spark searches by hash since 4.3; otherwise it is in cells, which is
            slow.
    """
    if len(table) == 1:
        key, value = next(iter(table.items()))
        return F.when(text == F.lit(key), F.lit(value))
    return found_in(text, list(table), list(table.values()), _BETWEEN) if in_map else _in_cells(text, table)


def _in_cells(text: Column, table: Mapping[str, str]) -> Column:
    entries = ((key.encode(), f"{key}{_BETWEEN}{value}".encode()) for key, value in table.items())
    cell = cell_of(text.cast("binary"), entries, _ENTRY.encode()).cast("string")
    key = F.concat(F.lit(_ENTRY), text, F.lit(_BETWEEN))
    # Without a condition, so that each part is computed once.
    at = F.nullif(F.instr(cell, key), F.lit(0))
    return F.substring_index(F.substring(cell, at + F.char_length(key), F.lit(_END)), _ENTRY, 1)
