"""The answers to validation and mapping: the report as JSON, CSV or HTML, mapped rows, or all files as ZIP."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterable, Iterator
from io import StringIO
from pathlib import Path
from typing import Final

from kafka_replica.common.wording import encodable
from kafka_replica.data.jobs import Outcome, report_page
from kafka_replica.data.validation import Report
from kafka_replica.server.data.content import Content
from kafka_replica.server.data.processing import FINDINGS

SDMX_CSV: Final = "application/vnd.sdmx.data+csv;version=2.0.0"
_JSON: Final = "application/json"
_ZIP: Final = "application/zip"

ROW_HEADERS: Final = ("Kafka-Replica-Good-Rows", "Kafka-Replica-Rejected-Rows", "Kafka-Replica-Other-Rows")
"""The headers with the numbers of rows that were accepted, rejected and left out."""
REPORT_FORMATS: Final = {
    "json": (_JSON,), "csv": ("text/csv",), "html": ("text/html", "application/xhtml+xml"), "zip": (_ZIP,),
}  # fmt: skip
"""The formats of a validation's answer, the default first, with their media types."""
MAP_FORMATS: Final = {
    "csv": ("application/vnd.sdmx.data+csv", "text/csv"), "json": (_JSON,),
    "html": ("text/html", "application/xhtml+xml"), "zip": (_ZIP,),
}  # fmt: skip
"""The formats of a mapping's answer, the default first, with their media types."""


def validation_answer(outcome: Outcome, out: Path, format_name: str) -> Content:
    """Return the answer to a validation whose files are in the folder ``out``."""
    if format_name == "csv":
        return Content("text/csv; charset=utf-8", report_csv(outcome.report).encode(), headers=_counts(outcome))
    return _common_answer(outcome, out, format_name)


def map_answer(outcome: Outcome, out: Path, format_name: str) -> Content:
    """Return the answer to a mapping whose files are in the folder ``out``."""
    if format_name == "csv":
        return Content(SDMX_CSV, out / "good.csv", headers=_counts(outcome))
    return _common_answer(outcome, out, format_name)


def report_json(outcome: Outcome) -> bytes:
    """Return the report as the commands write it to ``report.json``."""
    return (json.dumps(outcome.as_json(), indent=2, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def report_csv(report: Report) -> str:
    """Return a report as CSV, with a line for each severity, rule and component that contains their first sample."""
    text = StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    writer.writerow(
        ("severity", "rule", "component", "findings", "artefact", "series", "value", "message", "line", "row", "path")
    )
    writer.writerows(_report_rows(report))
    return encodable(text.getvalue())


def zip_of(path: Path, files: Iterable[tuple[str, Path | bytes]]) -> Path:
    """Write files, given as pairs of name and content, to a ZIP archive; return its path."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in files:
            if isinstance(content, Path):
                archive.write(content, name)
            else:
                archive.writestr(name, content)
    return path


def _common_answer(outcome: Outcome, out: Path, format_name: str) -> Content:
    if format_name == "json":
        return Content(_JSON, report_json(outcome), headers=_counts(outcome))
    if format_name == "html":
        return Content("text/html; charset=utf-8", report_page(outcome).encode(), headers=_counts(outcome))
    files: list[tuple[str, Path | bytes]] = [("report.json", report_json(outcome))]
    files += [(name, out / name) for name in ("good.csv", "rejected.csv", FINDINGS)]
    return Content(_ZIP, zip_of(out / "files.zip", files), headers=_counts(outcome))


def _counts(outcome: Outcome) -> dict[str, str]:
    counts = outcome.good_rows, outcome.rejected_rows, outcome.other_rows
    return {name: str(count) for name, count in zip(ROW_HEADERS, counts, strict=True)}


def _report_rows(report: Report) -> Iterator[tuple[object, ...]]:
    for each in report.dataset:
        finding = each.severity, each.rule, each.component, "data set", each.artefact, None, each.value, each.message
        yield *finding, None, None, None
    # Reversed, so that the first sample of each group remains.
    first = {(each.finding.rule, each.finding.component, each.finding.severity): each for each in report.samples[::-1]}
    for (rule, component, severity), count in sorted(report.counts.items(), key=lambda item: (-item[1], item[0][0])):
        sample = first.get((rule, component, severity))
        found = sample and sample.finding
        yield (
            severity, rule, component, count, found and found.artefact, sample and sample.series,
            found and found.value, found and found.message, sample and sample.location.line,
            sample and sample.location.row, sample and sample.location.path,
        )  # fmt: skip
