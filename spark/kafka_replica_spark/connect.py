"""Detect Spark Connect, and refuse features that Spark Connect cannot support."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from kafka_replica.errors import UsageError


def is_connect(what: SparkSession | DataFrame) -> bool:
    """Return whether an object is of Spark Connect, whose driver is another process, possibly on another host."""
    return type(what).__module__.startswith("pyspark.sql.connect")


def refuse_connect(what: SparkSession | DataFrame, doing: str, instead: str) -> None:
    """Raise UsageError if an object is of Spark Connect.

    Args:
        what: the session or frame.
        doing: the action, for the error.
        instead: the reason and the advice, for the error.
    """
    if is_connect(what):
        raise UsageError(f"{doing} on Spark Connect: {instead}")
