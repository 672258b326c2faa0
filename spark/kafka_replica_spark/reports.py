"""Reports of findings, aggregated by Spark."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.validation.model import ERRORS, FIELDS, Finding, Rules
from kafka_replica.data.validation.report import Report, Sample
from kafka_replica.data.validation.requests import need_errors
from kafka_replica_spark.cross_row import whole_findings
from kafka_replica_spark.rows import joined, prepared


def dataset_findings(df: DataFrame, rules: Rules) -> tuple[Finding, ...]:
    """Return the findings about the data set as a whole: its columns, and attributes that describe all of it.

    The function reads the frame once if there is such an attribute.
    """
    ready = prepared(df, rules)
    return (*ready.bound.findings, *whole_findings(ready))


def report(validated: DataFrame, rules: Rules, *, samples: int = 5, series: int = 20) -> Report:
    """Return counts of the findings of :func:`validate`, with samples, and the findings of the data set.

    The frame is cached during the call, unless it is already cached.

    Args:
        validated: a frame with ``_errors``.
        rules: the rules it was validated with.
        samples: how many findings are kept per rule and component.
        series: how many series are listed, those with the most findings first.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    need_errors(validated.columns, "reporting on a frame")
    was_cached = validated.is_cached
    if not was_cached:
        validated.persist()
    try:
        return _report(validated, rules, samples, series)
    finally:
        if not was_cached:
            validated.unpersist()


def _report(validated: DataFrame, rules: Rules, samples: int, series: int) -> Report:
    ready = prepared(validated.drop(ERRORS), rules)
    keys = joined([ready.texts[one] for one in rules.series if one in ready.texts])
    long = validated.filter(F.col(ERRORS).isNotNull()).select(keys.alias("series"), F.explode(ERRORS).alias("one"))
    long = long.select("series", "one.*")
    by = ["rule", "component", "severity"]
    totals = validated.agg(F.count("*").alias("rows"), F.count(ERRORS).alias("bad")).first()
    assert totals is not None  # noqa: S101 - an aggregate has one row
    counts = long.groupBy(*by).count().orderBy(*by).collect()
    worst = long.groupBy("series").count().orderBy(F.desc("count"), "series").limit(series).collect()
    order = Window.partitionBy(*by).orderBy("value", "series")
    kept = long.distinct().withColumn("number", F.row_number().over(order)).filter(F.col("number") <= samples)
    return Report(
        artefact=rules.artefact,
        version=rules.version,
        rows=totals["rows"],
        bad_rows=totals["bad"],
        counts={(row["rule"], row["component"], row["severity"]): row["count"] for row in counts},
        by_series={row["series"]: row["count"] for row in worst},
        samples=tuple(
            Sample(row["series"], Finding(*(row[field] for field in FIELDS)))
            for row in kept.orderBy(*by, "value", "series").collect()
        ),
        dataset=(*ready.bound.findings, *whole_findings(ready)),
        unchecked=ready.bound.unchecked,
    )
