"""Tables of texts as one literal of bytes.

A map literal is found by hash, but each entry is two objects, which the plan, the driver and each task pay for: 500,000
entries cost seconds a query. Here a table is one run of bytes: cells of one length, in each of them the entries whose
keys have one remainder of CRC-32, which Python and Spark compute alike. A cell is cut out without a look at the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias
from zlib import crc32

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - everyone calls it so

from kafka_replica_spark.connect import is_connect

Bytes: TypeAlias = Callable[[bytes], Column]
"""Puts bytes into a plan."""

_IN_A_CELL: Final = 8
"""Entries in a cell: with fewer the literal gets longer, with more the search."""
_MOST_WRITTEN: Final = 100_000
"""Longer literals are kept out of the text of a plan, which Spark writes out several times a query, in hex."""


def bytes_for(df: DataFrame) -> Bytes:
    """How bytes are put into plans on a frame: long ones as the result of a query, which is not written out."""
    if df.isStreaming or is_connect(df):
        return F.lit

    def put(data: bytes) -> Column:
        if len(data) <= _MOST_WRITTEN:
            return F.lit(data)
        return df.sparkSession.createDataFrame(pa.table({"table": pa.array([data], pa.binary())})).scalar()

    return put


def cell_of(key: Column, entries: Iterable[tuple[bytes, bytes]], separator: bytes, put: Bytes = F.lit) -> Column:
    """The cell in which the entry of a key is, if there is one; NULL for NULL.

    Args:
        key: a key, as bytes.
        entries: keys, and what is to stand in the cell for each; at least one.
        separator: stands before and after each entry.
        put: puts the table into the plan.
    """
    every = list(entries)
    count = -(-len(every) // _IN_A_CELL)
    cells = [bytearray(separator) for _ in range(count)]
    for one, entry in every:
        cells[crc32(one) % count] += entry + separator
    size = max(map(len, cells))
    data = b"".join(cell.ljust(size, b"\0") for cell in cells)
    number = F.pmod(F.crc32(key), F.lit(count)).cast("int")
    return F.substring(put(data), number * size + 1, F.lit(size))
