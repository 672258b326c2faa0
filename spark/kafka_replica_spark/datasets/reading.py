"""Read SDMX-CSV into a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Final, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import Field, Layout, layout_of, plain_layout_of
from kafka_replica.data.files.csv_header import check_decimal
from kafka_replica.data.files.csv_layout import EMPTY_VALUE
from kafka_replica.data.validation.actions import SPELLINGS
from kafka_replica.data.validation.model import Rules
from kafka_replica_spark.datasets.cells import value_of
from kafka_replica_spark.unions import union_of

_FIRST_CELL: Final = r"\A\x{FEFF}?(STRUCTURE(\[.\])?|DATAFLOW)\z"
_MARK: Final = "\ufeff"
_REPLACEMENT: Final = "\ufffd"
"""The character that Java reads where bytes are not text in the encoding."""


def read_sdmx_csv(
    spark: SparkSession,
    paths: str | Sequence[str],
    *,
    rules: Rules | None = None,
    separator: str | None = None,
    encoding: str = "UTF-8",
    decimal: str = ".",
    line_breaks: bool = False,
) -> DataFrame:
    """Return SDMX-CSV 1.0, 2.0 or 2.1 as a data frame of texts, with one row per row and one column per component.

    ``STRUCTURE`` and ``STRUCTURE_ID`` (1.0: ``DATAFLOW``), ``ACTION`` and the file's own columns are kept. Columns of
    names are dropped, and so are columns of keys unless the file may have deletions. Empty cells are NULL. ``ATTR[]``
    becomes arrays, ``ATTR[en;fr]`` maps from languages to texts. Each path is a file, folder or pattern whose files all
    have the same header, as Spark writes them. Paths may have different columns: a column that a path lacks is NULL in
    its rows, and a column with single values in one path and several in another has several in all rows. Only the first
    line of each path is read immediately. Rows with more or fewer cells than the header, files with another header, and
    files with the character U+FFFD, which Java reads where bytes are not text in the encoding, fail the job that reads
    them.

    Args:
        spark: the session.
        paths: paths that Spark can read.
        rules: the rules of the rows' structure; needed if the file has names as well as ids, and for decimal commas.
        separator: the separator of cells; None means the character after the first cell.
        encoding: Java's name of the encoding.
        decimal: the decimal separator; needs rules if it is not a dot.
        line_breaks: whether cells may contain line breaks. Spark cannot split such files, so that one task reads each
            of them; the same applies to files in UTF-16 and UTF-32.

    Raises:
        DatasetError: the first line is not a header of SDMX-CSV, or no path is given.
        UsageError: rules are needed.
        ConfigurationError: ``decimal`` cannot be a decimal separator.
    """
    every = [paths] if isinstance(paths, str) else list(paths)
    frames = [
        sdmx_csv_rows(
            spark, path, rules=rules, separator=separator, encoding=encoding, decimal=decimal, line_breaks=line_breaks
        ).rows
        for path in every
    ]
    if not frames:
        raise DatasetError("reading SDMX-CSV: no path was given")
    return union_of(frames, "SDMX-CSV")


class CsvRows(NamedTuple):
    """The rows of CSV files, and their layout."""

    rows: DataFrame
    layout: Layout


def sdmx_csv_rows(
    spark: SparkSession,
    path: str,
    *,
    rules: Rules | None = None,
    separator: str | None = None,
    encoding: str = "UTF-8",
    decimal: str = ".",
    line_breaks: bool = False,
    shown: str | None = None,
) -> CsvRows:
    """Return the rows and the layout of one path; the arguments are those of :func:`read_sdmx_csv`.

    ``shown`` is the name of the path in errors; None means the path.

    Raises:
        DatasetError: the first line is not a header of SDMX-CSV.
        UsageError: rules are needed.
        ConfigurationError: ``decimal`` cannot be a decimal separator.
    """
    name = path if shown is None else shown
    check_decimal(decimal, name)
    layout = layout_of(_first_line(spark, path, encoding, name), name, rules, separator=separator)
    cells = _without_header(_cells(spark, path, layout, encoding, line_breaks, name), layout, name)
    return CsvRows(_values(cells, layout, decimal), layout)


def plain_csv_rows(
    spark: SparkSession,
    path: str,
    *,
    rules: Rules | None = None,
    encoding: str = "UTF-8",
    decimal: str = ".",
    line_breaks: bool = False,
    shown: str | None = None,
) -> CsvRows:
    """Return plain CSV, which has component ids as column names, as a data frame of texts; empty cells are NULL.

    Args:
        spark: the session.
        path: a path that Spark can read, whose files have the same header.
        rules: the rules of the rows' structure; needed for decimal commas.
        encoding: Java's name of the encoding.
        decimal: the decimal separator; needs rules if it is not a dot.
        line_breaks: whether cells may contain line breaks.
        shown: the name of the path in errors; None means the path.

    Raises:
        DatasetError: there is no header, or a column occurs twice.
        ConfigurationError: ``decimal`` cannot be a decimal separator.
    """
    name = path if shown is None else shown
    check_decimal(decimal, name)
    layout = plain_layout_of(_first_line(spark, path, encoding, name), name, rules)
    return CsvRows(_values(_cells(spark, path, layout, encoding, line_breaks, name), layout, decimal), layout)


def _cells(
    spark: SparkSession, path: str, layout: Layout, encoding: str, line_breaks: bool, name: str
) -> DataFrame:  # fmt: skip
    """Return the cells of the files, in plain CSV without the header.

    A row of another length fails the job, and so does one with bytes that are not text in the encoding.
    """
    schema = StructType([StructField(f"_{position}", StringType()) for position in range(len(layout.header))])
    raw = spark.read.option("columnPruning", value=False).csv(
        path, schema, sep=layout.separator, quote='"', escape='"', encoding=encoding, header=layout.version is None,
        mode="FAILFAST", multiLine=line_breaks or _is_wide(encoding), ignoreLeadingWhiteSpace=False,
        ignoreTrailingWhiteSpace=False, nullValue="", emptyValue="", maxCharsPerColumn=-1,
    )  # fmt: skip
    is_damaged = F.contains(F.concat_ws("", *raw.columns), F.lit(_REPLACEMENT))
    refused = F.raise_error(F.lit(_wrong_encoding(name, encoding))).cast("boolean")
    return raw.filter(F.when(is_damaged, refused).otherwise(F.lit(True)))


def _wrong_encoding(name: str, encoding: str) -> str:
    return (
        f"reading {name}: it has the character U+FFFD, so it is not {encoding}, or letters were lost before; give its "
        "encoding (encoding=, or --encoding), for example ISO-8859-1; --engine local reads other encodings, and this "
        "character"
    )


def _values(rows: DataFrame, layout: Layout, decimal: str) -> DataFrame:
    return rows.select(
        *(_value(field, F.col(f"_{field.position}"), layout, decimal).alias(field.name) for field in layout.fields)
    )


def _value(field: Field, cell: Column, layout: Layout, decimal: str) -> Column:
    """Return the value of a cell; an empty text in a deletion that gives only a name."""
    found = value_of(field, cell, layout.sub_separator, decimal)
    if not layout.may_be_nameless(field):
        return found
    empty = F.lit("")
    is_nameless = (F.coalesce(cell, empty) == "") & (F.coalesce(F.col(f"_{field.name_position}"), empty) != "")
    if layout.action_position is not None:
        actions = [*SPELLINGS["delete"], *([""] if layout.deletes else [])]
        is_nameless &= F.coalesce(F.col(f"_{layout.action_position}"), empty).isin(actions)
    if field.form != "text":
        empty = value_of(field, F.lit(EMPTY_VALUE), layout.sub_separator, decimal)
    return F.when(is_nameless, empty).otherwise(found)


def _first_line(spark: SparkSession, path: str, encoding: str, name: str) -> str:
    # The separator is a character that no file contains, so that a line is one cell; Spark's text source, which would
    # be simpler, does not support encodings.
    lines = spark.read.csv(
        path, "line string", sep="\x01", quote="", encoding=encoding, header=False, multiLine=_is_wide(encoding)
    )
    first = lines.first()
    if first is None or first["line"] is None:
        raise DatasetError(f"reading {name}: the file is empty; CSV files need a header line")
    line = str(first["line"])
    if _REPLACEMENT in line:
        raise DatasetError(_wrong_encoding(name, encoding))
    return line


def _is_wide(encoding: str) -> bool:
    """Return whether line ends have more than one byte, so that Spark cannot split files at them."""
    return encoding.upper().startswith(("UTF-16", "UTF-32"))


def _without_header(raw: DataFrame, layout: Layout, path: str) -> DataFrame:
    """Return the rows without headers, and check the header of each file, because Spark allows different headers."""
    first = F.col("_0")
    cells = [layout.header[0].removeprefix(_MARK), *layout.header[1:]]
    equal_cells = [F.regexp_replace(first, rf"\A{_MARK}", "") == cells[0]]
    equal_cells += [
        F.coalesce(F.col(f"_{position}"), F.lit("")) == cell for position, cell in enumerate(cells) if position
    ]
    other = f"reading {path}: a file has another header than the first one; read it as a path of its own"
    is_header = first.rlike(_FIRST_CELL)
    checked = F.when(reduce(and_, equal_cells), F.lit(False)).otherwise(F.raise_error(F.lit(other)).cast("boolean"))
    return raw.filter(F.when(is_header, checked).otherwise(F.lit(True)))
