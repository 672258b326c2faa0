"""Write reports in the format of the European Statistical System (ESS).

Source: ESSnet ValiDat Integration, "A generic validation report structure", and its JSON schema
``validation_report_1.0.1.json``.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from kafka_replica.common.wording import reason_of
from kafka_replica.data.validation import CATALOGUE, Report, Rules
from kafka_replica.errors import UsageError

LANGUAGE: Final = "kafka-replica"
"""The ``language`` of the rules in a report, whose expressions are names of rules and not a formal language."""
OF_RULES: Final = ["rule", "component", "severity", "message", "artefact"]
"""The columns of the table of findings that have the same value in all findings of a check."""


def event_now() -> dict[str, str]:
    """Return the ``event`` of all objects of a report: the current time in UTC, and this program with its version."""
    return {
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "actor": f"kafka-replica {version('kafka-replica')}",
    }


def write_objects(
    path: Path, findings: Iterable[Iterable[str]], report: Report, rules: Rules | None, event: dict[str, str]
) -> None:
    """Write a report as an array of JSON objects.

    There is a validation for each finding (value "0"), for each rule without findings (value "1"), and for each
    requirement that was not checked (value "NA"). They are followed by an aggregation with the number of findings for
    each rule with findings. Data is identified by artefact, time, series and component, where null means all.

    Args:
        path: the file, which is replaced if it exists.
        findings: the validations of findings as JSON texts, in blocks.
        report: the report of the same findings.
        rules: the rules of the data; None if there is no list of all rules, as for maps.
        event: the event of all objects.

    Raises:
        UsageError: the file cannot be written.
    """
    others = [
        *_kept(report, rules, event), *_unchecked(report, rules, event), *_aggregations(report, event),
    ]  # fmt: skip
    try:
        with path.open("wb") as file:
            file.write(b"[")
            separator = b"\n"
            for block in findings:
                file.write(separator + ",\n".join(block).encode(errors="backslashreplace"))
                separator = b",\n"
            for other in others:
                file.write(separator + json.dumps(other, ensure_ascii=False).encode(errors="backslashreplace"))
                separator = b",\n"
            file.write(b"\n]\n")
    except OSError as error:
        raise UsageError(f"writing the report to {path}: {reason_of(error)}") from error


def finding_json(
    number: int, rule: str, report: Report, key: Sequence[str | None], place: str | None, value: str | None
) -> str:
    """Return the validation of a finding as JSON.

    Args:
        number: the number of the finding, counted from 1.
        rule: the members that :func:`rule_json` returns.
        report: the report.
        key: the period, the series and the component.
        place: the location of the row; None if it is unknown.
        value: the wrong value; None if there is none.
    """
    data = _json([[str(report.artefact), *key]])
    described = [one for one in (place, value) if one is not None]
    description = _json(": ".join(described) if described else None)
    where = f'{{"source":{data},"target":{data},"description":{description}}}'
    return f'{{"id":"finding-{number}",{rule},"data":{where},"value":"0"}}'


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def rule_json(kind: Sequence[str | None], event: dict[str, str]) -> str:
    """Return the members of a validation that do not depend on the row, as JSON without braces.

    Args:
        kind: the values of the columns ``OF_RULES``.
        event: the event of all objects.
    """
    rule, component, severity, message, artefact = kind
    members = {
        "type": "validation",
        "event": event,
        "rule": _rule(rule, component, severity, message) | {"explanation": f"defined by {artefact}"},
    }
    return json.dumps(members, ensure_ascii=False)[1:-1]


def _rule(rule: str | None, component: str | None, severity: str | None, description: str | None) -> dict[str, Any]:
    return {
        "language": LANGUAGE,
        "expression": rule if component is None else f"{rule} {component}",
        "severity": severity,
        "description": description,
    }


def _kept(report: Report, rules: Rules | None, event: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the validations of rules without findings."""
    if rules is None:
        return
    found = {(rule, component) for rule, component, _ in report.counts}
    found |= {(one.rule, one.component) for one in report.dataset}
    checks: Iterable[Any] = (*rules.checks, *rules.keys, *rules.levels)
    kept = {(check.rule, getattr(check, "component", None)): check.severity for check in checks}
    for number, ((rule, component), severity) in enumerate(kept.items(), 1):
        if (rule, component) not in found:
            yield _validation(f"kept-{number}", report, event, rule, component, severity, "1", CATALOGUE[rule].broken)


def _unchecked(report: Report, rules: Rules | None, event: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the validations of requirements that were not checked, and of rules that were switched off."""
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
    meaning = description if value == "NA" else f"broken when {description}"
    return {
        "id": id_,
        "type": "validation",
        "event": event,
        "rule": _rule(rule, component, severity, meaning),
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
