"""Measurements of Spark's plans."""

from __future__ import annotations

from pyspark.sql import DataFrame


def longest_method(df: DataFrame) -> int:
    """Return the bytes of the longest Java method of a plan's stages; Java compiles none of more than 8,000."""
    debug = getattr(getattr(df.sparkSession._jvm.org.apache.spark.sql.execution.debug, "package$"), "MODULE$")
    stages = debug.codegenStringSeq(df._jdf.queryExecution().executedPlan())
    return max(stages.apply(number)._3().maxMethodCodeSize() for number in range(stages.size()))
