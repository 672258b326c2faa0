"""Put tables of texts into a plan as a single literal of bytes.

A map literal is searched by hash, but each entry consists of two objects, which burden the plan, the driver and each
task: 500,000 entries cost seconds per query. Here, a table is one sequence of bytes: cells of equal length, each with
the entries whose keys have the same remainder of CRC-32, which is the same in Python and Spark. A cell is extracted
without reading the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final, TypeAlias
from zlib import crc32

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the usual name

from kafka_replica_spark.connect import is_connect

Bytes: TypeAlias = Callable[[bytes], Column]
"""A function that puts bytes into a plan."""

_IN_A_CELL: Final = 8
"""The average number of entries in a cell: fewer entries make the literal longer, more entries the search."""
_MOST_WRITTEN: Final = 100_000
"""The maximum size of a literal in bytes, because Spark writes the text of a plan in hexadecimal several times."""


def bytes_for(df: DataFrame) -> Bytes:
    """Return a function that puts bytes into plans; long bytes are the result of a subquery, which is not written out.

    Streaming frames and Spark Connect do not support this, so all bytes are literals there.
    """
    if df.isStreaming or is_connect(df):
        return F.lit

    def put(data: bytes) -> Column:
        if len(data) <= _MOST_WRITTEN:
            return F.lit(data)
        return df.sparkSession.createDataFrame(pa.table({"table": pa.array([data], pa.binary())})).scalar()

    return put


def cell_of(key: Column, entries: Iterable[tuple[bytes, bytes]], separator: bytes, put: Bytes = F.lit) -> Column:
    """Return the cell that contains the entry of a key, if there is an entry; NULL for NULL.

    Args:
        key: the key, as bytes.
        entries: the key and the bytes of each entry; at least one entry.
        separator: the bytes before and after each entry.
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
