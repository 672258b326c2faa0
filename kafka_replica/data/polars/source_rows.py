"""The protocol of a source's rows, which are read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Protocol

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.polars.datasets.csv_chunks import CHUNK_BYTES
from kafka_replica.data.polars.datasets.reading import CsvRows
from kafka_replica.data.polars.original_layout import FileLayout, layout_of_frame


@dataclass(frozen=True, slots=True)
class BatchSize:
    """The size of batches.

    Attributes:
        bytes: the approximate number of bytes in a batch of CSV.
        rows: the number of rows in a batch of another format.
    """

    bytes: int = CHUNK_BYTES
    rows: int = 200_000


class SourceBatch(NamedTuple):
    """Consecutive rows of a source.

    Attributes:
        frame: the rows.
        location_columns: the known columns of the rows' locations.
        csv: the same rows with their original cells; None if the source is not a CSV file.
        cells: the values of the columns of the layout, named by position; None if the source has no layout.
    """

    frame: pl.DataFrame
    location_columns: Mapping[str, pl.Series] = {}
    csv: CsvRows | None = None
    cells: pl.DataFrame | None = None


class SourceRows(Protocol):
    """The rows of a source."""

    @property
    def empty_frame(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""

    @property
    def written(self) -> FileLayout | None:
        """Return the layout that rejected rows keep; None if they are written as SDMX-CSV."""

    def batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        """Yield the rows in batches, each with the number of bytes read so far of the ``size`` bytes of the source."""


@dataclass(frozen=True)
class FrameFile:
    """A file from which polars reads frames; the base of implementations of :class:`SourceRows`.

    Attributes:
        path: the path of the source, for errors.
        file: the file.
        empty_frame: a frame without rows that has all columns.
        batch_rows: the number of rows in a batch.
        error_column: the column in which an earlier run may have described errors.
    """

    path: str
    file: Path
    empty_frame: pl.DataFrame
    batch_rows: int
    error_column: str | None

    @property
    def written(self) -> FileLayout | None:
        """Return the layout that rejected rows keep; None if they are written as SDMX-CSV."""
        return layout_of_frame(self.empty_frame, self.error_column)[0]

    def source_batch(self, rows: pl.DataFrame, location_columns: Mapping[str, pl.Series]) -> SourceBatch:
        """Return rows of the file with the known columns of their locations."""
        return SourceBatch(rows, location_columns, cells=layout_of_frame(rows, self.error_column)[1])


@contextmanager
def reading_as(format_name: str, path: str) -> Iterator[None]:
    """Translate the errors of polars and pyarrow in a block that reads a file.

    Args:
        format_name: the format, for errors.
        path: the path of the source, for errors.

    Raises:
        DatasetError: the file cannot be read.
    """
    try:
        yield
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,  # caused by some damaged files; it does not derive from Exception
        NotImplementedError,
        OSError,
        TypeError,
        ValueError,
    ) as error:
        raise DatasetError(f"reading {path}: it cannot be read as {format_name}: {error}") from error
