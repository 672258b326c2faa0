"""The header and the original cells of rows, so that rejected rows keep the columns of their file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import polars as pl

from kafka_replica.data.polars.datasets.reading import CsvTable
from kafka_replica.data.polars.sdmx_texts import as_text, shape_of

_STRUCTURE, _STRUCTURE_ID, _DATAFLOW = "STRUCTURE", "STRUCTURE_ID", "DATAFLOW"


class FileLayout(NamedTuple):
    """The layout of a file of rejected rows.

    Attributes:
        header: the names of the columns.
        separator: the separator of cells.
        encoding: Python's name of the encoding.
        line_end: the line end.
    """

    header: tuple[str, ...]
    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"

    def is_like(self, other: FileLayout) -> bool:
        """Return whether rows of both layouts can be in one file; line ends may differ."""
        return self[:3] == other[:3]


def layout_of_csv(table: CsvTable) -> FileLayout:
    """Return the layout of a CSV file."""
    return FileLayout(table.layout.header, table.layout.separator, table.encoding, table.line_end)


def layout_of_frame(frame: pl.DataFrame, error_column: str | None) -> tuple[FileLayout | None, pl.DataFrame | None]:
    """Return the layout and the values for writing typed rows, such as those of Parquet, to a CSV file.

    Both are None if a cell of CSV cannot contain all values, or if the file would be mistaken for SDMX-CSV.

    Args:
        frame: the rows.
        error_column: the column in which an earlier run may have described errors; it is left out.
    """
    names = [name for name in frame.columns if name != error_column]
    begins_like_sdmx_csv = names[:1] in ([_STRUCTURE], [_DATAFLOW])
    is_understood = not begins_like_sdmx_csv or names[:1] == [_DATAFLOW] or names[1:2] == [_STRUCTURE_ID]
    schema = frame.schema  # stored, because polars builds a new schema on each access
    if not names or not is_understood or any(shape_of(schema[name]) != "text" for name in names):
        return None, None
    return FileLayout(tuple(names)), frame.select(pl.col(name).alias(str(place)) for place, name in enumerate(names))


def as_cells(values: pl.DataFrame) -> pl.DataFrame:
    """Return the values of all columns as texts."""
    return values.select(as_text(name, kind).alias(name) for name, kind in values.schema.items())


def layout_of_tables(headers: Iterable[tuple[str, ...]]) -> FileLayout | None:
    """Return the layout of all tables of a workbook; None if their headers differ."""
    different = {*headers}
    return FileLayout(different.pop()) if len(different) == 1 else None
