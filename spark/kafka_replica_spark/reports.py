"""Reports of findings that Spark aggregates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import Column, DataFrame, Row, Window
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.data.mapping import MapPlan
from kafka_replica.data.validation import report_building
from kafka_replica.data.validation.arguments import check_has_errors
from kafka_replica.data.validation.model import ERRORS, FIELDS, Finding, Rules
from kafka_replica.data.validation.report import Report
from kafka_replica.data.validation.report_building import KINDS, ORDER, SERIES, report_of
from kafka_replica_spark.caching import cache_rows
from kafka_replica_spark.cross_row import extents
from kafka_replica_spark.finding_tables import series_and_period, series_key
from kafka_replica_spark.rows import PreparedFrame, prepare_frame

_SERIES: Final = 20
"""The number of series in the report of a job."""


def dataset_findings(df: DataFrame, rules: Rules) -> tuple[Finding, ...]:
    """Return the findings about the data set as a whole: about its columns, and its attributes at data set level.

    This reads the frame once if the structure has such attributes, or if only rows with some actions need a missing
    column.
    """
    return _about_all(prepare_frame(df, rules))


def report(validated: DataFrame, rules: Rules, *, samples: int = 5, series: int = 20) -> Report:
    """Return a report on the result of :func:`validate`.

    It has the numbers of findings, samples, and the findings about the data set as a whole. The frame is cached during
    the call, unless it is already cached.

    Args:
        validated: a frame with ``_errors``.
        rules: the rules that the frame was validated with.
        samples: the maximum number of sample findings for each rule, component and severity.
        series: the maximum number of series that are listed, those with the most findings first.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    check_has_errors(validated.columns, "reporting on a frame")
    with _cached(validated):
        rows = prepare_frame(validated.drop(ERRORS), rules)
        found = _Findings(validated, series_key(rows.texts, rules, validated.columns))
        return report_of(
            rules.artefact, rules.version, found, _about_all(rows), rows.bound.unchecked, samples=samples, series=series
        )


def job_report(found: DataFrame, rows: int, plan: MapPlan, rules: Rules) -> Report:
    """Return a report on a job that maps data.

    Args:
        found: the source rows with findings, and their ``_errors``.
        rows: the number of source rows.
        plan: the plan.
        rules: the rules of the source rows.
    """
    findings = _Findings(found, series_and_period(found, rules)[0], rows)
    return report_of(plan.artefact, plan.version, findings, (), plan.notes, series=_SERIES)


def map_report(mapped: DataFrame, plan: MapPlan) -> Report:
    """Return a report on the result of ``transform``; the frame is cached as in :func:`report`."""
    with _cached(mapped):
        return report_of(plan.artefact, plan.version, _Findings(mapped, F.lit(None).cast("string")), (), plan.notes)


@contextmanager
def _cached(df: DataFrame) -> Iterator[None]:
    was_cached = df.is_cached
    if not was_cached:
        cache_rows(df)
    try:
        yield
    finally:
        if not was_cached:
            df.unpersist()


def _about_all(rows: PreparedFrame) -> tuple[Finding, ...]:
    return report_building.dataset_findings(rows.bound, extents(rows))


class _Findings:
    """The findings in a frame, with the series of its rows; see :class:`report_building.FindingTable`.

    ``rows`` is the number of all rows if the frame lacks rows without findings.
    """

    def __init__(self, df: DataFrame, series: Column, rows: int | None = None) -> None:
        self._df, self._rows = df, rows
        long = df.filter(F.col(ERRORS).isNotNull()).select(series.alias(SERIES), F.explode(ERRORS).alias("one"))
        self._long = long.select(SERIES, "one.*")

    def totals(self) -> tuple[int, int]:
        rows, bad_rows = self._df.agg(F.count("*"), F.count(ERRORS)).collect()[0]
        return rows if self._rows is None else self._rows, bad_rows

    def counts(self) -> Iterable[Row]:
        return self._long.groupBy(*KINDS).count().collect()

    def worst_series(self, most: int) -> Iterable[Row]:
        found = self._long.filter(F.col(SERIES).isNotNull()).groupBy(SERIES).count()
        return found.orderBy(F.desc("count"), SERIES).limit(most).collect()

    def samples(self, most: int) -> Iterable[Row]:
        order = Window.partitionBy(*KINDS).orderBy(*ORDER)
        kept = self._long.distinct().withColumn("number", F.row_number().over(order)).filter(F.col("number") <= most)
        return kept.orderBy(*ORDER).select(SERIES, *FIELDS).collect()
