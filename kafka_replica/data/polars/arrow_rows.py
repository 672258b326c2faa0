"""The rows of a file or stream of Arrow IPC."""

from __future__ import annotations

import io
from typing import Final

import polars as pl

from kafka_replica.common.wording import counted
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.content import largest
from kafka_replica.data.jobs.sources import ARROW_FILE, Source

_LEAST_BYTES: Final = 8
"""The memory that a cell takes at least."""


def _check_unpacked(data: bytes, path: str) -> None:
    """Check by its metadata that a file of Arrow IPC, which may be compressed, has not too many rows for its size.

    Raises:
        DatasetError: its numbers of rows and columns need more memory than :func:`largest` allows.
    """
    found = pl.scan_ipc(io.BytesIO(data))
    rows, columns = found.select(pl.len()).collect().item(), len(found.collect_schema())
    if rows * columns * _LEAST_BYTES > largest(len(data)):
        raise DatasetError(
            f"reading {path}: it unfolds to {rows:,} rows of {counted(columns, 'column')}, too many for a file of "
            f"{len(data):,} bytes; write it as Parquet, or in several files"
        )


def read_arrow(source: Source) -> pl.DataFrame:
    """Return the rows of a file or stream of Arrow IPC, which the first bytes distinguish."""
    data = source.read()
    read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    try:
        # A damaged file can make polars panic, which is no Exception.
        if data.startswith(ARROW_FILE):
            _check_unpacked(data, source.path)
        return read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it cannot be read as Arrow IPC: {error}") from error
