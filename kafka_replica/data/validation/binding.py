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
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.model import ACTION, Check, Finding, KeyCheck, LevelCheck, Rules
from kafka_replica.errors import UsageError

_UNKNOWN: Final = Constant(value=None)
_ALWAYS: Final = Constant(value=True)
NON_COMPONENT_COLUMNS: Final = frozenset({
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
        unchecked: the requirements that cannot be checked, in general or in this frame.
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


def bind_rules(rules: Rules, columns: Sequence[str], shapes: Mapping[str, Shape]) -> BoundRules:
    """Return the rules for a frame with these columns. A missing column counts as empty in all rows.

    Args:
        rules: the rules.
        columns: the names of all columns, which may have duplicates.
        shapes: the shapes of columns that do not have one value per row.

    Raises:
        UsageError: a dimension or the action has several values in a row.
    """
    _check_single_values(rules, shapes)
    frame = _FrameColumns(
        present=frozenset(columns),
        unread=frozenset(name for name, shape in shapes.items() if shape == "other"),
        shapes=dict(shapes),
    )
    missing = [
        replace(check, flagged=frame.simplified(check.flagged)) for check in _missing_columns(rules, frame.present)
    ]
    levels = [check for check in _checks_of_levels(rules, frame) if not is_never_true(check.flagged)]
    return BoundRules(
        checks=tuple(check for check in _checks_of_rows(rules, columns, frame) if not is_never_true(check.broken)),
        keys=tuple(
            replace(check, compared=frame.simplified(check.compared))
            for check in rules.keys
            if frame.unread.isdisjoint(check.components)
        ),
        levels=tuple(check for check in levels if check.level),
        whole=(
            *(check for check in missing if check.flagged != _ALWAYS and not is_never_true(check.flagged)),
            *(check for check in levels if not check.level),
        ),
        applies_to=frame.simplified(rules.applies_to),
        findings=(*_findings_on_missing_columns(missing), *_strange_columns(rules, columns)),
        unchecked=(*rules.unchecked, *_unchecked_in_frame(rules, frame)),
    )


def _checks_of_rows(rules: Rules, columns: Sequence[str], frame: _FrameColumns) -> Iterator[Check]:
    """Yield the checks of single rows, those of deletions and of attributes without a column included."""
    several: dict[str, Several] = {
        id_: kind for kind in SEVERAL for id_, shape in frame.shapes.items() if shape == kind
    }
    deletions = deletion_checks(rules, _unknown_to_deletions(rules, columns), several)
    for check in (*rules.checks, *deletions):
        yield replace(check, broken=frame.simplified(check.broken))
    for level_check in rules.levels:
        if level_check.demand == "given" and level_check.component not in frame.present and level_check.level:
            yield _check_of_absent_attribute(level_check, rules, frame)


def _checks_of_levels(rules: Rules, frame: _FrameColumns) -> Iterator[LevelCheck]:
    """Yield the comparisons of those attributes whose columns, and those of their dimensions, can be read."""
    for check in rules.levels:
        is_readable = check.component in frame.present - frame.unread and frame.unread.isdisjoint(check.level)
        if is_readable and not _compares_languages(check, frame.shapes):
            yield replace(check, flagged=frame.simplified(check.flagged))


def _findings_on_missing_columns(missing: Iterable[LevelCheck]) -> Iterator[Finding]:
    """Yield a finding for each missing column that every row needs."""
    for check in missing:
        if check.flagged == _ALWAYS:
            yield Finding(check.rule, check.component, None, check.message, check.severity, check.artefact)


def _unchecked_in_frame(rules: Rules, frame: _FrameColumns) -> Iterator[str]:
    """Yield the requirements that the types of the frame's columns make impossible to check."""
    for name in sorted(frame.unread):
        if rules.column(name) is not None:
            yield f"{name}: values in a column of its type"
    for check in rules.levels:
        if _compares_languages(check, frame.shapes):
            yield f"{check.component}: whether its rows agree, because it has several languages"


def _check_single_values(rules: Rules, shapes: Mapping[str, Shape]) -> None:
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


def _compares_languages(check: LevelCheck, shapes: Mapping[str, Shape]) -> bool:
    """Return whether a check would have to compare texts with their languages, which are not kept."""
    return check.demand == "same" and shapes.get(check.component) == "languages"


def _check_of_absent_attribute(check: LevelCheck, rules: Rules, frame: _FrameColumns) -> Check:
    """Return the check for an attribute without a column, which has no value in any row."""
    broken = frame.simplified(And((rules.applies_to, check.flagged)))
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
    return [each for each in columns if each not in known | NON_COMPONENT_COLUMNS and not is_technical(each, known)]


def _unknown(rules: Rules, columns: Sequence[str]) -> list[str]:
    known = {column.id for column in rules.columns}
    return [each for each in columns if each not in known | NON_COMPONENT_COLUMNS and not _is_ours(each)]


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


def is_never_true(condition: Condition) -> bool:
    """Return whether a condition can never be true."""
    match condition:
        case Constant(value):
            return value is not True
        case And(parts):
            return any(is_never_true(part) for part in parts)
        case Or(parts):
            return all(is_never_true(part) for part in parts)
        case _:
            return False


@dataclass(frozen=True, slots=True)
class _FrameColumns:
    """The columns of a frame: all names, those of an unreadable type, and the shapes of those with several values."""

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
                    return Constant(value=evaluate_condition(CompareInt(Number(1), operator, right), {}))
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
