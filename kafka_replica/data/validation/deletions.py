"""Checks of deletions: none may become wider than its sender meant because the loader ignores a part of it.

Source: SDMX-CSV 2.0 and 2.1 field guides, "Further details for data actions": an omitted dimension means any value, and
if all measures and attributes are omitted, whole observations are deleted. So a deletion becomes wider if a part of it
is lost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias

from kafka_replica.data.validation.conditions import (
    CompareInt,
    ComponentText,
    Concat,
    Condition,
    Constant,
    In,
    IsNull,
    Matches,
    Not,
    Number,
    SameText,
    ValueCount,
    every,
    some,
)
from kafka_replica.data.validation.model import ACTION, Check, Rules

Several: TypeAlias = Literal["values", "languages"]
SEVERAL: Final[tuple[Several, ...]] = ("values", "languages")
"""The contents of columns with several values in a row."""
STRUCTURE: Final = "STRUCTURE"
"""The column of SDMX-CSV 2.0 with the kind of the artefact that a row names."""
DATAFLOW: Final = "DATAFLOW"
"""The column of SDMX-CSV 1.0 with the dataflow that a row names."""
SERIES_KEY: Final = "SERIES_KEY"
OBS_KEY: Final = "OBS_KEY"
NARROWER: Final[Mapping[str, tuple[str, ...]]] = {
    "DataStructure": ("dataflow", "dataprovision"), "Dataflow": ("dataprovision",),
}  # fmt: skip
"""For each class of artefacts, the kinds (as in the column ``STRUCTURE``) of artefacts with a part of its data."""
DELETION_WIDE: Final = "deletion-wide"
"""The rule of these checks."""
_TOGETHER: Final = 10
"""The number of components in a check, which must be small, because Spark generates a method from them."""


class _Finding(NamedTuple):
    """A possible finding about a deletion."""

    component: str | None
    broken: Condition
    message: str
    severity: str | None = None
    """The severity if it is not that of the rule."""


def deletion_checks(rules: Rules, unknown: Sequence[str], several: Mapping[str, Several]) -> Iterator[Check]:
    """Yield the checks of rows with the action delete.

    Args:
        rules: the rules.
        unknown: the columns of the frame that neither the structure nor SDMX-CSV defines.
        several: the columns with several values in a row, or with values in several languages.
    """
    severity, deletes = rules.severity(DELETION_WIDE), Not(rules.applies_to)
    if severity is None:
        return
    for found in (*_findings(rules, unknown), *_empty_texts(rules, several, severity)):
        component, broken, shown = found.component, every(deletes, found.broken), found.component
        yield Check(
            DELETION_WIDE, found.severity or severity, component, broken, found.message, str(rules.structure),
            () if shown is None else (shown,),
        )  # fmt: skip


def _findings(rules: Rules, unknown: Sequence[str]) -> Iterator[_Finding]:
    dimensions = [column.id for column in rules.columns if column.kind == "dimension"]
    others = [column.id for column in rules.columns if column.kind != "dimension"]
    is_open = some(*map(IsNull, dimensions))
    kinds = NARROWER.get(rules.artefact.cls, ())
    if kinds and rules.column(STRUCTURE) is None:
        part = f"{ACTION} deletes only a part of the data of {rules.artefact.reference}, and leaves dimensions open"
        yield _Finding(ACTION, every(_names_one_of(kinds, rules), is_open), part)
    for key, named in ((SERIES_KEY, rules.series), (OBS_KEY, dimensions)):
        if rules.column(key) is None:
            lost = [
                every(
                    IsNull(id_), Matches(ComponentText(key), given_part(n)), Not(_is_key_without(key, id_, dimensions))
                )
                for n, id_ in enumerate(named)
            ]
            message = f"{key} has a part for a dimension that its column leaves open, so more would be deleted"
            yield _Finding(key, every(Not(IsNull(key)), some(*lost)), message)
    for name in unknown:
        # With all dimensions and a measure or attribute, the deletion cannot be wider, whatever the column means.
        is_harmful = some(is_open, every(*map(IsNull, others)))
        message = f"{shown_name(name)} is not a component of the data structure, so a deletion by it would delete more"
        yield _Finding(name, every(Not(IsNull(name)), is_harmful), message)


def _is_key_without(key: str, dimension: str, dimensions: Sequence[str]) -> Condition:
    """Return whether a key leaves a dimension out, separator included, and has the values of all others; never unknown.

    ``SERIES_KEY`` has no part for a dimension that is attached to the observation, which need not be the time.
    """
    others = tuple(id_ for id_ in dimensions if id_ != dimension)
    if not others:
        return Constant(value=False)
    return every(*(Not(IsNull(id_)) for id_ in others), SameText(ComponentText(key), Concat(others, ".")))


def _empty_texts(rules: Rules, several: Mapping[str, Several], severity: str) -> Iterator[_Finding]:
    """Yield findings on empty texts; a warning if another measure or attribute keeps the deletion from being wider."""
    dimensions = [column.id for column in rules.columns if column.kind == "dimension"]
    others = [column.id for column in rules.columns if column.kind != "dimension"]
    single = [id_ for id_ in others if id_ not in several]
    wider = "is an empty text, which is written as no value, so more would be deleted"
    for ids in _together(dimensions):
        yield _Finding(_only(ids), some(*map(_is_empty, ids)), f"{_in_words(ids)} {wider}")
    for id_, of in several.items():
        if id_ in others:
            is_only = CompareInt(ValueCount(id_, of), "=", Number(1))
            yield _Finding(id_, every(_is_empty(id_), is_only), f"{id_} {wider}")
    given = [Not(IsNull(id_)) if id_ in several else every(Not(IsNull(id_)), Not(_is_empty(id_))) for id_ in others]
    for ids in _together(single):
        found = some(*map(_is_empty, ids))
        yield _Finding(_only(ids), every(found, Not(some(*given))), f"{_in_words(ids)} {wider}")
        message = f"{_in_words(ids)} is an empty text, which is written as no value, so it would not be deleted"
        yield _Finding(_only(ids), every(found, some(*given)), message, _milder(severity))


def _milder(severity: str) -> str:
    return "warning" if severity == "error" else severity


def _only(ids: Sequence[str]) -> str | None:
    return ids[0] if len(ids) == 1 else None


def _together(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    return (ids[start : start + _TOGETHER] for start in range(0, len(ids), _TOGETHER))


def _in_words(ids: Sequence[str]) -> str:
    return ids[0] if len(ids) == 1 else f"one of {', '.join(ids)}"


def _names_one_of(kinds: Sequence[str], rules: Rules) -> Condition:
    """Return whether a row names an artefact of one of these kinds, by the column of SDMX-CSV 2.0 or of 1.0."""
    named: list[Condition] = [Matches(ComponentText(STRUCTURE), "|".join(map(_in_any_case, kinds)))]
    if "dataflow" in kinds and rules.column(DATAFLOW) is None:
        named.append(every(IsNull(STRUCTURE), Not(IsNull(DATAFLOW))))
    return some(*named)


def is_technical(name: str, components: Iterable[str]) -> bool:
    """Return whether a column names no data: one with ``_``, or that of the separator of values.

    Ids of components cannot begin with ``_`` since 2.1, so such columns are those of this library and of programs,
    except where the rest of the name is the id of a component.
    """
    if name.startswith("_"):
        return name.strip("_").upper() not in {id_.strip("_").upper() for id_ in components}
    return name.startswith("STRUCTURE[")


def shown_name(name: str) -> str:
    """Return the name of a column as it is shown, with quotes if its bounds would be unclear without them."""
    return name if name and not any(map(str.isspace, name)) else f"'{name}'"


def _in_any_case(word: str) -> str:
    """Return an expression for a word of ASCII letters in any letter case, which references accept."""
    return "".join(f"[{letter}{letter.upper()}]" for letter in word)


def given_part(number: int) -> str:
    """Return an expression for keys whose part with a number, counted from 0, exists and is not empty."""
    return r"[^.]*\." * number + r"[^.][\s\S]*"


def _is_empty(component: str) -> Condition:
    return In(ComponentText(component), frozenset({""}))
