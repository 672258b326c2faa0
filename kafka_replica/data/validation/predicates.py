"""Translate predicates of constraints to conditions, which engines can evaluate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

from kafka_replica.data.validation import conditions
from kafka_replica.data.validation.conditions import (
    AnyValue,
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
from kafka_replica.data.validation.patterns import literal_expression
from kafka_replica.data.validation.periods import start_of_period
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


def condition_of(  # noqa: PLR0911 - one return per kind of predicate
    predicate: Predicate,
    marks: Mapping[str, frozenset[str]],
    several: AbstractSet[str] = frozenset(),
    *,
    is_negated: bool = False,
) -> Condition:
    """Return the condition that is true exactly where a predicate is true.

    A row with several values of a component violates a constraint if one of the values makes the condition true. So
    under a negation, where a predicate describes what is allowed, the predicate must be true for any of the values.

    Args:
        predicate: the predicate.
        marks: by component, the values that mark a missing value.
        several: the components that may have several values in a row.
        is_negated: whether the predicate is under an odd number of negations.
    """

    def translate(part: Predicate) -> Condition:
        return condition_of(part, marks, several, is_negated=is_negated)

    match predicate:
        case ComponentSelection(component, inner):
            has_several = is_negated and component in several
            return _unless_marked(translate(inner), component, marks.get(component, frozenset()), has_several)
        case Not(inner):
            return conditions.Not(condition_of(inner, marks, several, is_negated=not is_negated))
        case AllOf(parts):
            return every(*map(translate, parts))
        case AnyOf(parts):
            return some(*map(translate, parts))
        case HasKey(components, keys):
            return _has_key(components, keys, marks)
        case IsIn(component) | PatternMatch(component) | StartsWithin(component) if is_negated and component in several:
            return AnyValue(component, _about_one(predicate))
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
            return Matches(
                ComponentText(component), r"[\s\S]*".join(literal_expression(part) for part in pattern.split("%"))
            )
        case StartsWithin():
            return _starts_within(predicate)


def _starts_within(predicate: StartsWithin) -> Condition:
    start, parts = start_of_period(ComponentText(predicate.component)), []
    if predicate.from_s is not None:
        parts.append(CompareInt(start, ">=", Number(predicate.from_s)))
    if predicate.before_s is not None:
        parts.append(CompareInt(start, "<", Number(predicate.before_s)))
    return every(*parts)


def _unless_marked(condition: Condition, component: str, marks: frozenset[str], has_several: bool) -> Condition:
    """Make a condition unknown for values that mark a missing value, as if there were no value."""
    if not marks:
        return condition
    marked: Condition = In(ComponentText(component), marks)
    if has_several:
        marked = conditions.Not(AnyValue(component, conditions.Not(marked)))
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
