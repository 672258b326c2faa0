"""Read SDMX-CSV into a polars frame."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import Layout, check_decimal, layout_of, plain_layout_of
from kafka_replica.data.polars.datasets.cells import value_of
from kafka_replica.data.polars.datasets.files import Paths, check_each, csv_files, rows_in, text_of
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
        paths: files, which may be compressed with gzip, folders of ``*.csv``, or patterns.
        rules: the rules of the rows' structure; needed if the file has names next to ids, and for decimal commas.
        separator: the separator of cells; None means the character after the first cell of each file.
        encoding: the encoding of files without a byte order mark; None means UTF-8.
        decimal: the decimal separator; needs rules if it is not a dot.

    Raises:
        DatasetError: a file is not SDMX-CSV, or rows are longer or shorter than the first; the message names the place.
        UsageError: a file cannot be opened, rules are needed, or ``decimal`` cannot be a decimal separator.
    """
    frames = [_read(path, rules, separator, encoding, decimal) for path in csv_files(paths)]
    try:
        return pl.concat(frames, how="diagonal")
    except pl.exceptions.PolarsError as error:
        raise DatasetError(
            f"reading several files: a column holds one value in one file, and several in another: {error}"
        ) from error


def read_plain_csv(
    path: Path, *, rules: Rules | None = None, encoding: str | None = None, decimal: str = "."
) -> pl.DataFrame:
    """Read other CSV, with commas and component ids as column names, as a frame of texts; empty cells are NULL.

    Args:
        path: the file, which may be compressed with gzip.
        rules: the rules of the rows' structure; needed for decimal commas.
        encoding: the encoding of a file without a byte order mark; None means UTF-8.
        decimal: the decimal separator; needs rules if it is not a dot.

    Raises:
        DatasetError: a column occurs twice, or rows are longer or shorter than the first; the message names the place.
        UsageError: the file cannot be opened, or ``decimal`` cannot be a decimal separator.
    """
    check_decimal(decimal, str(path))
    text = text_of(path, encoding)
    return _values(text, plain_layout_of(text.partition("\n")[0], str(path), rules), path, decimal)


def _read(path: Path, rules: Rules | None, separator: str | None, encoding: str | None, decimal: str) -> pl.DataFrame:
    check_decimal(decimal, str(path))
    text = text_of(path, encoding)
    layout = layout_of(text.partition("\n")[0], str(path), rules, separator=separator)
    return _values(text, layout, path, decimal)


def _values(text: str, layout: Layout, path: Path, decimal: str) -> pl.DataFrame:
    raw = _raw(rows_in(text, len(layout.header), layout.separator, path), layout, path)
    return raw.select([
        value_of(field, pl.col(str(field.position)), layout.sub_separator, decimal).alias(field.name)
        for field in layout.fields
    ])  # fmt: skip


def _raw(text: str, layout: Layout, path: Path) -> pl.DataFrame:
    schema = {str(position): pl.String() for position in range(len(layout.header))}
    if not text.partition("\n")[2].strip("\r\n"):
        return pl.DataFrame(schema=schema)
    try:
        return pl.read_csv(
            text.encode(), has_header=False, skip_rows=1, schema=schema, separator=layout.separator, quote_char='"',
        )  # fmt: skip
    except pl.exceptions.PolarsError as error:
        check_each(text, len(layout.header), layout.separator, path)
        raise DatasetError(
            f"reading {path}: is a quote not closed, or not at the beginning of a cell? {error}"
        ) from error
