"""Build reports and findings on data sets from an engine's aggregates, so that both engines report the same."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from kafka_replica.data.validation.binding import BoundRules
from kafka_replica.data.validation.locations import Location
from kafka_replica.data.validation.model import FIELDS, Check, Finding, KeyCheck, LevelCheck
from kafka_replica.data.validation.report import Report, Sample
from kafka_replica.sdmx import Urn

SERIES: Final = "series"
KINDS: Final = ("rule", "component", "severity")
"""The fields of a finding by which findings are counted."""
ORDER: Final = (*KINDS, "value", SERIES, "message", "artefact")
"""The order of samples; it is total, so no two different findings are equal in it."""


class FindingTable(Protocol):
    """The findings of a frame, one per row, with the columns ``SERIES`` (the series of the frame's row) and ``FIELDS``.

    Texts are ordered by their UTF-8 bytes, NULL first.
    """

    def totals(self) -> tuple[int, int]:
        """Return the number of rows in the frame, and the number of rows with findings."""

    def counts(self) -> Iterable[tuple[str, str | None, str, int]]:
        """Return the combinations of ``KINDS`` that occur, in any order, each with its number of findings."""

    def worst_series(self, most: int) -> Iterable[tuple[str, int]]:
        """Return series with their numbers of findings, ordered by number (highest first), then by name."""

    def samples(self, most: int) -> Iterable[Sequence[Any]]:
        """Return ``SERIES`` and ``FIELDS`` of the first findings of each kind, each once, in the order ``ORDER``.

        The fields of ``LOCATION`` may follow: those of the first row with this finding.
        """


def report_of(
    artefact: Urn,
    version: int,
    found: FindingTable,
    dataset: tuple[Finding, ...],
    unchecked: tuple[str, ...],
    *,
    samples: int = 5,
    series: int = 0,
) -> Report:
    """Return the report of the findings.

    Args:
        artefact: the artefact that the data was validated against, or mapped by.
        version: the version that the artefact was taken from.
        found: the findings of the rows.
        dataset: the findings about the data set as a whole.
        unchecked: the requirements that could not be checked.
        samples: how many findings of each kind are kept.
        series: how many series are listed, those with the most findings first.
    """
    rows, bad_rows = found.totals()
    counts = sorted(found.counts(), key=lambda one: (one[0], one[1] or "", one[2]))
    return Report(
        artefact=artefact,
        version=version,
        rows=rows,
        bad_rows=bad_rows,
        counts={(rule, component, severity): count for rule, component, severity, count in counts},
        by_series=dict(found.worst_series(series)) if series else {},
        samples=tuple(_sample(fields) for fields in found.samples(samples)),
        dataset=dataset,
        unchecked=unchecked,
    )


def _sample(fields: Sequence[Any]) -> Sample:
    end = 1 + len(FIELDS)
    return Sample(fields[0], Finding(*fields[1:end]), Location(*fields[end:]))


class Extent(NamedTuple):
    """The values of an attribute of the whole data set, in all rows that are compared.

    Attributes:
        rows: the number of these rows that the check is for: only complete rows need a mandatory value.
        least: the least value in any of them; None if there is no value.
        greatest: the greatest value.
    """

    rows: int
    least: str | None
    greatest: str | None


def dataset_findings(bound: BoundRules, extents: Iterable[Extent]) -> tuple[Finding, ...]:
    """Return the findings about a data set: its columns, and the attributes that describe all of it.

    Args:
        bound: the rules of the frame.
        extents: the values of each attribute in ``bound.whole``.
    """
    found = list(bound.findings)
    for check, (rows, least, greatest) in zip(bound.whole, extents, strict=True):
        wrong = least is None if check.demand == "given" else least != greatest
        if rows and wrong:
            found.append(Finding(*fields_of(check, None if least is None else f"{least}, {greatest}")))
    return tuple(found)


def fields_of(check: Check | KeyCheck | LevelCheck, value: Any) -> tuple[Any, ...]:
    """Return the ``FIELDS`` of a finding of the check with a value, or with an engine's expression of the value."""
    return check.rule, getattr(check, "component", None), value, check.message, check.severity, check.artefact
