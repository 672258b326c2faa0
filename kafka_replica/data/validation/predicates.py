"""Translate predicates of constraints to conditions, which engines can evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from kafka_replica.data.validation import conditions
from kafka_replica.data.validation.conditions import (
    CompareInt,
    ComponentText,
    Concat,
    Condition,
    Constant,
    In,
    IsNull,
    Matches,
    Number,
    every,
    some,
)
from kafka_replica.data.validation.patterns import escaped
from kafka_replica.data.validation.periods import start_of
from kafka_replica.sdmx.lookups.constraints.predicates import (
    AboutOne,
    AllOf,
    AnyOf,
    ComponentSelection,
    ConstantPredicate,
    HasKey,
    IsGiven,
    IsIn,
    Not,
    PatternMatch,
    Predicate,
    StartsWithin,
)

SEPARATOR: Final = "\x1f"
_UNKNOWN: Final = Constant(value=None)


def condition_of(predicate: Predicate, marks: Mapping[str, frozenset[str]]) -> Condition:
    """Return the condition that is true exactly where a predicate is true.

    Args:
        predicate: the predicate.
        marks: by component, the values that mark a missing value.
    """
    match predicate:
        case ComponentSelection(component, inner):
            return _unless_marked(condition_of(inner, marks), component, marks.get(component, frozenset()))
        case Not(inner):
            return conditions.Not(condition_of(inner, marks))
        case AllOf(parts):
            return every(*(condition_of(part, marks) for part in parts))
        case AnyOf(parts):
            return some(*(condition_of(part, marks) for part in parts))
        case HasKey(components, keys):
            return _has_key(components, keys, marks)
        case _:
            return _about_one(predicate)


def _about_one(predicate: ConstantPredicate | AboutOne) -> Condition:
    """Return the condition of a predicate on at most one component."""
    match predicate:
        case ConstantPredicate(value):
            return Constant(value=value)
        case IsGiven(component):
            return conditions.Not(IsNull(component))
        case IsIn(component, values):
            return In(ComponentText(component), values)
        case PatternMatch(component, pattern):
            return Matches(ComponentText(component), r"[\s\S]*".join(escaped(part) for part in pattern.split("%")))
        case StartsWithin():
            return _starts_within(predicate)


def _starts_within(predicate: StartsWithin) -> Condition:
    start, parts = start_of(ComponentText(predicate.component)), []
    if predicate.from_s is not None:
        parts.append(CompareInt(start, ">=", Number(predicate.from_s)))
    if predicate.before_s is not None:
        parts.append(CompareInt(start, "<", Number(predicate.before_s)))
    return every(*parts)


def _unless_marked(condition: Condition, component: str, marks: frozenset[str]) -> Condition:
    """Make a condition unknown for values that mark a missing value, as if there were no value."""
    if not marks:
        return condition
    marked = In(ComponentText(component), marks)
    return every(some(condition, every(marked, _UNKNOWN)), some(conditions.Not(marked), _UNKNOWN))


def _has_key(ids: tuple[str, ...], keys: frozenset[tuple[str, ...]], marks: Mapping[str, frozenset[str]]) -> Condition:
    """Return whether a row has one of these keys; unknown if some parts are marked missing and the rest match a key."""
    marked = [In(ComponentText(id_), marks[id_]) for id_ in ids if marks.get(id_)]
    if not marked:
        return _one_of(ids, keys)
    places = [place for place, id_ in enumerate(ids) if not marks.get(id_)]
    others = _one_of([ids[place] for place in places], {tuple(key[place] for place in places) for key in keys})
    unmarked = every(_one_of(ids, keys), *(conditions.Not(one) for one in marked))
    return some(unmarked, every(some(*marked), others, _UNKNOWN))


def _one_of(ids: Sequence[str], keys: frozenset[tuple[str, ...]] | set[tuple[str, ...]]) -> Condition:
    if not ids:
        return Constant(value=True)
    text = ComponentText(ids[0]) if len(ids) == 1 else Concat(tuple(ids), SEPARATOR)
    return In(text, frozenset(map(SEPARATOR.join, keys)))
