"""The contract of the rows of one source, which come in batches, and its implementation for rows in memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import polars as pl

from kafka_replica.data.polars.datasets.chunks import CHUNK_BYTES
from kafka_replica.data.polars.datasets.reading import CsvRows
from kafka_replica.data.polars.written_rows import FileLayout, written_frame


@dataclass(frozen=True, slots=True)
class BatchSize:
    """The size of batches.

    Attributes:
        bytes: of CSV.
        rows: of other formats.
    """

    bytes: int = CHUNK_BYTES
    rows: int = 200_000


class RowsPart(NamedTuple):
    """Consecutive rows of a source.

    Attributes:
        frame: the rows.
        known: columns of their locations, as far as they are known.
        csv: the rows of a CSV file.
        cells: the values of the columns of the layout, if the source has one; their names are their positions.
        paths: the path of each row within a message of SDMX-JSON.
    """

    frame: pl.DataFrame
    known: Mapping[str, pl.Series] = {}
    csv: CsvRows | None = None
    paths: Sequence[str] | None = None
    cells: pl.DataFrame | None = None

    def slice(self, first: int, rows: int) -> RowsPart:
        """Return some of the rows."""
        known = {name: values.slice(first, rows) for name, values in self.known.items()}
        paths = None if self.paths is None else self.paths[first : first + rows]
        cells = None if self.cells is None else self.cells.slice(first, rows)
        return RowsPart(self.frame.slice(first, rows), known, None, paths, cells)


class SourceRows(Protocol):
    """The rows of a source."""

    @property
    def nothing(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""

    @property
    def written(self) -> FileLayout | None:
        """Return the layout that rejected rows keep; None if they are written as SDMX-CSV."""

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, each time with how many of the ``size`` bytes of the source are done."""


@dataclass(frozen=True)
class HeldRows:
    """Rows in memory."""

    part: RowsPart
    batch_rows: int
    written: FileLayout | None = None

    @property
    def nothing(self) -> pl.DataFrame:
        """Return a frame without rows that has all columns."""
        return self.part.frame.clear()

    def batches(self, size: int) -> Iterator[tuple[RowsPart, int]]:
        """Yield the rows, and the share of the bytes that is done."""
        height = self.part.frame.height
        for first in range(0, height, self.batch_rows):
            done = min(height, first + self.batch_rows)
            yield self.part.slice(first, self.batch_rows), size * done // height


def held_rows(frame: pl.DataFrame, verdict: str | None, known: Mapping[str, pl.Series], batch: BatchSize) -> HeldRows:
    """Return the rows of a frame, whose column ``verdict`` is not part of the layout; ``known`` are their locations."""
    written, cells = written_frame(frame, verdict)
    return HeldRows(RowsPart(frame, known, cells=cells), batch.rows, written)
