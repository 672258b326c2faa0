"""Predicates about one row of data that express the meaning of a constraint.

They follow SQL's three-valued logic: if the row has no value for a component, a predicate about the component is
unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ConstantPredicate:
    """A constant."""

    value: bool


@dataclass(frozen=True, slots=True)
class IsGiven:
    """The component has a value. Never unknown."""

    component: str


@dataclass(frozen=True, slots=True)
class IsIn:
    """The value of the component is in this set."""

    component: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class PatternMatch:
    """The value of the component matches a pattern in which ``%`` matches any text."""

    component: str
    pattern: str


@dataclass(frozen=True, slots=True)
class StartsWithin:
    """The period of the component begins at ``from_s`` or later, and before ``before_s`` (seconds since 1970)."""

    component: str
    from_s: int | None = None
    before_s: int | None = None


@dataclass(frozen=True, slots=True)
class HasKey:
    """The values of the components, in this order, are one of these keys."""

    components: tuple[str, ...]
    keys: frozenset[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class ComponentSelection:
    """The part of a region that concerns one component.

    Unknown if the value is a sentinel for a missing value, because selections do not cover sentinels.
    """

    component: str
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a predicate."""

    predicate: Predicate


@dataclass(frozen=True, slots=True)
class AllOf:
    """All predicates are true; true if there are no predicates."""

    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one predicate is true; false if there are no predicates."""

    predicates: tuple[Predicate, ...]


AboutOne: TypeAlias = IsGiven | IsIn | PatternMatch | StartsWithin
"""The predicates that depend on the value of one component."""

Predicate: TypeAlias = ConstantPredicate | AboutOne | HasKey | ComponentSelection | Not | AllOf | AnyOf


def all_of(*predicates: Predicate) -> Predicate:
    """Return a predicate that is true if all predicates are true."""
    return predicates[0] if len(predicates) == 1 else AllOf(predicates)


def any_of(*predicates: Predicate) -> Predicate:
    """Return a predicate that is true if any predicate is true."""
    return predicates[0] if len(predicates) == 1 else AnyOf(predicates)
