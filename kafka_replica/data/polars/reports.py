"""Findings combined into reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from kafka_replica.data.mapping import MapPlan
from kafka_replica.data.polars.cross_row import extents
from kafka_replica.data.polars.frames import as_frame
from kafka_replica.data.polars.rows import Prepared, joined, prepared
from kafka_replica.data.validation import report_building
from kafka_replica.data.validation.model import ERRORS, FIELDS, Finding, Rules
from kafka_replica.data.validation.report import Report
from kafka_replica.data.validation.report_building import KINDS, ORDER, SERIES, report_of
from kafka_replica.data.validation.requests import need_errors


def dataset_findings(frame: Any, rules: Rules) -> tuple[Finding, ...]:
    """Return the findings about the data set as a whole: its columns, and attributes that describe all of it."""
    return _about_all(prepared(as_frame(frame), rules))


def report(validated: pl.DataFrame, rules: Rules, *, samples: int = 5, series: int = 20) -> Report:
    """Count the findings of :func:`kafka_replica.data.polars.validate`, and add samples and the data set's findings.

    Args:
        validated: a frame with ``_errors``.
        rules: the rules that it was validated with.
        samples: how many findings are kept per rule and component.
        series: how many series are listed, those with the most findings first.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    need_errors(validated.columns, "reporting on a frame")
    rows = prepared(validated.select(pl.exclude(ERRORS)), rules)
    keys = [pl.col(one) for one in rules.series if one in validated.columns]
    found = _Findings(rows.texts.select(joined(keys).alias(SERIES), validated[ERRORS]))
    return report_of(
        rules.artefact, rules.version, found, _about_all(rows), rows.bound.unchecked, samples=samples, series=series
    )


def map_report(mapped: pl.DataFrame, plan: MapPlan) -> Report:
    """Count the findings of :func:`kafka_replica.data.polars.transform`, and add samples."""
    found = _Findings(mapped.select(pl.lit(None, pl.String).alias(SERIES), ERRORS))
    return report_of(plan.artefact, plan.version, found, (), plan.notes)


def _about_all(rows: Prepared) -> tuple[Finding, ...]:
    return report_building.dataset_findings(rows.bound, extents(rows))


class _Findings:
    """The findings in a frame with the columns ``SERIES`` and ``ERRORS``; see :class:`report_building.FindingTable`."""

    def __init__(self, frame: pl.DataFrame) -> None:
        self._totals = frame.height, frame.height - frame[ERRORS].null_count()
        self._long = frame.drop_nulls(ERRORS).explode(ERRORS).unnest(ERRORS)

    def totals(self) -> tuple[int, int]:
        return self._totals

    def counts(self) -> Iterable[tuple[str, str | None, str, int]]:
        return self._long.group_by(KINDS).len().iter_rows()

    def worst_series(self, most: int) -> Iterable[tuple[str, int]]:
        counted = self._long.group_by(SERIES).len()
        return counted.sort(["len", SERIES], descending=[True, False]).head(most).iter_rows()

    def samples(self, most: int) -> Iterable[tuple[str | None, ...]]:
        ordered = self._long.unique([SERIES, *FIELDS]).sort(ORDER)
        return ordered.group_by(KINDS, maintain_order=True).head(most).select(SERIES, *FIELDS).iter_rows()
