"""Many small frames validated by a single Spark job: starting a job takes longer than such a frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import reduce
from typing import Any, Final

import polars as pl
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation import Rules
from kafka_replica_spark import validate

_SMALL: Final = {
    # Compiling a plan takes a second, and gains nothing for a few rows.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}


@contextmanager
def small_jobs(spark: SparkSession) -> Iterator[None]:
    """Set the session for jobs of few rows, and restore it."""
    for name, value in _SMALL.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in _SMALL:
            spark.conf.unset(name)


def validated(spark: SparkSession, cases: Sequence[tuple[pl.DataFrame, Rules]]) -> list[list[Any]]:
    """Return the findings of each row of each frame, in the order of the rows."""
    parts = []
    for number, (frame, rules) in enumerate(cases):
        df = on_spark(spark, frame.with_row_index("_sent").cast({"_sent": pl.Int64}))
        parts.append(validate(df, rules).select(F.lit(number), "_sent", "_errors"))
    found: list[dict[int, Any]] = [{} for _ in cases]
    for number, row, errors in reduce(DataFrame.unionAll, parts).collect():
        found[number][row] = errors and [error.asDict() for error in errors]
    return [[rows[row] for row in sorted(rows)] for rows in found]


def on_spark(spark: SparkSession, frame: pl.DataFrame) -> DataFrame:
    """Return the frame on Spark, in one partition."""
    return spark.createDataFrame(frame.to_arrow()).coalesce(1)
