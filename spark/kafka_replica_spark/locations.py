"""The locations of rows, in columns that a job adds while it reads, and removes before it writes.

Spark itself numbers the rows of a Parquet file. The rows of a text file are numbered without sorting: Spark splits the
file into blocks and numbers the rows of a block consecutively, so that only the rows of each block must be counted.
"""

from __future__ import annotations

from typing import Any, Final

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

PREFIX: Final = "__location_"
SOURCE: Final = f"{PREFIX}source"
"""The column with the number of the source among the sources of the job."""
FILE: Final = f"{PREFIX}file"
LINE: Final = f"{PREFIX}line"
PATH: Final = f"{PREFIX}path"
ROW: Final = f"{PREFIX}row"
BLOCK: Final = f"{PREFIX}block"
"""The column with the offset of the row's block in a text file; NULL if ``AT`` is the number of the row in its file."""
AT: Final = f"{PREFIX}at"
SOURCE_ROW: Final = f"{PREFIX}source_row"
"""The column with a number that only the rows made from one source row have in common; numbers ascend."""
_FIRST: Final = f"{PREFIX}first"
_BEFORE: Final = f"{PREFIX}before"
_BETWEEN: Final = "://"


def with_location(df: DataFrame, number: int, path: str) -> DataFrame:
    """Return rows with the columns of locations.

    Args:
        df: the rows, whose columns include ``AT`` and, if they are known, ``LINE`` and ``PATH``.
        number: the number of the rows' source.
        path: the path of the source.
    """
    nothing = F.lit(None).cast("bigint")
    added = {SOURCE: F.lit(number), FILE: F.lit(path), BLOCK: nothing, LINE: nothing, PATH: F.lit(None).cast("string")}
    return df.select("*", *(column.alias(name) for name, column in added.items() if name not in df.columns))


def with_location_of_text(df: DataFrame, number: int, path: str) -> DataFrame:
    """Return rows of CSV with the columns of locations, which :func:`with_row_numbers` completes."""
    start, at = F.col("_metadata.file_block_start").alias(BLOCK), F.monotonically_increasing_id().alias(AT)
    return with_location(df.select("*", start, at, *_file_at(path)), number, path)


def with_location_of_parquet(df: DataFrame, number: int, path: str) -> DataFrame:
    """Return rows of Parquet with the columns of locations."""
    at = (F.col("_metadata.row_index") + 1).alias(AT)
    return with_location(df.select("*", at, *_file_at(path)), number, path)


def _file_at(path: str) -> list[Column]:
    """Return the column of the file that Spark reads, only for URLs, because other paths are those the user gave."""
    return [F.col("_metadata.file_path").alias(FILE)] if _BETWEEN in path else []


def with_source_row(df: DataFrame) -> DataFrame:
    """Return rows with the column ``SOURCE_ROW``."""
    return df.select("*", F.monotonically_increasing_id().alias(SOURCE_ROW))


def without_locations(df: DataFrame) -> DataFrame:
    """Return the rows without the columns of locations."""
    return df.drop(*(name for name in df.columns if name.startswith(PREFIX)))


def with_row_numbers(df: DataFrame, data: DataFrame) -> DataFrame:
    """Return rows with the number of each row in its file (``ROW``).

    Args:
        df: some rows of the data.
        data: all rows of the data as they were read; only the text files are read again.
    """
    block = [SOURCE, FILE, BLOCK]
    counted = (
        data.filter(F.col(BLOCK).isNotNull()).groupBy(*block).agg(F.min(AT).alias(_FIRST), F.count("*").alias("n"))
    )
    earlier = Window.partitionBy(SOURCE, FILE).orderBy(BLOCK).rowsBetween(Window.unboundedPreceding, -1)
    before = F.coalesce(F.sum("n").over(earlier), F.lit(0)).alias(_BEFORE)
    blocks: Any = F.broadcast(counted.select(*block, _FIRST, before))
    row = F.when(F.col(BLOCK).isNull(), F.col(AT)).otherwise(F.col(AT) - F.col(_FIRST) + F.col(_BEFORE) + 1)
    return df.join(blocks, block, "left").withColumn(ROW, row).drop(_FIRST, _BEFORE)
