"""Rows as their file writes them, so that rejected rows keep its columns: their header, and their cells as texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import polars as pl

from kafka_replica.data.polars.datasets.reading import CsvRows, CsvTable
from kafka_replica.data.polars.texts import as_text, shape_of

_STRUCTURE, _STRUCTURE_ID, _DATAFLOW = "STRUCTURE", "STRUCTURE_ID", "DATAFLOW"


class FileLayout(NamedTuple):
    """The layout of a file of rejected rows.

    Attributes:
        header: the names of the columns.
        separator: the separator of cells.
        encoding: the encoding, as Python calls it.
        line_end: the end of lines.
    """

    header: tuple[str, ...]
    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"

    def is_like(self, other: FileLayout) -> bool:
        """Return whether rows of both fit in one file."""
        return self[:3] == other[:3]


def written_by(table: CsvTable) -> FileLayout:
    """Return the layout of a CSV file."""
    return FileLayout(table.layout.header, table.layout.separator, table.encoding, table.line_end)


def written_frame(frame: pl.DataFrame, verdict: str | None) -> tuple[FileLayout | None, pl.DataFrame | None]:
    """Return the layout and the values of rows that are no text, such as those of Parquet, for a CSV file.

    Both are None if a cell of CSV cannot contain each value, or if the columns would not be understood in a CSV file.

    Args:
        frame: the rows.
        verdict: the column in which an earlier run has described errors, which is left out.
    """
    names = [name for name in frame.columns if name != verdict]
    begins_like_sdmx_csv = names[:1] in ([_STRUCTURE], [_DATAFLOW])
    is_understood = not begins_like_sdmx_csv or names[:1] == [_DATAFLOW] or names[1:2] == [_STRUCTURE_ID]
    schema = frame.schema  # a new object each time that it is asked for
    if not names or not is_understood or any(shape_of(schema[name]) != "text" for name in names):
        return None, None
    return FileLayout(tuple(names)), frame.select(pl.col(name).alias(str(place)) for place, name in enumerate(names))


def as_cells(values: pl.DataFrame) -> pl.DataFrame:
    """Return values as texts."""
    return values.select(as_text(name, kind).alias(name) for name, kind in values.schema.items())


def written_tables(tables: Sequence[CsvRows]) -> tuple[FileLayout | None, pl.DataFrame | None]:
    """Return the layout and the cells of the tables of a workbook; None for both if their headers differ."""
    if len({one.layout.header for one in tables}) != 1:
        return None, None
    return FileLayout(tables[0].layout.header), pl.concat([one.cells for one in tables])
