"""Write rejected rows of CSV with the columns of their files, and a column that describes their errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pyspark.sql import DataFrame

from kafka_replica.data.files import Layout
from kafka_replica.data.jobs.job import ERRORS_TEXT
from kafka_replica_spark.rows import named_column


class RejectedLayout(NamedTuple):
    """The layout of a CSV file whose cells a frame has unchanged.

    Attributes:
        columns: the name of each column in the frame, and its name in the file.
        separator: the separator of cells.
        encoding: Java's name of the encoding.
    """

    columns: tuple[tuple[str, str], ...]
    separator: str
    encoding: str


def rejected_layout(layout: Layout, encoding: str, decimal: str, error_column: str | None) -> RejectedLayout | None:
    """Return the layout for rejected rows of a file; None if a frame does not have all of its cells unchanged.

    Frames have neither the columns of names and keys nor names within cells, they have several values of a cell as an
    array, and numbers with a decimal point.

    Args:
        layout: the layout of the file.
        encoding: Java's name of the file's encoding.
        decimal: the decimal separator of the file.
        error_column: the column in which an earlier run may have described errors; it is left out.
    """
    is_whole = len(layout.fields) == len(layout.header)
    if not is_whole or any(
        field.form != "text" or field.label is not None or (field.is_number and decimal != ".")
        for field in layout.fields
    ):
        return None
    named = [(field.name, layout.header[field.position].removeprefix("\ufeff")) for field in layout.fields]
    columns = tuple((name, header) for name, header in named if name != error_column)
    # Spark cannot write a file with names of columns that differ only in case.
    every = [*(header.casefold() for _, header in columns), ERRORS_TEXT.casefold()]
    return RejectedLayout(columns, layout.separator, encoding) if len(set(every)) == len(every) else None


def common_layout(layouts: Sequence[RejectedLayout | None]) -> RejectedLayout | None:
    """Return the layout of all files; None if the layouts differ, or any file has no layout."""
    return layouts[0] if len(set(layouts)) == 1 else None


def write_rejected(df: DataFrame, path: str, layout: RejectedLayout) -> None:
    """Write rejected rows as a folder of CSV files, each with the header.

    Args:
        df: the rows, with the description of their errors in the column ``ERRORS``.
        path: the folder, wherever Spark can write.
        layout: the layout of the files of the data.
    """
    cells = [named_column(name).alias(header) for name, header in layout.columns]
    df.select(*cells, named_column(ERRORS_TEXT)).write.csv(
        path, mode="overwrite", sep=layout.separator, quote='"', escape='"', header=True, encoding=layout.encoding,
        ignoreLeadingWhiteSpace=False, ignoreTrailingWhiteSpace=False, nullValue="", emptyValue="",
    )  # fmt: skip
