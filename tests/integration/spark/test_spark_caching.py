"""Validated rows are cached in small batches, because memory is needed for a hundred batches at once."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica_spark import split

_SETTING = "spark.sql.inMemoryColumnarStorage.batchSize"
_ROWS = 3_000


def _validated(spark: SparkSession, name: str) -> DataFrame:
    """Return a frame of one partition without findings; another one for each name, as Spark caches equal ones once."""
    error = "array<struct<rule:string,severity:string>>"
    return spark.range(0, _ROWS, 1, 1).select("id", F.lit(name), F.lit(None).cast(error).alias("_errors"))


def _batches(df: DataFrame) -> int:
    """Return the number of batches in which a frame is cached."""
    plan: Any = df._jdf.queryExecution().withCachedData()
    return int(plan.cacheBuilder().cachedColumnBuffers().count())


@pytest.mark.parametrize(("own", "batches"), [(None, 3), ("500", 6)])
def test_the_batches_of_split(spark: SparkSession, own: str | None, batches: int) -> None:
    """A batch has 1,000 rows, or as many as the session says, whose setting stays as it was."""
    if own is not None:
        spark.conf.set(_SETTING, own)
    try:
        validated = _validated(spark, f"own: {own}")
        assert split(validated).good.count() == _ROWS
        assert _batches(validated) == batches
        assert spark.conf.get(_SETTING) == (own or "10000")
        validated.unpersist()
    finally:
        spark.conf.unset(_SETTING)
