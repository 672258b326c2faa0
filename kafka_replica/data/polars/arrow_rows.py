"""Read the rows of a file or stream of Arrow IPC."""

from __future__ import annotations

import io
from typing import Final

import polars as pl

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import largest
from kafka_replica.data.jobs.sources import ARROW_FILE, Source

_LEAST_BYTES: Final = 8
"""The assumed minimum of memory for a cell."""


def _check_unpacked(data: bytes, path: str) -> None:
    """Check that a file of Arrow IPC, which may be compressed, does not have far too many cells for its size.

    Only the metadata of the file is read.

    Raises:
        DatasetError: at 8 bytes a cell, the rows need more memory than :func:`largest` allows.
    """
    found = pl.scan_ipc(io.BytesIO(data))
    rows, columns = found.select(pl.len()).collect().item(), len(found.collect_schema())
    if rows * columns * _LEAST_BYTES > largest(len(data)):
        raise DatasetError(
            f"reading {path}: it unfolds to {rows:,} rows of {counted(columns, 'column')}, too many for a file of "
            f"{len(data):,} bytes; write it as Parquet, or in several files"
        )


def read_arrow(source: Source) -> pl.DataFrame:
    """Return the rows of a file or stream of Arrow IPC; the first bytes distinguish the two.

    Raises:
        DatasetError: the data cannot be read as Arrow IPC, or a file has far too many cells for its size.
    """
    data = source.read()
    read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    try:
        # A damaged file can make polars panic; PanicException does not derive from Exception.
        if data.startswith(ARROW_FILE):
            _check_unpacked(data, source.path)
        return read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it cannot be read as Arrow IPC: {error}") from error
