"""Write the results of a command on data: files, and output on the terminal."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

from rich.markup import escape
from rich.table import Table

from kafka_replica.cli.console import OutputConsole
from kafka_replica.cli.data_options import DataOptions
from kafka_replica.cli.log_output import log_message
from kafka_replica.cli.output import print_json_line
from kafka_replica.common.wording import counted
from kafka_replica.data.jobs import ESS, Outcome, report_page
from kafka_replica.errors import UsageError

REJECTED_ROWS: Final = 3
"""The exit status if the command succeeded, but the data has more errors than allowed."""
_REPORT, _PICTURE = "report.json", "report.svg"
_WRITTEN: Final = tuple(f"{what}.{kind}" for what in ("good", "rejected", "mapped") for kind in ("csv", "parquet"))
_COLOURS: Final = {"error": "red", "warning": "yellow"}


@contextmanager
def results_folder(folder: Path, *, overwrite: bool, via_temporary: bool) -> Iterator[Path]:
    """Yield the folder to which a run writes; at the end of the run, the results are moved to the final folder.

    Until then, the results of an earlier run remain unchanged, because they may be the input, and the run may fail.

    Args:
        folder: the final folder of the results.
        overwrite: whether results of an earlier run may be replaced.
        via_temporary: whether to use a temporary folder. This is not possible if the engine writes files that this
            process cannot see; the final folder is then used directly.

    Raises:
        UsageError: there are results of an earlier run, and ``overwrite`` is False.
    """
    left = _earlier_results(folder)
    if left and not overwrite:
        raise UsageError(f"writing to {folder}: {left[0].name} already exists; use another folder or --overwrite")
    was_there = folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    if not via_temporary:
        yield folder
        return
    unfinished = folder / f".unfinished-{token_hex(4)}"
    unfinished.mkdir()
    try:
        yield unfinished
        _replace(folder, unfinished)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
        if not was_there and not any(folder.iterdir()):
            folder.rmdir()


@dataclass(frozen=True)
class ResultFiles:
    """The temporary files that a run writes outside its folder, each next to the final file that it will replace.

    Attributes:
        findings: the table of findings.
        reports: the reports.
    """

    findings: Path | None
    reports: tuple[Path, ...]

    @property
    def job_arguments(self) -> dict[str, Any]:
        """Return the files that engines write, as arguments of jobs."""
        return {"findings": self.findings, "ess_reports": tuple(path for path in self.reports if _is_ess(path))}

    def write_reports(self, outcome: Outcome) -> None:
        """Write the reports that are not written by engines."""
        for path in self.reports:
            if path.suffix.lower() == ".html":
                path.write_text(report_page(outcome), "utf-8")
            elif not _is_ess(path):
                path.write_text(_json(outcome), "utf-8")


def _is_ess(path: Path) -> bool:
    return path.name.lower().endswith(ESS)


@contextmanager
def result_files(chosen: DataOptions) -> Iterator[ResultFiles]:
    """Yield temporary files to which a run writes; at the end of the run, they replace the final files.

    Raises:
        UsageError: a final file exists and may not be replaced, or its folder does not exist.
    """
    final = [*([] if chosen.findings is None else [chosen.findings]), *chosen.reports]
    for path in final:
        if path.exists() and not chosen.overwrite:
            raise UsageError(f"writing {path}: the file already exists; use another name or --overwrite")
        if not path.parent.is_dir():
            raise UsageError(f"writing {path}: the folder {path.parent} does not exist; create it or use another")
    unfinished = {path: path.with_name(f".unfinished-{token_hex(4)}-{path.name}") for path in final}
    try:
        yield ResultFiles(
            None if chosen.findings is None else unfinished[chosen.findings],
            tuple(unfinished[path] for path in chosen.reports),
        )
        for path, written in unfinished.items():
            written.replace(path)
    finally:
        for written in unfinished.values():
            written.unlink(missing_ok=True)


def _earlier_results(folder: Path) -> list[Path]:
    return [folder / name for name in (_REPORT, *_WRITTEN, _PICTURE) if (folder / name).exists()]


def _replace(folder: Path, made: Path) -> None:
    """Replace earlier results by those of this run.

    The report is removed first and moved last, so that if it exists, all results are of the same run.
    """
    for path in _earlier_results(folder):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()
    for path in sorted(made.iterdir(), key=lambda one: one.name == _REPORT):
        path.replace(folder / path.name)


def write_report(folder: Path, outcome: Outcome, *, picture: bool) -> None:
    """Write report.json after all other files, so that its existence shows that the run was completed."""
    if picture:
        outcome.report.picture(folder / _PICTURE)
    (folder / _REPORT).write_text(_json(outcome), "utf-8")


def _json(outcome: Outcome) -> str:
    return json.dumps(outcome.as_json(), indent=2, ensure_ascii=False) + "\n"


def exit_status(outcome: Outcome, chosen: DataOptions) -> int:
    """Return the exit status of a completed run: ``REJECTED_ROWS`` if the data has more errors than allowed, else 0."""
    if chosen.fail_on == "never":
        return 0
    severe = {"error"} if chosen.fail_on == "error" else {"error", "warning"}
    is_severe = any(one.severity in severe for one in outcome.report.dataset)
    has_warning = "warning" in severe and any(severity == "warning" for _, _, severity in outcome.report.counts)
    # Computed in decimal arithmetic, because 0.29 * 100 is less than 29 in binary arithmetic.
    allowed = Decimal(str(chosen.max_error_share)) * (outcome.good_rows + outcome.rejected_rows)
    return REJECTED_ROWS if is_severe or has_warning or outcome.rejected_rows > allowed else 0


def print_outcome(outcome: Outcome, chosen: DataOptions) -> None:
    """Print the report as JSON or a summary on stdout, and rows that were left out and notes on stderr."""
    if outcome.other_rows:
        others = ", ".join(map(str, outcome.others))
        log_message(f"kafka-replica: rows left out: {outcome.other_rows:,}, which belong to {others}")
    for note in outcome.notes:
        log_message(f"kafka-replica: note: {note}")
    if chosen.as_json:
        print_json_line(outcome.as_json())
    elif not chosen.quiet:
        print_summary(outcome, chosen)


def print_summary(outcome: Outcome, chosen: DataOptions) -> None:
    """Print the summary on stdout."""
    console = OutputConsole()
    report = outcome.report
    table = Table("severity", "rule", "component", "findings", highlight=False)
    table.columns[-1].justify = "right"
    for (rule, component, severity), count in sorted(report.counts.items(), key=lambda item: (-item[1], item[0][0])):
        table.add_row(severity, rule, component or "", f"{count:,}", style=_COLOURS.get(severity))
    for one in report.dataset:
        table.add_row(one.severity, one.rule, one.component or "", "data set", style=_COLOURS.get(one.severity))
    if table.row_count:
        console.print(table)
    for what in report.unchecked:
        console.print(f"not checked: {escape(what)}", highlight=False)
    console.print(
        f"{report.artefact.reference} in version {report.version}: {counted(report.rows, 'row')}, "
        f"{outcome.good_rows:,} good, {outcome.rejected_rows:,} rejected",
        highlight=False,
    )
    kind = chosen.out_format
    names = f"good.{kind}, rejected.{kind} and {_REPORT}"
    console.print(f"{names} are in {escape(str(chosen.out))}", highlight=False)
    if outcome.listed_findings is not None:
        total = sum(report.counts.values()) + len(report.dataset)
        cut = "" if outcome.listed_findings == total else f" of {total:,}"
        listed = counted(outcome.listed_findings, "finding")
        console.print(f"{listed}{cut} in {escape(str(chosen.findings))}", highlight=False)
    for path in chosen.reports:
        console.print(f"report in {escape(str(path))}", highlight=False)
