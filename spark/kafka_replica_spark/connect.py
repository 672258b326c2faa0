"""Telling Spark Connect from a session in this process, and refusing what cannot be there."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from kafka_replica.errors import UsageError


def is_connect(what: SparkSession | DataFrame) -> bool:
    """Whether it is of Spark Connect: then the driver is another process, perhaps far away."""
    return type(what).__module__.startswith("pyspark.sql.connect")


def refuse_connect(what: SparkSession | DataFrame, doing: str, instead: str) -> None:
    """Raises UsageError on Spark Connect."""
    if is_connect(what):
        raise UsageError(f"{doing} on Spark Connect: {instead}")
