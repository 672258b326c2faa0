"""Findings combined into reports."""

from __future__ import annotations

from typing import Any

import polars as pl

from kafka_replica.data.polars.cross_row import whole_findings
from kafka_replica.data.polars.frames import as_frame
from kafka_replica.data.polars.rows import joined, prepared
from kafka_replica.data.validation.model import ERRORS, FIELDS, Finding, Rules
from kafka_replica.data.validation.report import Report, Sample
from kafka_replica.data.validation.requests import need_errors


def dataset_findings(frame: Any, rules: Rules) -> tuple[Finding, ...]:
    """Return the findings about the data set as a whole: its columns, and attributes that describe all of it."""
    df = as_frame(frame)
    ready = prepared(df, rules)
    return (*ready.bound.findings, *whole_findings(ready))


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
    keys = [one for one in rules.series if one in validated.columns]
    ready = prepared(validated.select(pl.exclude(ERRORS)), rules)
    long = (
        ready.texts.select(joined([pl.col(one) for one in keys]).alias("series"), validated[ERRORS])
        .filter(pl.col(ERRORS).is_not_null())
        .explode(ERRORS)
        .unnest(ERRORS)
    )
    by = ["rule", "component", "severity"]
    counts = long.group_by(by).len().sort([*by, "len"])
    by_series = long.group_by("series").len().sort(["len", "series"], descending=[True, False]).head(series)
    kept = long.unique(["series", *FIELDS], maintain_order=True).sort([*by, "value", "series"])
    kept = kept.group_by(by, maintain_order=True).head(samples)
    return Report(
        artefact=rules.artefact,
        version=rules.version,
        rows=validated.height,
        bad_rows=validated.height - validated[ERRORS].null_count(),
        counts={(rule, component, severity): count for rule, component, severity, count in counts.iter_rows()},
        by_series=dict(by_series.iter_rows()),
        samples=tuple(
            Sample(row["series"], Finding(*(row[field] for field in FIELDS))) for row in kept.iter_rows(named=True)
        ),
        dataset=(*ready.bound.findings, *whole_findings(ready)),
        unchecked=ready.bound.unchecked,
    )
