"""Read SDMX-CSV into a polars frame."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import Layout, check_decimal, layout_of, plain_layout_of
from kafka_replica.data.polars.datasets.cells import value_of
from kafka_replica.data.polars.datasets.files import Paths, Text, check_each, csv_files, rows_in, text_of
from kafka_replica.data.validation.model import Rules


def read_sdmx_csv(
    paths: Paths,
    *,
    rules: Rules | None = None,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str = ".",
) -> pl.DataFrame:
    """Read SDMX-CSV 1.0, 2.0 or 2.1 as a frame of texts, with one row per row and one column per component.

    ``STRUCTURE`` and ``STRUCTURE_ID`` (1.0: ``DATAFLOW``), ``ACTION`` and the file's own columns are kept; keys and
    names are not. Empty cells are NULL. ``ATTR[]`` becomes lists of texts, ``ATTR[en;fr]`` lists of ``language`` and
    ``text``. Several files may have different columns: columns that a file lacks are NULL.

    Args:
        paths: files, which may be compressed (gzip, zip, zstd), folders of ``*.csv``, or patterns.
        rules: the rules of the rows' structure; needed if the file has names next to ids, and for decimal commas.
        separator: the separator of cells; None means the character after the first cell of each file.
        encoding: the encoding of files without a byte order mark; None means UTF-8.
        decimal: the decimal separator; needs rules if it is not a dot.

    Raises:
        DatasetError: a file is not SDMX-CSV, or rows are longer or shorter than the first; the message names the place.
        UsageError: a file cannot be opened, rules are needed, or ``decimal`` cannot be a decimal separator.
    """
    frames = [
        read_one_sdmx_csv(path, rules=rules, separator=separator, encoding=encoding, decimal=decimal).values
        for path in csv_files(paths)
    ]  # fmt: skip
    try:
        return pl.concat(frames, how="diagonal")
    except pl.exceptions.PolarsError as error:
        raise DatasetError(
            f"reading several files: a column holds one value in one file, and several in another: {error}"
        ) from error


@dataclass(frozen=True)
class CsvRows:
    """The rows of a CSV file, as they are written and as values.

    Attributes:
        layout: the columns.
        cells: the cells of each row, unchanged; the names of columns are their positions.
        lines: the line on which each row begins, from 1.
        encoding: the encoding of the file, as Python calls it.
        line_end: what ends the header line.
        decimal: the decimal separator.
    """

    layout: Layout
    cells: pl.DataFrame
    lines: pl.Series
    encoding: str
    line_end: str
    decimal: str

    @property
    def values(self) -> pl.DataFrame:
        """Return a column for each component; empty cells are NULL."""
        return self.cells.select([
            value_of(field, pl.col(str(field.position)), self.layout.sub_separator, self.decimal).alias(field.name)
            for field in self.layout.fields
        ])  # fmt: skip


def read_plain_csv(
    path: Path, *, rules: Rules | None = None, encoding: str | None = None, decimal: str = ".",
    content: bytes | None = None,
) -> CsvRows:  # fmt: skip
    """Read other CSV, with component ids as column names.

    The separator is the one of comma, semicolon, tab and ``|`` that the header shows.

    Args:
        path: the file, which may be compressed.
        rules: the rules of the rows' structure; needed for decimal commas.
        encoding: the encoding of a file without a byte order mark; None means UTF-8.
        decimal: the decimal separator; needs rules if it is not a dot.
        content: the content of the file, if it was read before.

    Raises:
        DatasetError: a column occurs twice, or rows are longer or shorter than the first; the message names the place.
        UsageError: the file cannot be opened, or ``decimal`` cannot be a decimal separator.
    """
    check_decimal(decimal, str(path))
    text = text_of(path, encoding, content)
    return _rows(text, plain_layout_of(text.text.partition("\n")[0], str(path), rules), path, decimal)


def read_one_sdmx_csv(
    path: Path, *, rules: Rules | None, encoding: str | None, decimal: str, separator: str | None = None,
    content: bytes | None = None,
) -> CsvRows:  # fmt: skip
    """Read one file, as :func:`read_sdmx_csv` does; ``content`` is its content, if it was read before.

    Raises:
        DatasetError: the file is not SDMX-CSV, or rows are longer or shorter than the first.
        UsageError: the file cannot be opened, or rules are needed.
    """
    check_decimal(decimal, str(path))
    text = text_of(path, encoding, content)
    layout = layout_of(text.text.partition("\n")[0], str(path), rules, separator=separator)
    return _rows(text, layout, path, decimal)


def _rows(read: Text, layout: Layout, path: Path, decimal: str) -> CsvRows:
    rows, begins = rows_in(read, len(layout.header), layout.separator, path)
    cells = _cells(rows, layout, path, read)
    lines = pl.Series("line", begins, dtype=pl.UInt32)
    line_end = "\r\n" if read.text.partition("\n")[0].endswith("\r") else "\n"
    return CsvRows(layout, cells, lines, read.encoding, line_end, decimal)


def _cells(text: str, layout: Layout, path: Path, read: Text) -> pl.DataFrame:
    schema = {str(position): pl.String() for position in range(len(layout.header))}
    if not text.partition("\n")[2].strip("\r\n"):
        return pl.DataFrame(schema=schema)
    try:
        return pl.read_csv(
            text.encode(), has_header=False, skip_rows=1, schema=schema, separator=layout.separator, quote_char='"',
        )  # fmt: skip
    except pl.exceptions.PolarsError as error:
        check_each(read, len(layout.header), layout.separator, path)
        raise DatasetError(
            f"reading {path}: is a quote not closed, or not at the beginning of a cell? {error}"
        ) from error
