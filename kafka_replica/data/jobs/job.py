"""What is to be done with data, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias

from kafka_replica.data.files import TimeFormat
from kafka_replica.data.jobs.sources import Source
from kafka_replica.data.mapping import MapPlan
from kafka_replica.data.validation import ERRORS, Report, Rules
from kafka_replica.errors import DatasetError
from kafka_replica.sdmx import Urn

OutFormat: TypeAlias = Literal["csv", "parquet"]
Step: TypeAlias = Callable[[str], None]
"""Is told what is done next."""

GOOD = "good"
REJECTED = "rejected"
ERRORS_TEXT = "ERRORS"
"""The column of rejected rows in SDMX-CSV that says in words what is wrong."""


def verdict_of(source: Source, rules: Rules) -> str | None:
    """The column in which an earlier run may have said what is wrong with rows; None where there can be none."""
    name = {"sdmx-csv": ERRORS_TEXT, "parquet": ERRORS}.get(source.kind)
    return name if name is not None and rules.column(name) is None else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """Data, what it is of, and where to write what.

    Attributes:
        sources: the data.
        rules: what it is of, and must keep.
        out: the folder.
        out_format: of good and rejected rows.
        decimal: what stands before decimals in text files.
        encoding: of text files without a byte order mark; UTF-8 if None.
        line_breaks: whether cells of text files may hold line breaks, for engines that must know.
        usages: artefacts whose rows are meant as well, from ``usages_of``.
        time_format: of periods of good rows in SDMX-CSV; rejected ones are written as they came.
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

    def file(self, what: str) -> Path:
        """Where good or rejected rows go."""
        return self.out / f"{what}.{self.out_format}"

    def none_meant(self, others: Mapping[Urn, int]) -> DatasetError:
        """The error where all rows are of others."""
        said = ", ".join(map(str, others))
        return DatasetError(f"reading data of {self.rules.artefact}: no row is of it; the rows say they are of {said}")

    def time_format_of(self, what: str) -> TimeFormat:
        """How periods of good or rejected rows are written."""
        return self.time_format if what == GOOD else "original"


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationJob(Job):
    """Data that is to be validated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MappingJob(Job):
    """Data that is to be mapped.

    Attributes:
        plan: the map.
        target: of what good rows are then.
    """

    plan: MapPlan
    target: Rules


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of it.

    Attributes:
        report: what was found.
        good_rows: how many rows may pass.
        rejected_rows: how many may not.
        others: how many rows say that they are of other structures, by these; they were left out.
    """

    report: Report
    good_rows: int
    rejected_rows: int
    others: Mapping[Urn, int] = field(default_factory=dict)

    @property
    def other_rows(self) -> int:
        """How many rows were left out."""
        return sum(self.others.values())
