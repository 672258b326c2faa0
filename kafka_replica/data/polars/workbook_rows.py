"""Read the rows of a workbook in batches; the location of a row names its sheet as ``part``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import polars as pl

from kafka_replica.data.files.content import content_on_disk
from kafka_replica.data.files.workbook import Table, Workbook, csv_of
from kafka_replica.data.jobs.job import Job
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.polars.datasets.reading import CsvRows, read_one_sdmx_csv, read_plain_csv
from kafka_replica.data.polars.original_layout import FileLayout, layout_of_tables
from kafka_replica.data.polars.source_rows import BatchSize, SourceBatch
from kafka_replica.data.polars.unions import CommonColumns
from kafka_replica.data.validation.model import Rules


@dataclass(frozen=True)
class WorkbookRows:
    """The rows of all sheets with data; see :class:`SourceRows`."""

    path: str
    file: Path
    rules: Rules
    empty_frame: pl.DataFrame
    batch_rows: int
    written: FileLayout | None

    def batches(self, size: int) -> Iterator[tuple[SourceBatch, int]]:
        """Yield the rows in batches, each with the number of bytes read so far of the ``size`` bytes of the source.

        Raises:
            DatasetError: the file is damaged, or a cell lies outside of its table.
        """
        with self.file.open("rb") as file:
            workbook = Workbook(file, self.path, self.rules)
            for table in workbook.tables():
                while some := [*islice(table.rows, self.batch_rows)]:
                    rows = _read(table, [row for _, row in some], self.path, self.rules)
                    numbers = pl.Series("part_row", [number for number, _ in some], dtype=pl.UInt32)
                    location_columns = {
                        "part": pl.Series([table.sheet]).new_from_index(0, len(some)),
                        "part_row": numbers,
                    }
                    cells = None if self.written is None else rows.cells
                    yield SourceBatch(rows.values, location_columns, cells=cells), int(size * workbook.done)


def open_workbook(source: Source, job: Job, folder: Path, batch: BatchSize) -> WorkbookRows:
    """Return the rows of a workbook, of which only the beginning of each sheet is read now.

    Args:
        source: the source.
        job: the job.
        folder: an existing folder for temporary files.
        batch: the size of batches.

    Raises:
        DatasetError: the file is not a workbook, or has no table.
    """
    place = content_on_disk(source.path, source.content, folder)
    with place.open("rb") as file:
        tables = Workbook(file, source.path, job.rules).tables()
        empty = [_read(table, [], source.path, job.rules) for table in tables]
    empty_frame = CommonColumns((one.values for one in empty), source.path).empty_frame
    written = layout_of_tables(one.layout.header for one in empty)
    return WorkbookRows(source.path, place, job.rules, empty_frame, batch.rows, written)


def _read(table: Table, rows: Sequence[Sequence[str]], path: str, rules: Rules) -> CsvRows:
    read = read_one_sdmx_csv if table.is_sdmx_csv else read_plain_csv
    place = Path(f"{path}, sheet {table.sheet}")
    return read(place, rules=rules, decimal=".", encoding="utf-8", content=csv_of(table.header, rows))
