"""Checks of deletions: no deletion may become wider than its sender meant, by something that its loader ignores.

Source: SDMX-CSV 2.0 and 2.1 field guides, "Further details for data actions": an omitted dimension means any value, and
if all measures and attributes are omitted, whole observations are deleted. So a deletion becomes wider by everything
that gets lost of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kafka_replica.data.validation.conditions import (
    CompareInt,
    ComponentText,
    Condition,
    In,
    IsNull,
    Matches,
    Not,
    Number,
    ValueCount,
    every,
    some,
)
from kafka_replica.data.validation.model import ACTION, Check, Rules

STRUCTURE: Final = "STRUCTURE"
"""The column of SDMX-CSV 2.0 with the kind of the artefact that a row names."""
DATAFLOW: Final = "DATAFLOW"
"""The column of SDMX-CSV 1.0 with the dataflow that a row names."""
SERIES_KEY: Final = "SERIES_KEY"
OBS_KEY: Final = "OBS_KEY"
NARROWER: Final[Mapping[str, tuple[str, ...]]] = {
    "DataStructure": ("dataflow", "dataprovision"), "Dataflow": ("dataprovision",),
}  # fmt: skip
"""The kinds of artefacts, as in the column ``STRUCTURE``, that have a part of the data of an artefact of each class."""
DELETION_WIDE: Final = "deletion-wide"
"""The rule of these checks."""
_TOGETHER: Final = 10
"""The number of components in a check, which must be small, so that Spark's methods are small."""


class _Finding(NamedTuple):
    """A possible finding about a deletion."""

    component: str | None
    broken: Condition
    message: str


def deletion_checks(rules: Rules, unknown: Sequence[str], several: Iterable[str]) -> Iterator[Check]:
    """Yield the checks of rows with the action delete.

    Args:
        rules: the rules.
        unknown: the columns of the frame that neither the structure nor SDMX-CSV defines.
        several: the columns with several values in a row.
    """
    severity, deletes = rules.severity(DELETION_WIDE), Not(rules.applies_to)
    if severity is None:
        return
    for component, broken, message in _findings(rules, unknown, frozenset(several)):
        shown = () if component is None else (component,)
        yield Check(DELETION_WIDE, severity, component, every(deletes, broken), message, str(rules.structure), shown)


def _findings(rules: Rules, unknown: Sequence[str], several: frozenset[str]) -> Iterator[_Finding]:
    dimensions = [column.id for column in rules.columns if column.kind == "dimension"]
    others = [column.id for column in rules.columns if column.kind != "dimension"]
    is_open = some(*map(IsNull, dimensions))
    kinds = NARROWER.get(rules.artefact.cls, ())
    if kinds and rules.column(STRUCTURE) is None:
        part = f"{ACTION} deletes only a part of the data of {rules.artefact.reference}, and leaves dimensions open"
        yield _Finding(ACTION, every(_names_one_of(kinds, rules), is_open), part)
    for key, named in ((SERIES_KEY, rules.series), (OBS_KEY, dimensions)):
        if rules.column(key) is None:
            lost = [every(IsNull(id_), Not(Matches(ComponentText(key), empty_part(n)))) for n, id_ in enumerate(named)]
            message = f"{key} names more than the columns of the dimensions, so more would be deleted"
            yield _Finding(key, every(Not(IsNull(key)), some(*lost)), message)
    for name in unknown:
        # With all dimensions and a measure or attribute, the deletion cannot be wider, whatever the column means.
        is_harmful = some(is_open, every(*map(IsNull, others)))
        message = f"{shown_name(name)} is not a component of the data structure, so a deletion by it would delete more"
        yield _Finding(name, every(Not(IsNull(name)), is_harmful), message)
    empty = "is an empty text, which is written as no value, so more would be deleted"
    single = [column.id for column in rules.columns if column.id not in several]
    for start in range(0, len(single), _TOGETHER):
        yield _Finding(None, some(*map(_is_empty, single[start : start + _TOGETHER])), f"a component {empty}")
    for id_ in (column.id for column in rules.columns if column.id in several):
        is_only = CompareInt(ValueCount(id_), "=", Number(1))
        yield _Finding(id_, every(_is_empty(id_), is_only), f"{id_} {empty}")


def _names_one_of(kinds: Sequence[str], rules: Rules) -> Condition:
    """Return whether a row names an artefact of one of these kinds, by the column of SDMX-CSV 2.0 or of 1.0."""
    named: list[Condition] = [Matches(ComponentText(STRUCTURE), "|".join(map(_in_any_case, kinds)))]
    if "dataflow" in kinds and rules.column(DATAFLOW) is None:
        named.append(every(IsNull(STRUCTURE), Not(IsNull(DATAFLOW))))
    return some(*named)


def shown_name(name: str) -> str:
    """Return the name of a column as it is shown, with quotes if its bounds were unclear without them."""
    return name if name and not any(map(str.isspace, name)) else f"'{name}'"


def _in_any_case(word: str) -> str:
    """Return an expression for a word of ASCII letters in any letter case, which references accept."""
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


def empty_part(number: int) -> str:
    """Return an expression for keys whose part with a number, counted from 0, exists and is empty."""
    return r"[^.]*\." * number + r"(?:\.[\s\S]*)?"


def _is_empty(component: str) -> Condition:
    return In(ComponentText(component), frozenset({""}))
