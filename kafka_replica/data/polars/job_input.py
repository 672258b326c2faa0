"""The data of a job in batches: rows with their locations, and the original cells of files whose layout is kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple

import polars as pl

from kafka_replica.data.files.decompression import file_to_open
from kafka_replica.data.jobs.job import Job, error_column_of, note_adder
from kafka_replica.data.jobs.progress import Progress, ProgressCallback
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.datasets.csv_records import WrongRow
from kafka_replica.data.polars.datasets.reading import CsvRows
from kafka_replica.data.polars.datasets.structure_selection import split_by_structure
from kafka_replica.data.polars.earlier_errors import without_earlier_errors
from kafka_replica.data.polars.finding_tables import LOCATION_TYPES
from kafka_replica.data.polars.original_layout import FileLayout, as_cells
from kafka_replica.data.polars.source_opening import open_source
from kafka_replica.data.polars.source_rows import BatchSize, SourceBatch, SourceRows
from kafka_replica.data.polars.unions import CommonColumns
from kafka_replica.sdmx import Urn

AT: Final = "__at"
"""The column with the position of a row among all rows of a job."""


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a job, all from the same file.

    Attributes:
        frame: the rows that belong to the job's structure, with their positions in the column ``AT``.
        first: the position of the first row of the batch, whether or not it belongs to the job's structure.
        locations: the locations of all rows, including those of other structures.
        csv: all rows, if they are from a CSV file.
        wrong: the rows with a wrong number of cells, which are not in the frame, by position.
        cells: the values of all rows, with columns named by position; None if the file has no layout.
    """

    frame: pl.DataFrame
    first: int
    locations: pl.DataFrame
    csv: CsvRows | None
    wrong: Mapping[int, WrongRow]
    cells: pl.DataFrame | None = None

    def locations_of(self, positions: pl.Series) -> pl.DataFrame:
        """Return the locations of the rows with these positions."""
        return self.locations[positions - self.first]

    def cells_of(self, positions: pl.Series) -> pl.DataFrame:
        """Return the cells of the rows with these positions, as texts; the file must have a layout."""
        assert self.cells is not None  # noqa: S101 - called for files with a layout only
        return as_cells(self.cells[positions - self.first])


class InputLayout(NamedTuple):
    """The layout of a file.

    Attributes:
        written: the layout of the columns.
        error_column: the column in which an earlier run may have described errors; None if there cannot be such a
            column.
    """

    written: FileLayout
    error_column: str | None


class _Opened(NamedTuple):
    source: Source
    rows: SourceRows
    error_column: str | None
    size: int


class JobInput:
    """The rows of a job. A column that a file lacks is NULL in its rows.

    Attributes:
        empty_frame: a frame without rows that has the columns of all files, and ``AT``.
        originals: the layouts of the files; empty if any file has no layout.
        notes: the remarks in data messages, with their file.
        others: the number of rows that name other structures, by structure; complete after all batches.
    """

    def __init__(self, job: Job, step: ProgressCallback, folder: Path, size: BatchSize | None = None) -> None:
        """Open all files.

        Args:
            job: the job.
            step: is called with the progress.
            folder: an existing folder for temporary files.
            size: the size of batches; None means the default.

        Raises:
            DatasetError: a file cannot be read, or a column has incompatible types in two files.
            ConfigurationError: a path is a URL, which only the Spark engine can read.
        """
        self._job, self._step = job, step
        self._opened: list[_Opened] = []
        self.notes: Final[list[str]] = []
        sizes = _sizes(job.sources)
        for number, source in enumerate(job.sources):
            place = folder / str(number)
            place.mkdir()
            done = sum(sizes[:number])

            def report_rows(rows: int, done: int = done) -> None:
                step(Progress("reading data", done, sum(sizes), rows=rows))

            report_rows(0)
            rows = open_source(
                source, job, place, size or BatchSize(), report_rows, note_adder(job, source, self.notes)
            )
            self._opened.append(_Opened(source, rows, error_column_of(source, job.rules), sizes[number]))
        schemas = [_without(one.rows.empty_frame, one.error_column) for one in self._opened]
        self._common = CommonColumns(schemas, job.files)
        self.empty_frame: Final = self._common.empty_frame.with_row_index(AT)
        layouts = [(one.rows.written, one.error_column) for one in self._opened]
        known = tuple(InputLayout(written, error_column) for written, error_column in layouts if written is not None)
        self.originals: Final[tuple[InputLayout, ...]] = known if len(known) == len(layouts) else ()
        self.others: dict[Urn, int] = {}

    def batches(self, doing: str) -> Iterator[Batch]:
        """Yield the rows in batches, and report the progress after each batch.

        Args:
            doing: the description of the step, for the progress.

        Raises:
            DatasetError: a file cannot be read, or all rows belong to other structures.
        """
        first = mine = before = 0
        others: Counter[Urn] = Counter()
        total = sum(one.size for one in self._opened)
        self._step(Progress(doing, 0, total, rows=0))
        for source, rows, error_column, size in self._opened:
            begin = first
            for source_batch, done in rows.batches(size):
                batch, named = self._batch(source, source_batch, error_column, first, first - begin)
                others.update(named)
                first += source_batch.frame.height
                mine += batch.frame.height + len(batch.wrong)
                yield batch
                self._step(Progress(doing, before + done, total, rows=first))
            before += size
        self.others = dict(sorted(others.items()))
        self._step(Progress(doing, total, total, rows=first))
        if others and not mine:
            raise self._job.wrong_structure(self.others)

    def _batch(
        self, source: Source, source_batch: SourceBatch, error_column: str | None, first: int, row: int
    ) -> tuple[Batch, dict[Urn, int]]:  # fmt: skip
        frame = self._common.rows(_without(source_batch.frame, error_column)).with_row_index(AT, offset=first)
        wrong: dict[int, WrongRow] = {}
        csv = source_batch.csv
        if csv is not None:
            wrong = {first + one.at: without_earlier_errors(one, csv.layout, error_column) for one in csv.wrong}
        if wrong:
            frame = frame.filter(~pl.col(AT).is_in(list(wrong)))
        located = _located(source_batch, source.path if self._job.names_files else None, row)

        def where(at: int) -> str:
            place = located.row(frame[AT][at] - first, named=True)
            return f"{source.path}, {_in_words(place, source)}"

        mine, others = split_by_structure(frame, self._job.rules, self._job.usages, where)
        return Batch(mine, first, located, csv, wrong, source_batch.cells), others


def peek_single(batches: Iterator[Batch]) -> tuple[Iterator[Batch], bool]:
    """Return the batches, and whether there is at most one, so that rows need not be compared across batches."""
    first, second = next(batches, None), next(batches, None)
    return chain((one for one in (first, second) if one is not None), batches), second is None


def _in_words(place: Mapping[str, Any], source: Source) -> str:
    """Return the location of a row in its file: its line, its row on a sheet, or its number."""
    if place["line"] is not None:
        return f"line {place['line']}"
    if source.kind == "xlsx":
        return f"sheet {place['part']}, row {place['part_row']}"
    return f"row {place['row']}"


def _without(frame: pl.DataFrame, error_column: str | None) -> pl.DataFrame:
    return frame.drop([] if error_column is None else [error_column], strict=False)


def _sizes(sources: Sequence[Source]) -> list[int]:
    """Return the size of each source in bytes, before decompression; the files of an archive share its size equally."""
    files = [source.content or file_to_open(source.path, None) for source in sources]
    shared = Counter(files)
    return [_size(file) // shared[file] for file in files]


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0  # for example a URL


def _located(source_batch: SourceBatch, name: str | None, row: int) -> pl.DataFrame:
    """Return the locations of the rows of a batch of a source.

    Args:
        source_batch: the batch.
        name: the file; None if locations do not name files.
        row: the number of rows before the batch in the file.
    """
    numbers = pl.int_range(row + 1, row + source_batch.frame.height + 1, dtype=pl.UInt32, eager=True)
    known = {"row": numbers, **source_batch.location_columns}
    return pl.DataFrame({"row": numbers}).select(
        (pl.lit(name) if column == "file" else known.get(column, pl.lit(None))).cast(kind).alias(column)
        for column, kind in LOCATION_TYPES.items()
    )
