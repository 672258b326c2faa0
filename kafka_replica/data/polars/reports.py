"""Combine findings into tables and reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import polars as pl

from kafka_replica.data.mapping import MapPlan
from kafka_replica.data.polars.cross_row import attribute_extents
from kafka_replica.data.polars.finding_tables import FindingCounts, RowFindings
from kafka_replica.data.polars.frame_conversion import as_frame
from kafka_replica.data.polars.prepared_frame import PreparedFrame, joined_key, prepare_frame
from kafka_replica.data.validation import report_building
from kafka_replica.data.validation.arguments import check_has_errors
from kafka_replica.data.validation.finding_columns import FINDING_COLUMNS, TIME
from kafka_replica.data.validation.model import ERRORS, FIELDS, Finding, Rules
from kafka_replica.data.validation.report import Report
from kafka_replica.data.validation.report_building import SERIES, report_of


def dataset_findings(frame: Any, rules: Rules) -> tuple[Finding, ...]:
    """Return the findings about the data set as a whole: about its columns, and its attributes at data set level."""
    return _about_all(prepare_frame(as_frame(frame), rules))


def report(validated: pl.DataFrame, rules: Rules, *, samples: int = 5, series: int = 20) -> Report:
    """Return a report on the result of :func:`kafka_replica.data.polars.validate`.

    It has the numbers of findings, samples, and the findings about the data set as a whole.

    Args:
        validated: a frame with ``_errors``.
        rules: the rules that the frame was validated with.
        samples: the maximum number of sample findings for each rule, component and severity.
        series: the maximum number of series that are listed, those with the most findings first.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    return ValidationFindings(validated, rules).report(samples=samples, series=series)


def map_report(mapped: pl.DataFrame, plan: MapPlan) -> Report:
    """Return a report on the result of :func:`kafka_replica.data.polars.transform`: counts and samples of findings."""
    counts = FindingCounts()
    counts.add(RowFindings(mapped.select(pl.lit(None, pl.String).alias(SERIES), ERRORS)))
    return report_of(plan.artefact, plan.version, counts, (), plan.notes)


def finding_table(validated: pl.DataFrame, rules: Rules) -> pl.DataFrame:
    """Return all findings of :func:`kafka_replica.data.polars.validate`, one per row, those of the data set first.

    The columns are ``file, line, row, part, part_row, path, series, time, component, value, rule, message,
    severity, artefact``. Of the location, only ``row`` is known: the number of the row in the frame, counted from 1. It
    is NULL for findings about the data set as a whole.

    Raises:
        UsageError: the frame has no column ``_errors``.
    """
    rows = pl.int_range(1, validated.height + 1, dtype=pl.UInt32, eager=True)
    found = ValidationFindings(validated, rules, pl.DataFrame({"row": rows}))
    return with_dataset_findings(found.rows.table(), found.dataset)


def _about_all(rows: PreparedFrame) -> tuple[Finding, ...]:
    return report_building.dataset_findings(rows.bound, attribute_extents(rows))


class ValidationFindings:
    """The findings of a validated frame, and of the data set as a whole."""

    def __init__(self, validated: pl.DataFrame, rules: Rules, locations: pl.DataFrame | None = None) -> None:
        check_has_errors(validated.columns, "reporting on a frame")
        prepared_rows = prepare_frame(validated.select(pl.exclude(ERRORS)), rules)
        self._rules = rules
        self._unchecked = prepared_rows.bound.unchecked
        self.dataset: Final = _about_all(prepared_rows)
        located = series_and_times(prepared_rows.texts, rules, validated.columns).with_columns(validated[ERRORS])
        self.rows: Final = RowFindings(located if locations is None else locations.hstack(located))

    def report(self, *, samples: int = 5, series: int = 20) -> Report:
        """Return the report."""
        counts = FindingCounts(samples)
        counts.add(self.rows)
        return report_of(
            self._rules.artefact, self._rules.version, counts, self.dataset, self._unchecked,
            samples=samples, series=series,
        )  # fmt: skip


def series_and_times(texts: pl.DataFrame, rules: Rules, columns: Iterable[str]) -> pl.DataFrame:
    """Return the series key and the period of each row, in the columns ``SERIES`` and ``TIME``.

    Args:
        texts: the texts of the components.
        rules: the rules of the rows.
        columns: the columns of the frame.
    """
    given = set(columns)
    time = next((column.id for column in rules.columns if column.is_time and column.id in given), None)
    # A dimension without a column is an empty part of the key, as in a row that lacks its value.
    parts = [pl.col(one) if one in given else pl.lit(None, pl.String) for one in rules.series]
    keys = parts if given.intersection(rules.series) else []
    rows = pl.int_range(pl.len()).alias("__row")  # otherwise a frame of constants would have one row
    period = pl.lit(None, pl.String) if time is None else pl.col(time)
    return texts.select(rows, joined_key(keys).alias(SERIES), period.alias(TIME)).drop("__row")


def with_dataset_findings(table: pl.DataFrame, dataset: Iterable[Finding], file: str | None = None) -> pl.DataFrame:
    """Return a table of findings with those about the data set as a whole, which is in ``file``, before the others."""
    found = pl.DataFrame([one._asdict() for one in dataset], schema=dict.fromkeys(FIELDS, pl.String()))
    whole = found.with_columns(pl.lit(file, pl.String).alias("file"))
    return pl.concat([whole, table], how="diagonal").select(FINDING_COLUMNS)
