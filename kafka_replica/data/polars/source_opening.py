"""Open a source according to its format: messages, Parquet, Arrow, workbooks and CSV files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import polars as pl

from kafka_replica.data.jobs.job import Job, error_column_of
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.arrow_rows import open_arrow
from kafka_replica.data.polars.background_threads import read_ahead
from kafka_replica.data.polars.datasets.reading import (
    CsvTable,
    open_plain_csv,
    open_sdmx_csv,
)
from kafka_replica.data.polars.message_rows import open_message
from kafka_replica.data.polars.original_layout import FileLayout, layout_of_csv
from kafka_replica.data.polars.parquet_rows import open_parquet
from kafka_replica.data.polars.source_rows import BatchSize, SourceBatch, SourceRows
from kafka_replica.data.polars.workbook_rows import open_workbook
from kafka_replica.errors import ConfigurationError


def open_source(
    source: Source, job: Job, folder: Path, batch: BatchSize, report_rows: Callable[[int], None],
    note: Callable[[str], object],
) -> SourceRows:  # fmt: skip
    """Return the rows of a source.

    Args:
        source: the source.
        job: the job.
        folder: an existing folder for temporary files.
        batch: the size of batches.
        report_rows: is called from time to time with the number of rows read from a message.
        note: is called with each remark in a message.

    Raises:
        DatasetError: the source cannot be read.
        ConfigurationError: the path is a URL, which only the Spark engine can read.
    """
    if "://" in source.path:
        raise ConfigurationError(
            f"reading {source.path}: only Spark can read it; use the engine spark (--engine spark)"
        )
    if source.kind == "message":
        return open_message(source, job, folder, batch, report_rows, note)
    if source.kind == "parquet":
        return open_parquet(source, error_column_of(source, job.rules), folder, batch)
    if source.kind == "arrow":
        return open_arrow(source, error_column_of(source, job.rules), folder, batch)
    if source.kind == "xlsx":
        return open_workbook(source, job, folder, batch)
    open_ = open_sdmx_csv if source.kind == "sdmx-csv" else open_plain_csv
    return CsvSourceRows(
        open_(
            Path(source.path), rules=job.rules, decimal=job.decimal, encoding=job.encoding, content=source.content,
            size=batch.bytes, folder=folder,
        )
    )  # fmt: skip


class CsvSourceRows:
    """The rows of a CSV file; see :class:`SourceRows`."""

    def __init__(self, table: CsvTable) -> None:
        """Wrap an opened CSV file."""
        self._table = table

    @property
    def written(self) -> FileLayout | None:
        """Return the layout of the file."""
        return layout_of_csv(self._table)

    @property
    def empty_frame(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""
        return self._table.empty_rows.values

    def batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        """Return the rows in batches, each with the number of bytes read so far of the ``size`` bytes of the source."""
        return read_ahead(self._source_batches(size))

    def _source_batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        for rows in self._table.batches():
            yield SourceBatch(rows.values, {"line": rows.lines}, rows, cells=rows.cells), min(size, self._table.done)
