"""Options of jobs in the form in which they are written on a command line or in a URL."""

from __future__ import annotations

from collections.abc import Iterable
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from kafka_replica.errors import MissingExtraError, UsageError

FINDINGS_FORMATS: Final = (".csv", ".jsonl", ".parquet", ".xlsx")
"""The extensions of files with tables of findings."""


REPORT_FORMATS: Final = (".html", ".json", ".ess.json")
"""The suffixes of report files: an HTML page, JSON, and JSON in the format of the European Statistical System."""
ESS: Final = ".ess.json"
"""The suffix of reports in the format of the European Statistical System."""


def check_report_path(path: Path) -> None:
    """Check that the suffix of a path selects a format of reports.

    Raises:
        UsageError: the suffix selects no format.
    """
    if not path.name.lower().endswith(REPORT_FORMATS):
        raise UsageError(f"writing a report to {path}: its name must end with one of {', '.join(REPORT_FORMATS)}")


def check_findings_path(path: Path) -> None:
    """Check that the extension of a path selects a format of findings tables that can be written.

    Raises:
        UsageError: the extension selects no format.
        MissingExtraError: the library for workbooks is not installed.
    """
    if path.suffix.lower() not in FINDINGS_FORMATS:
        raise UsageError(f"writing findings to {path}: its extension must be one of {', '.join(FINDINGS_FORMATS)}")
    if path.suffix.lower() == ".xlsx" and find_spec("xlsxwriter") is None:
        raise MissingExtraError("writing findings to a workbook", "xlsx")


def severities_of(texts: Iterable[str], option: str) -> dict[str, str] | None:
    """Return severities by rule, from texts such as ``decimals=warning``; None if there are no texts.

    Args:
        texts: the texts.
        option: the name of the option, for errors.

    Raises:
        UsageError: a text does not have this form.
    """
    found: dict[str, str] = {}
    for text in texts:
        rule, equals, severity = text.partition("=")
        if not equals:
            raise UsageError(f"{option} {text!r}: use RULE=off, RULE=warning, RULE=error or RULE=information")
        found[rule.strip()] = severity.strip()
    return found or None
