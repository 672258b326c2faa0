"""The report of validated or mapped data as a page: findings by rule, with what breaks it and an example."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.data.jobs import Outcome
from kafka_replica.data.validation import Report
from kafka_replica.data.validation.catalogue import CATALOGUE, SEVERITIES
from kafka_replica.data.validation.locations import Location
from kafka_replica.data.validation.model import Finding
from kafka_replica.server.pages.links import Links

_SERIES: Final = 20


def report_context(outcome: Outcome, links: Links) -> dict[str, Any]:
    """Return the values of the template.

    Args:
        outcome: the outcome of the job.
        links: the addresses of pages of the version that was used.
    """
    report = outcome.report
    return {
        "outcome": outcome,
        "report": report,
        "artefact_link": links.artefact(report.artefact),
        "others": [(str(urn), count) for urn, count in outcome.others.items()],
        "rules": _of_rules(report),
        "examples": [_example(one.finding, one.series, one.location) for one in report.samples],
        "series": list(report.by_series.items())[:_SERIES],
    }


def _of_rules(report: Report) -> list[dict[str, Any]]:
    """Return a row for each rule, component and severity: the most severe first, then the most frequent."""
    first = {(one.finding.rule, one.finding.component, one.finding.severity): one for one in reversed(report.samples)}
    rows = [
        {**_row(one.severity, one.rule, one.component), "findings": "data set", "example": _example(one, None)}
        for one in report.dataset
    ]
    counted = sorted(
        report.counts.items(), key=lambda item: (SEVERITIES.index(item[0][2]), -item[1], item[0][0], item[0][1] or "")
    )
    for key, count in counted:
        rule, component, severity = key
        sample = first.get(key)
        example = None if sample is None else _example(sample.finding, sample.series, sample.location)
        rows.append({**_row(severity, rule, component), "findings": f"{count:,}", "example": example})
    return rows


def _row(severity: str, rule: str, component: str | None) -> dict[str, Any]:
    info = CATALOGUE.get(rule)
    return {"severity": severity, "rule": rule, "component": component or "", "broken": info.broken if info else ""}


def _example(finding: Finding, series: str | None, location: Location | None = None) -> dict[str, Any]:
    return {
        "severity": finding.severity, "rule": finding.rule, "component": finding.component or "",
        "series": series or "", "value": "" if finding.value is None else str(finding.value),
        "message": finding.message, "location": "" if location is None else str(location),
    }  # fmt: skip
