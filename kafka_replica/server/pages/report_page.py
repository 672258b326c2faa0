"""The page with the report of validated or mapped data: findings by rule, with a description and an example."""

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
    """Return the values for the template.

    Args:
        outcome: the outcome of the job.
        links: the links, pinned to the version that the job used.
    """
    report = outcome.report
    return {
        "outcome": outcome,
        "report": report,
        "artefact_link": links.artefact(report.artefact),
        "others": [(str(urn), count) for urn, count in outcome.others.items()],
        "rules": _rule_rows(report),
        "examples": [_example(each.finding, each.series, each.location) for each in report.samples],
        "series": list(report.by_series.items())[:_SERIES],
    }


def _rule_rows(report: Report) -> list[dict[str, Any]]:
    """Return a row for each rule, component and severity: findings of the whole data set first, then the most severe.

    Rows of the same severity are sorted by the number of findings.
    """
    first = {(each.finding.rule, each.finding.component, each.finding.severity): each for each in report.samples[::-1]}
    rows = [
        {**_row(each.severity, each.rule, each.component), "findings": "data set", "example": _example(each, None)}
        for each in report.dataset
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
