"""Read the rows of a file or stream of Arrow IPC."""

from __future__ import annotations

import io

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.arrow_limit import ARROW_FILE, check_expanded_bytes
from kafka_replica.data.jobs.sources import Source


def read_arrow(source: Source) -> pl.DataFrame:
    """Return the rows of a file or stream of Arrow IPC; the first bytes distinguish the two.

    Raises:
        DatasetError: the data cannot be read as Arrow IPC, or expands to far more than its size.
    """
    data = source.read()
    read = pl.read_ipc if data.startswith(ARROW_FILE) else pl.read_ipc_stream
    try:
        # A damaged file can make polars panic; PanicException does not derive from Exception.
        check_expanded_bytes(data, source.path)
        return read(io.BytesIO(data))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError, TypeError, ValueError) as error:
        raise DatasetError(f"reading {source.path}: it cannot be read as Arrow IPC: {error}") from error
