"""``session`` with a session that is already active."""

from __future__ import annotations

from pyspark.sql import SparkSession

from kafka_replica_spark import session

_PARTITIONS = "spark.sql.shuffle.partitions"


def test_an_active_session_keeps_its_settings(spark: SparkSession) -> None:
    """An active session is returned with the given settings only, and without the quiet defaults."""
    before = {name: spark.conf.get(name) for name in (_PARTITIONS, "spark.app.name")}
    try:
        spark.conf.set(_PARTITIONS, "7")
        assert session("other", "local[1]") is spark
        assert (spark.conf.get(_PARTITIONS), spark.conf.get("spark.app.name")) == ("7", before["spark.app.name"])
        session(**{_PARTITIONS: "3"})
        assert spark.conf.get(_PARTITIONS) == "3"
    finally:
        spark.conf.set(_PARTITIONS, str(before[_PARTITIONS]))
