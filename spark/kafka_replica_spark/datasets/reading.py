"""Reading of SDMX-CSV into a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import Layout, layout_of, plain_layout_of
from kafka_replica.data.files.header import check_decimal
from kafka_replica.data.validation.model import Rules
from kafka_replica_spark.datasets.cells import value_of

_FIRST_CELL: Final = r"\A\x{FEFF}?(STRUCTURE(\[.\])?|DATAFLOW)\z"
_MARK: Final = "\ufeff"


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
    """Return SDMX-CSV 1.0, 2.0 or 2.1 as a data frame: one row per row, one column per component, all texts.

    ``STRUCTURE`` and ``STRUCTURE_ID`` (1.0: ``DATAFLOW``), ``ACTION`` and the file's own columns are kept; keys and
    names are not. Empty cells are NULL. ``ATTR[]`` gives arrays; ``ATTR[en;fr]`` maps from languages to texts. Each
    path is one file, folder or pattern whose files all have the same header, as Spark writes them; several paths may
    have different columns: missing columns are NULL. Only the first line of each path is read immediately. Rows that
    are longer or shorter than the header, and files with another header, fail the job that reads them.

    Args:
        spark: the session.
        paths: paths that Spark can read.
        rules: the rules of the rows' structure; required for names in addition to ids, and for decimal commas.
        separator: the text between cells; if None, the character after the first cell.
        encoding: the encoding, by its name in Java.
        decimal: the decimal separator; requires rules if it is not a dot.
        line_breaks: whether cells may hold line breaks. Spark cannot split such files, so that one task reads each;
            the same applies to files in UTF-16 and UTF-32.

    Raises:
        DatasetError: the first line is not a header of SDMX-CSV.
        UsageError: rules are required.
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
    return reduce(lambda left, right: left.unionByName(right, allowMissingColumns=True), frames)


class CsvRows(NamedTuple):
    """The rows of CSV, and its layout."""

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
) -> CsvRows:
    """Return the rows and the layout of one path of :func:`read_sdmx_csv`.

    Raises:
        DatasetError: the first line is not a header of SDMX-CSV.
        UsageError: rules are required.
    """
    check_decimal(decimal, path)
    layout = layout_of(_first_line(spark, path, encoding), path, rules, separator=separator)
    cells = _without_header(_cells(spark, path, layout, encoding, line_breaks), layout, path)
    return CsvRows(_values(cells, layout, decimal), layout)


def plain_csv_rows(
    spark: SparkSession,
    path: str,
    *,
    rules: Rules | None = None,
    encoding: str = "UTF-8",
    decimal: str = ".",
    line_breaks: bool = False,
) -> CsvRows:
    """Return other CSV, with component ids as column names, as a data frame of texts; empty cells are NULL.

    Args:
        spark: the session.
        path: a path that Spark can read; its files have the same header.
        rules: the rules of the rows' structure; required for decimal commas.
        encoding: the encoding, by its name in Java.
        decimal: the decimal separator; requires rules if it is not a dot.
        line_breaks: whether cells may hold line breaks.

    Raises:
        DatasetError: there is no header, or a column occurs twice.
    """
    check_decimal(decimal, path)
    layout = plain_layout_of(_first_line(spark, path, encoding), path, rules)
    return CsvRows(_values(_cells(spark, path, layout, encoding, line_breaks), layout, decimal), layout)


def _cells(spark: SparkSession, path: str, layout: Layout, encoding: str, line_breaks: bool) -> DataFrame:
    """Return the cells of the file; of other CSV without the header. Rows of other lengths fail whatever reads them."""
    schema = StructType([StructField(f"_{position}", StringType()) for position in range(len(layout.header))])
    return spark.read.option("columnPruning", value=False).csv(
        path, schema, sep=layout.separator, quote='"', escape='"', encoding=encoding, header=layout.version is None,
        mode="FAILFAST", multiLine=line_breaks or _is_wide(encoding), ignoreLeadingWhiteSpace=False,
        ignoreTrailingWhiteSpace=False, nullValue="", emptyValue="", maxCharsPerColumn=-1,
    )  # fmt: skip


def _values(rows: DataFrame, layout: Layout, decimal: str) -> DataFrame:
    return rows.select(
        *(
            value_of(field, F.col(f"_{field.position}"), layout.sub_separator, decimal).alias(field.name)
            for field in layout.fields
        )
    )


def _first_line(spark: SparkSession, path: str, encoding: str) -> str:
    # Split by a character that no file contains, a row is one cell: the text source does not support encodings.
    lines = spark.read.csv(
        path, "line string", sep="\x01", quote="", encoding=encoding, header=False, multiLine=_is_wide(encoding)
    )
    first = lines.first()
    if first is None or first["line"] is None:
        raise DatasetError(f"reading {path}: the file is empty; CSV files need a header line")
    return str(first["line"])


def _is_wide(encoding: str) -> bool:
    """Return whether line ends are not one byte: Spark splits files at such bytes, unless it reads them whole."""
    return encoding.upper().startswith(("UTF-16", "UTF-32"))


def _without_header(raw: DataFrame, layout: Layout, path: str) -> DataFrame:
    """Return the rows without headers; checks each file's header, because Spark does not require them to be equal."""
    first = F.col("_0")
    cells = [layout.header[0].removeprefix(_MARK), *layout.header[1:]]
    alike = [F.regexp_replace(first, rf"\A{_MARK}", "") == cells[0]]
    alike += [F.coalesce(F.col(f"_{position}"), F.lit("")) == cell for position, cell in enumerate(cells) if position]
    other = f"reading {path}: a file has another header than the first one; read it as a path of its own"
    is_header = first.rlike(_FIRST_CELL)
    checked = F.when(reduce(and_, alike), F.lit(False)).otherwise(F.raise_error(F.lit(other)).cast("boolean"))
    return raw.filter(F.when(is_header, checked).otherwise(F.lit(True)))
