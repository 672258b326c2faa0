"""Reports in the form of the European Statistical System (ESS).

Source: ESSnet ValiDat Integration, "A generic validation report structure", and its JSON schema
``validation_report_1.0.1.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import polars as pl

from kafka_replica.common.wording import reason_of
from kafka_replica.data.validation import CATALOGUE, Report, Rules
from kafka_replica.errors import UsageError

LANGUAGE: Final = "kafka-replica"
"""The language of the rules in a report: rules are named, and described by texts."""
_OF_RULES: Final = ["rule", "component", "severity", "message", "artefact"]
"""The columns of the table of findings that have one value for all findings of a check."""
_ESCAPES: Final = {'"': '\\"', "\\": "\\\\", **{chr(code): f"\\u{code:04x}" for code in range(32)}}
_ROWS: Final = 50_000


def write_ess_report(
    path: Path, table: pl.DataFrame | Iterable[pl.DataFrame], report: Report, rules: Rules | None = None
) -> None:
    """Write a report as an array of JSON objects: a validation for each finding, then for each rule that was kept.

    The value of a validation is "0" for a finding, "1" for a rule without findings, "NA" for what was not checked.
    Then each rule has an aggregation with the number of its findings. Data is identified by artefact, time, series and
    component; null is all of them.

    Args:
        path: the file; an existing one is replaced.
        table: the table of findings, or tables that follow each other.
        report: the report of the same findings.
        rules: the rules of the data; None if there is no list of all rules, as for maps.

    Raises:
        UsageError: the file cannot be written.
    """
    event = {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "actor": f"kafka-replica {version('kafka-replica')}",
    }
    others = [
        *_kept(report, rules, event), *_unchecked(report, rules, event), *_aggregations(report, event),
    ]  # fmt: skip
    try:
        with path.open("wb") as file:
            file.write(b"[")
            separator = b"\n"
            for part in _numbered(table):
                file.write(separator + ",\n".join(_findings(part, report, event)).encode())
                separator = b",\n"
            for one in others:
                file.write(separator + json.dumps(one, ensure_ascii=False).encode(errors="backslashreplace"))
                separator = b",\n"
            file.write(b"\n]\n")
    except OSError as error:
        raise UsageError(f"writing the report to {path}: {reason_of(error)}") from error


def _numbered(table: pl.DataFrame | Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
    """Yield findings with their numbers, not too many at a time."""
    offset = 1
    for one in [table] if isinstance(table, pl.DataFrame) else table:
        yield from one.with_row_index("number", offset=offset).iter_slices(_ROWS)
        offset += one.height


def _findings(table: pl.DataFrame, report: Report, event: dict[str, str]) -> pl.Series:
    """Return the validations of findings, as texts.

    What all findings of a rule have in common is written once, because a report may have millions of them.
    """
    kinds = table.select(_OF_RULES).unique()
    texts = [_rule_json(kind, event) for kind in kinds.iter_rows()]
    rules = kinds.with_columns(rule_json=pl.Series(texts, dtype=pl.String))
    rows = table.join(rules, on=_OF_RULES, how="left", nulls_equal=True, maintain_order="left")
    key = [_json_text(one) for one in (pl.lit(str(report.artefact)), *map(pl.col, ("time", "series", "component")))]
    keys = pl.concat_str(pl.lit("[["), pl.concat_str(key, separator=","), pl.lit("]]"))
    parts = [
        pl.lit('{"id":"finding-'), pl.col("number"), pl.lit('",'), pl.col("rule_json"), pl.lit(',"data":{"source":'),
        pl.col("key"), pl.lit(',"target":'), pl.col("key"), pl.lit(',"description":'), pl.col("place"),
        pl.lit('},"value":"0"}'),
    ]  # fmt: skip
    return rows.with_columns(key=keys, place=_json_text(_described())).select(pl.concat_str(parts)).to_series()


def _rule_json(kind: tuple[str | None, ...], event: dict[str, str]) -> str:
    """Return the members of a validation that do not depend on the row, as JSON without braces."""
    rule, component, severity, message, artefact = kind
    members = {
        "type": "validation",
        "event": event,
        "rule": {
            "language": LANGUAGE,
            "expression": rule if component is None else f"{rule} {component}",
            "severity": severity,
            "description": message,
            "explanation": f"defined by {artefact}",
        },
    }
    return json.dumps(members, ensure_ascii=False)[1:-1]


def _described() -> pl.Expr:
    """Return the location of a finding and its value: ``data.csv, line 6: X``."""
    line, row = pl.format("line {}", "line"), pl.format("row {}", "row")
    place = pl.concat_str(pl.col("file"), pl.coalesce(line, row), separator=", ", ignore_nulls=True)
    return pl.concat_str(place, pl.col("value"), separator=": ", ignore_nulls=True)


def _json_text(text: pl.Expr) -> pl.Expr:
    """Return a text as JSON; null if there is none."""
    escaped = text.str.replace_many(_ESCAPES)
    return pl.concat_str(pl.lit('"'), escaped, pl.lit('"')).fill_null("null")


def _kept(report: Report, rules: Rules | None, event: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the validations of rules without findings."""
    if rules is None:
        return
    found = {(rule, component) for rule, component, _ in report.counts}
    found |= {(one.rule, one.component) for one in report.dataset}
    checks: Iterable[Any] = (*rules.checks, *rules.keys, *rules.levels)
    kept = {(one.rule, getattr(one, "component", None)): one.severity for one in checks}
    for number, ((rule, component), severity) in enumerate(kept.items(), 1):
        if (rule, component) not in found:
            yield _validation(f"kept-{number}", report, event, rule, component, severity, "1", CATALOGUE[rule].broken)


def _unchecked(report: Report, rules: Rules | None, event: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the validations of demands that were not checked, and of rules that were switched off."""
    for number, sentence in enumerate(report.unchecked, 1):
        yield _validation(f"unchecked-{number}", report, event, "not checked", None, "information", "NA", sentence)
    off = [] if rules is None else [code for code in CATALOGUE if rules.severity(code) is None]
    for code in off:
        yield _validation(f"off-{code}", report, event, code, None, "information", "NA", "the rule was switched off")


def _validation(
    id_: str, report: Report, event: dict[str, str], rule: str, component: str | None, severity: str, value: str,
    description: str,
) -> dict[str, Any]:  # fmt: skip
    key = [[str(report.artefact), None, None, component]]
    said = description if value == "NA" else f"broken when {description}"
    return {
        "id": id_,
        "type": "validation",
        "event": event,
        "rule": {
            "language": LANGUAGE,
            "expression": rule if component is None else f"{rule} {component}",
            "severity": severity,
            "description": said,
        },
        "data": {"source": key, "target": key},
        "value": value,
    }


def _aggregations(report: Report, event: dict[str, str]) -> Iterator[dict[str, Any]]:
    for number, ((rule, component, severity), count) in enumerate(report.counts.items(), 1):
        key = [[str(report.artefact), None, None, component]]
        yield {
            "id": f"count-{number}",
            "type": "aggregation",
            "event": event,
            "aggregate": {
                "language": LANGUAGE,
                "expression": f"count {rule}" if component is None else f"count {rule} {component}",
                "description": f"the number of findings with severity {severity}",
            },
            "data": {"source": key, "target": key},
            "value": str(count),
        }
