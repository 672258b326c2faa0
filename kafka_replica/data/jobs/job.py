"""Jobs on data, and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import TimeFormat
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.mapping import MapPlan
from kafka_replica.data.mapping.mapping_engine import Expression, MappingEngine
from kafka_replica.data.validation import CATALOGUE, ERRORS, Report, Rules
from kafka_replica.sdmx import Urn

OutFormat: TypeAlias = Literal["csv", "parquet"]

GOOD = "good"
REJECTED = "rejected"
ERRORS_TEXT = "ERRORS"
"""The column of rejected rows in SDMX-CSV that describes their errors as text."""
BETWEEN_ERRORS: Final = " | "
"""The separator between the errors of a row in that column."""


_VERDICTS: Final = {
    "sdmx-csv": ERRORS_TEXT, "csv": ERRORS_TEXT, "xlsx": ERRORS_TEXT, "parquet": ERRORS, "arrow": ERRORS,
}  # fmt: skip


def error_column_of(source: Source, rules: Rules) -> str | None:
    """Return the column in which an earlier run may have described errors.

    The result is None if files of this kind have no such column, or if the structure has a component of that name.
    """
    name = _VERDICTS.get(source.kind)
    return name if name is not None and rules.column(name) is None else None


def note_adder(job: Job, source: Source, notes: list[str]) -> Callable[[str], None]:
    """Return a function that appends a text from a source to ``notes``, with the file's path if the job names files."""
    return lambda text: notes.append(f"{source.path}: {text}" if job.names_files else text)


def error_in_words(engine: MappingEngine, field: Callable[[str], Expression]) -> Expression:
    """Return an error as text: ``error code-unknown: the value of SEX is not a code of T:CL_SEX(1.0) (Q)``.

    Args:
        engine: the engine that evaluates the expressions.
        field: returns the expression for a field of the error.
    """
    text = engine.text
    value = engine.coalesce([engine.joined([text(" ("), field("value"), text(")")], ""), text("")])
    return engine.joined([field("severity"), text(" "), field("rule"), text(": "), field("message"), value], "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Data, its rules, and the settings of the output.

    Attributes:
        sources: the data.
        rules: the rules of the data's artefact.
        out: the output folder.
        out_format: the format of good and rejected rows.
        decimal: the decimal separator in text files.
        encoding: the encoding of text files without a byte order mark; None means UTF-8.
        line_breaks: whether cells of text files may contain line breaks, for engines that need this information.
        usages: other artefacts whose rows are included; the result of ``usages_of``.
        time_format: the format of periods of good rows in SDMX-CSV; rejected rows are written unchanged.
        keeps_layout: whether rejected rows keep the columns of their file and, in CSV, also its separator and encoding;
            otherwise they are written as SDMX-CSV.
        findings: the file for the table of findings; None if no table is requested.
        max_findings: the maximum number of findings in the table and in each ESS report; None means no limit.
        ess_reports: the files for reports in the format of the European Statistical System.
        names_files: whether the locations of findings include the file.
    """

    sources: tuple[Source, ...]
    rules: Rules
    out: Path
    out_format: OutFormat = "csv"
    decimal: str = "."
    encoding: str | None = None
    line_breaks: bool = False
    usages: frozenset[Urn] = frozenset()
    time_format: TimeFormat = "original"
    keeps_layout: bool = True
    findings: Path | None = None
    max_findings: int | None = None
    ess_reports: tuple[Path, ...] = ()
    names_files: bool = True

    def file(self, what: str) -> Path:
        """Return the output file for rows: ``what`` is ``GOOD`` or ``REJECTED``."""
        return self.out / f"{what}.{self.out_format}"

    @property
    def files(self) -> str:
        """Return the data in words, for errors: ``a.csv and 2 more``."""
        first, *others = (source.path for source in self.sources)
        return f"{first} and {len(others)} more" if others else first

    @property
    def file_of_dataset(self) -> str | None:
        """Return the file of findings about the data set as a whole; None if there are several or names are omitted."""
        return self.sources[0].path if self.names_files and len(self.sources) == 1 else None

    @property
    def switched_off(self) -> tuple[str, ...]:
        """Return the rules that were switched off; empty if the job does not validate."""
        return ()

    def wrong_structure(self, others: Mapping[Urn, int]) -> DatasetError:
        """Return the error for data whose rows all belong to other structures."""
        named = ", ".join(map(str, others))
        return DatasetError(f"reading data of {self.rules.artefact}: no row belongs to it; the rows name {named}")

    def time_format_of(self, what: str) -> TimeFormat:
        """Return the format of periods in an output file: ``what`` is ``GOOD`` or ``REJECTED``."""
        return self.time_format if what == GOOD else "original"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationJob(Job):
    """A job that validates data."""

    @property
    def switched_off(self) -> tuple[str, ...]:
        """Return the rules that were switched off."""
        return tuple(code for code in CATALOGUE if self.rules.severity(code) is None)


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingJob(Job):
    """A job that maps data.

    Attributes:
        plan: the compiled map.
        target: the rules of the artefact that good rows belong to after mapping.
    """

    plan: MapPlan
    target: Rules


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a job.

    Attributes:
        report: the findings.
        good_rows: the number of accepted rows.
        rejected_rows: the number of rejected rows.
        others: the number of rows that were left out because they name other structures, by structure.
        listed_findings: the number of findings in the table of findings; None if there is no such table.
        switched_off: the rules that were switched off.
        notes: the remarks in data messages and on them, with their file, such as the footers of SDMX-ML.
    """

    report: Report
    good_rows: int
    rejected_rows: int
    others: Mapping[Urn, int] = field(default_factory=dict)
    listed_findings: int | None = None
    switched_off: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def other_rows(self) -> int:
        """Return the number of rows that were left out."""
        return sum(self.others.values())

    def as_json(self) -> dict[str, Any]:
        """Return the outcome as values that JSON can represent: the report, with the number of rows in each file."""
        rows = {"good": self.good_rows, "rejected": self.rejected_rows, "of_other_structures": self.other_rows}
        others = [str(urn) for urn in self.others]
        return {
            **self.report.as_json(), "written_rows": rows, "other_structures": others,
            "listed_findings": self.listed_findings, "switched_off": list(self.switched_off), "notes": list(self.notes),
        }  # fmt: skip
