"""Validation as in Fusion Metadata Registry (FMR): its request headers, and its report as JSON.

Source: FMR Knowledge Base, "Data Validation Web Service" and "Error Codes"; the names in the report are those that
public clients read.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from kafka_replica.data.files.record_limit import LONGEST_RECORD_BYTES
from kafka_replica.data.jobs import Outcome
from kafka_replica.data.validation import Rules
from kafka_replica.data.validation.catalogue import CATALOGUE
from kafka_replica.data.validation.model import Finding
from kafka_replica.errors import UsageError
from kafka_replica.server.data.answers import zip_of
from kafka_replica.server.data.content import Content
from kafka_replica.server.data.options import DataOptions
from kafka_replica.server.data.processing import ProcessingResult

REQUEST_HEADERS: Final = ("Structure", "Inc-Metrics", "Inc-Valid", "Inc-Invalid")
"""The headers of a request that are read."""
_TYPES: Final = {"attribute-missing": "MandatoryAttributes", "column-unknown": "FormatSpecific"}
_FORMATS: Final = {
    "sdmx-csv": "SDMX-CSV",
    "csv": "CSV",
    "xml": "SDMX-ML",
    "json": "SDMX-JSON",
    "edi": "SDMX-EDI",
    "xlsx": "XLSX",
}


class FmrRequest(NamedTuple):
    """The validation, and the parts of its answer, that the headers of a request ask for."""

    options: DataOptions
    with_metrics: bool
    with_valid: bool
    with_invalid: bool


def fmr_request(headers: Mapping[str, str]) -> FmrRequest:
    """Parse the headers of a request; ``Accept``, ``Data-Format`` and unknown headers are ignored.

    Args:
        headers: the headers, by name in lower case.

    Raises:
        UsageError: ``Structure`` names several structures, or another header is neither true nor false.
    """
    structure = headers.get("structure", "").strip()
    if "," in structure:
        raise UsageError("the header Structure names several structures; send one request for each")
    metrics, valid, invalid = (_is_true(headers, name) for name in REQUEST_HEADERS[1:])
    return FmrRequest(DataOptions(structure=structure or None, keeps_layout=False), metrics, valid, invalid)


def fmr_answer(request: FmrRequest, processed: ProcessingResult, data: Path, out: Path) -> Content:
    """Return the report, or an archive of the report and the requested data.

    Args:
        request: the request.
        processed: the result of the validation.
        data: the validated file.
        out: the folder with the good and rejected rows.
    """
    body = json.dumps(_report(request, processed, data, out), ensure_ascii=False).encode(errors="backslashreplace")
    files = {
        "ValidData.csv": (request.with_valid, "good.csv"),
        "InvalidData.csv": (request.with_invalid, "rejected.csv"),
    }
    wanted = [(name, out / file) for name, (is_wanted, file) in files.items() if is_wanted]
    if not wanted:
        return Content("application/json", body)
    return Content("application/zip", zip_of(out / "files.zip", [("ValidationReport.json", body), *wanted]))


def fmr_error(status: int, text: str) -> Content:
    """Return the answer to a request whose data could not be validated."""
    return Content("application/json", json.dumps({"Status": "Error", "Errors": True, "Error": text}).encode(), status)


def _is_true(headers: Mapping[str, str], name: str) -> bool:
    value = headers.get(name.lower(), "false").strip().lower()
    if value not in {"true", "false"}:
        raise UsageError(f"the header {name} is true or false, not {value!r}")
    return value == "true"


def _report(request: FmrRequest, processed: ProcessingResult, data: Path, out: Path) -> dict[str, Any]:
    outcome, rules = processed
    keys = _Keys(rules, outcome.report.rows)
    invalid = keys.read(out / "rejected.csv")
    valid = keys.read(out / "good.csv") - invalid
    report = _errors_by_type(outcome)
    dataset: dict[str, Any] = {
        "DSD": str(rules.structure),
        **({rules.artefact.cls: str(rules.artefact)} if rules.artefact != rules.structure else {}),
        "KeysCount": len(valid | invalid),
        "ObsCount": outcome.report.rows,
        "Errors": not outcome.report.is_valid,
        "ReportedPeriods": keys.periods,
        "ValidationReport": report,
    }
    if request.with_metrics:
        dataset["Metrics"] = {
            "ValidSeries": len(valid), "InvalidSeries": len(invalid),
            "ValidObservations": outcome.good_rows, "InvalidObservations": outcome.rejected_rows,
        }  # fmt: skip
    return {
        "Status": "Complete",
        "Errors": not outcome.report.is_valid,
        "FileFormat": _format_of(data),
        "Datasets": [dataset],
    }


def _format_of(data: Path) -> str:
    kind = data.suffix.removeprefix(".")
    with data.open("rb") as opened:
        is_sdmx = opened.read(64).lstrip(b'\xef\xbb\xbf"').startswith((b"STRUCTURE", b"DATAFLOW"))
    return _FORMATS["sdmx-csv" if kind == "csv" and is_sdmx else kind]


def _errors_by_type(outcome: Outcome) -> list[dict[str, Any]]:
    """Return the errors, grouped by type; warnings are left out, because FMR has none."""
    found: dict[str, list[dict[str, Any]]] = {}
    for finding, series, count in _errors(outcome):
        fmr = CATALOGUE[finding.rule].fmr
        error = {
            "ErrorCode": f"REG-{fmr}" if fmr else "-",
            "Message": finding.message if finding.value is None else f"{finding.message}: {finding.value}",
            "Dataset": 0,
            "ComponentId": finding.component,
            "Position": "Dataset" if count is None else "Observation",
            "Keys": None if series is None else [series],
            "ReportedValue": finding.value,
            "Count": count,
        }
        known = {name: value for name, value in error.items() if value is not None}
        found.setdefault(_TYPES.get(finding.rule, finding.rule), []).append(known)
    return [{"Type": type_, "Errors": errors} for type_, errors in found.items()]


def _errors(outcome: Outcome) -> Iterator[tuple[Finding, str | None, int | None]]:
    """Yield each error with its series and its number of rows; both are None for an error of the whole data set."""
    report = outcome.report
    yield from ((finding, None, None) for finding in report.dataset if finding.severity == "error")
    for sample in report.samples:
        finding = sample.finding
        if finding.severity == "error":
            yield finding, sample.series, report.counts[finding.rule, finding.component, finding.severity]


class _Keys:
    """The series and periods in files of SDMX-CSV 2.0, as this library writes them."""

    def __init__(self, rules: Rules, rows: int) -> None:
        self._series = rules.series
        self._time = next((column.id for column in rules.columns if column.is_time), None)
        self._frequency = rules.frequency or ""
        self._rows = rows
        self.periods: dict[str, dict[str, str]] = {}

    def read(self, path: Path) -> set[tuple[str, ...]]:
        """Return the series in a file, and extend ``periods`` by the file's periods."""
        if not self._rows:
            return set()
        csv.field_size_limit(max(csv.field_size_limit(), LONGEST_RECORD_BYTES))  # of this process
        with path.open(encoding="utf-8", newline="") as opened:
            rows = csv.DictReader(opened)
            return {self._key(row) for row in rows}

    def _key(self, row: Mapping[str, str]) -> tuple[str, ...]:
        period = row.get(self._time or "")
        if period:
            self._extend(row.get(self._frequency) or "-", period)
        return tuple(row.get(dimension) or "" for dimension in self._series)

    def _extend(self, frequency: str, period: str) -> None:
        found = self.periods.setdefault(frequency, {"ReportStart": period, "ReportEnd": period})
        found["ReportStart"], found["ReportEnd"] = min(found["ReportStart"], period), max(found["ReportEnd"], period)
