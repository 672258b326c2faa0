"""Rules for the columns of a frame. Checks that are always or never violated are not evaluated for each row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

from kafka_replica.data.validation.components import needs_its_measures
from kafka_replica.data.validation.conditions import (
    And,
    AnyValue,
    CompareDouble,
    CompareInt,
    Condition,
    Constant,
    In,
    IsNull,
    Matches,
    Not,
    Number,
    Or,
    SameText,
    ValueCount,
    components_of,
    every,
)
from kafka_replica.data.validation.deletions import (
    DATAFLOW,
    OBS_KEY,
    SERIES_KEY,
    SEVERAL,
    STRUCTURE,
    Several,
    deletion_checks,
    is_technical,
    shown_name,
)
from kafka_replica.data.validation.evaluation import evaluate
from kafka_replica.data.validation.model import ACTION, Check, Finding, KeyCheck, LevelCheck, Rules
from kafka_replica.errors import UsageError

_UNKNOWN: Final = Constant(value=None)
_ALWAYS: Final = Constant(value=True)
STANDING: Final = frozenset({
    STRUCTURE, "STRUCTURE_ID", "STRUCTURE_NAME", DATAFLOW, ACTION, SERIES_KEY, OBS_KEY,
})  # fmt: skip
"""Columns of SDMX-CSV 1.0 and 2.0 that are not components."""


Shape: TypeAlias = Literal["text", "values", "languages", "other"]
"""The content of a column in a row: one value, a list of values, a text in several languages, or an unreadable type."""


@dataclass(frozen=True, slots=True)
class BoundRules:
    """The rules of a frame with certain columns.

    Attributes:
        checks: the checks of each row, in order.
        keys: comparisons of keys.
        levels: comparisons of attributes by level, except for those over the whole data set.
        whole: comparisons of attributes over the whole data set, and columns that only some rows need.
        applies_to: the condition for rows that comparisons include.
        findings: the errors in the columns.
        unchecked: the demands that cannot be checked, in general or in this frame.
    """

    checks: tuple[Check, ...]
    keys: tuple[KeyCheck, ...]
    levels: tuple[LevelCheck, ...]
    whole: tuple[LevelCheck, ...]
    applies_to: Condition
    findings: tuple[Finding, ...]
    unchecked: tuple[str, ...]

    @property
    def read(self) -> frozenset[str]:
        """The columns that the checks of each row read."""
        return frozenset().union(*(check.looks_at for check in self.checks))

    @property
    def compares_by(self) -> tuple[str, ...]:
        """Return the dimensions by which rows are compared, whether or not they have columns."""
        found = [
            *(component for check in self.keys for component in check.components),
            *(one for check in self.levels for one in check.level),
        ]
        return tuple(dict.fromkeys(found))


def bind(rules: Rules, columns: Sequence[str], shapes: Mapping[str, Shape]) -> BoundRules:
    """Return the rules for a frame with these columns. A missing column counts as empty in all rows.

    Args:
        rules: the rules.
        columns: the names of all columns, which may have duplicates.
        shapes: the shapes of columns that do not have one value per row.

    Raises:
        UsageError: a dimension or the action has several values in a row.
    """
    _need_single(rules, shapes)
    present = frozenset(columns)
    unread = frozenset(one for one, shape in shapes.items() if shape == "other")
    view = _View(present, unread, dict(shapes))
    several: dict[str, Several] = {id_: kind for kind in SEVERAL for id_, shape in shapes.items() if shape == kind}
    deletions = deletion_checks(rules, _unknown_to_deletions(rules, columns), several)
    checks = [replace(check, broken=view.simplified(check.broken)) for check in (*rules.checks, *deletions)]
    missing = [replace(check, flagged=view.simplified(check.flagged)) for check in _missing_columns(rules, present)]
    levels = [
        replace(check, flagged=view.simplified(check.flagged))
        for check in rules.levels
        if check.component in present - unread and unread.isdisjoint(check.level) and not _is_beyond(check, shapes)
    ]
    checks += [
        _each_row(check, rules, view)
        for check in rules.levels
        if check.demand == "given" and check.component not in present and check.level
    ]
    left = [f"{one}: values in a column of its type" for one in sorted(unread) if rules.column(one) is not None]
    left += [
        f"{check.component}: whether its rows agree, because it has several languages"
        for check in rules.levels
        if _is_beyond(check, shapes)
    ]
    return BoundRules(
        checks=tuple(check for check in checks if not never(check.broken)),
        keys=tuple(
            replace(check, compared=view.simplified(check.compared))
            for check in rules.keys
            if unread.isdisjoint(check.components)
        ),
        levels=tuple(check for check in levels if check.level and not never(check.flagged)),
        whole=(
            *(check for check in missing if check.flagged != _ALWAYS and not never(check.flagged)),
            *(check for check in levels if not check.level and not never(check.flagged)),
        ),
        applies_to=view.simplified(rules.applies_to),
        findings=(
            *(
                Finding(check.rule, check.component, None, check.message, check.severity, check.artefact)
                for check in missing
                if check.flagged == _ALWAYS
            ),
            *_strange_columns(rules, columns),
        ),
        unchecked=(*rules.unchecked, *left),
    )


def _need_single(rules: Rules, shapes: Mapping[str, Shape]) -> None:
    for name, shape in shapes.items():
        column = rules.column(name)
        if column is None and name == ACTION:
            raise UsageError(
                f"validating against {rules.artefact}: column {ACTION} does not contain text; give one action per row"
            )
        if column is not None and column.kind == "dimension" and shape != "other":
            raise UsageError(
                f"validating against {rules.artefact}: column {name} has several values in a row, but a dimension "
                "has one; make a row of each value"
            )


def _is_beyond(check: LevelCheck, shapes: Mapping[str, Shape]) -> bool:
    """Return whether a check would have to compare texts with their languages, which are not kept."""
    return check.demand == "same" and shapes.get(check.component) == "languages"


def _each_row(check: LevelCheck, rules: Rules, view: _View) -> Check:
    """Return the check for an attribute without a column, which has no value in any row."""
    broken = view.simplified(And((rules.applies_to, check.flagged)))
    return Check(check.rule, check.severity, check.component, broken, check.message, check.artefact, (check.component,))


def _missing_columns(rules: Rules, present: AbstractSet[str]) -> Iterator[LevelCheck]:
    """Yield a check for each missing column of a mandatory component, with the condition for rows that need it.

    A row may omit mandatory values if it merges, and also dimensions if it deletes.
    """
    severity = rules.severity("column-missing")
    if severity is None:
        return
    for column in rules.columns:
        if column.must_exist and column.id not in present:
            needed = rules.applies_to if column.kind == "dimension" else rules.complete
            needed = every(needed, *needs_its_measures(column, rules.columns))
            message = f"there is no column {column.id}, which must be given"
            yield LevelCheck("column-missing", severity, column.id, (), "given", needed, message, str(rules.structure))


def columns_of_checks(rules: Rules, columns: Sequence[str]) -> frozenset[str]:
    """Return the columns that checks may read: those of components, and others that deletions must not have."""
    read = (ACTION, STRUCTURE, DATAFLOW, SERIES_KEY, OBS_KEY)
    return frozenset({column.id for column in rules.columns}).union(read, _unknown_to_deletions(rules, columns))


def _unknown_to_deletions(rules: Rules, columns: Sequence[str]) -> list[str]:
    """Return the unknown columns that deletions must not have."""
    known = {column.id for column in rules.columns}
    return [each for each in columns if each not in known | STANDING and not is_technical(each, known)]


def _unknown(rules: Rules, columns: Sequence[str]) -> list[str]:
    known = {column.id for column in rules.columns}
    return [each for each in columns if each not in known | STANDING and not _is_ours(each)]


def _strange_columns(rules: Rules, columns: Sequence[str]) -> Iterator[Finding]:
    """Yield findings for columns that are unknown or duplicate."""
    structure = str(rules.structure)
    for rule, names, message in (
        ("column-unknown", _unknown(rules, columns),
         "column {} is not a component of the data structure"),
        ("column-duplicated", [each for each, count in Counter(columns).items() if count > 1],
         "there is more than one column {}"),
    ):  # fmt: skip
        severity = rules.severity(rule)
        if severity is not None:
            yield from (
                Finding(rule, name, None, message.format(shown_name(name)), severity, structure) for name in names
            )


def _is_ours(name: str) -> bool:
    return name.startswith(("_", "STRUCTURE["))


def never(condition: Condition) -> bool:
    """Return whether a condition can never be true."""
    match condition:
        case Constant(value):
            return value is not True
        case And(parts):
            return any(never(part) for part in parts)
        case Or(parts):
            return all(never(part) for part in parts)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _View:
    """The information about the columns."""

    present: frozenset[str]
    unread: frozenset[str]
    shapes: Mapping[str, Shape]

    def simplified(self, condition: Condition) -> Condition:  # noqa: PLR0911 - one return per kind of node
        """Return the condition without the parts whose result follows from the columns."""
        match condition:
            case IsNull(component):
                return condition if component in self.present else Constant(value=True)
            case CompareInt(ValueCount(component, of), operator, right) if self.shapes.get(component) != of:
                if of == "values" and component in self.present and component not in self.shapes:
                    return Constant(value=evaluate(CompareInt(Number(1), operator, right), {}))
                return _UNKNOWN
            case Matches() | In() | SameText() | CompareDouble() | CompareInt():
                return condition if (self.present - self.unread).issuperset(components_of(condition)) else _UNKNOWN
            case Not(inner):
                return _opposite(self.simplified(inner))
            case And(parts):
                return _joined(And, False, (self.simplified(part) for part in parts))
            case Or(parts):
                return _joined(Or, True, (self.simplified(part) for part in parts))
            case AnyValue(component, inner):
                found = self.simplified(inner)
                has_list = self.shapes.get(component) in {"values", "languages"} and not isinstance(found, Constant)
                return AnyValue(component, found) if has_list else found
        return condition


def _opposite(condition: Condition) -> Condition:
    match condition:
        case Constant(value):
            return condition if value is None else Constant(value=not value)
        case Not(inner):
            return inner
    return Not(condition)


def _joined(kind: type[And | Or], deciding: bool, parts: Iterable[Condition]) -> Condition:
    kept: list[Condition] = []
    for part in parts:
        flat = part.conditions if isinstance(part, kind) else (part,)
        for one in flat:
            if isinstance(one, Constant) and one.value is deciding:
                return one
            if not (isinstance(one, Constant) and one.value is (not deciding)) and one not in kept[-1:]:
                kept.append(one)
    if not kept:
        return Constant(value=not deciding)
    return kept[0] if len(kept) == 1 else kind(tuple(kept))
