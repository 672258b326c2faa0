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
from kafka_replica.data.mapping.engines import Engine, Expression
from kafka_replica.data.validation import CATALOGUE, ERRORS, Report, Rules
from kafka_replica.sdmx import Urn

OutFormat: TypeAlias = Literal["csv", "parquet"]

GOOD = "good"
REJECTED = "rejected"
ERRORS_TEXT = "ERRORS"
"""The column of rejected rows in SDMX-CSV that describes the errors in words."""
BETWEEN_ERRORS: Final = " | "
"""The text between the errors of a row, in that column."""


_VERDICTS: Final = {
    "sdmx-csv": ERRORS_TEXT, "csv": ERRORS_TEXT, "xlsx": ERRORS_TEXT, "parquet": ERRORS, "arrow": ERRORS,
}  # fmt: skip


def verdict_of(source: Source, rules: Rules) -> str | None:
    """Return the column in which an earlier run may have described errors; None if there cannot be such a column."""
    name = _VERDICTS.get(source.kind)
    return name if name is not None and rules.column(name) is None else None


def noted(job: Job, source: Source, notes: list[str]) -> Callable[[str], None]:
    """Return a function that adds a text of a source to notes, with the file unless files are not named."""
    return lambda text: notes.append(f"{source.path}: {text}" if job.names_files else text)


def in_words(engine: Engine, field: Callable[[str], Expression]) -> Expression:
    """Return an error in words: ``error code-unknown: the value of SEX is not a code of T:CL_SEX(1.0) (Q)``."""
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
        usages: artefacts whose rows are included, too; from ``usages_of``.
        time_format: the format of periods of good rows in SDMX-CSV; rejected rows are written unchanged.
        keeps_layout: whether rejected rows keep the columns of their file, and those of CSV also its separator and
            encoding; False writes SDMX-CSV.
        findings: the file of the table of findings; None if it is not wanted.
        max_findings: the largest number of findings in this table; None means no limit.
        ess_reports: the files of reports in the form of the European Statistical System.
        names_files: whether locations name files.
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
        """Return the file of good or rejected rows."""
        return self.out / f"{what}.{self.out_format}"

    @property
    def switched_off(self) -> tuple[str, ...]:
        """Return the rules that were switched off; none if the job does not validate."""
        return ()

    def none_meant(self, others: Mapping[Urn, int]) -> DatasetError:
        """Return the error for data whose rows all belong to other structures."""
        said = ", ".join(map(str, others))
        return DatasetError(f"reading data of {self.rules.artefact}: no row is of it; the rows say they are of {said}")

    def time_format_of(self, what: str) -> TimeFormat:
        """Return how periods of good or rejected rows are written."""
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
        others: the number of rows that name other structures, by structure; they were left out.
        listed: the number of findings in the table of findings; None if there is no such table.
        switched_off: the rules that were switched off.
        notes: what messages say about themselves, with their file: the footers of SDMX-ML, the errors of SDMX-JSON.
    """

    report: Report
    good_rows: int
    rejected_rows: int
    others: Mapping[Urn, int] = field(default_factory=dict)
    listed: int | None = None
    switched_off: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def other_rows(self) -> int:
        """Return the number of rows that were left out."""
        return sum(self.others.values())

    def as_json(self) -> dict[str, Any]:
        """Return the report, and the number of rows written to each file, as values that JSON can represent."""
        rows = {"good": self.good_rows, "rejected": self.rejected_rows, "of_other_structures": self.other_rows}
        others = [str(urn) for urn in self.others]
        return {
            **self.report.as_json(), "written_rows": rows, "other_structures": others, "listed_findings": self.listed,
            "switched_off": list(self.switched_off), "notes": list(self.notes),
        }  # fmt: skip
