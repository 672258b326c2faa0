"""Predicates about one row of data, in which the meaning of a constraint is written down.

They follow SQL's three-valued logic: where the row has no value for a component, a predicate about it is unknown.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Truth:
    """A constant."""

    value: bool


@dataclass(frozen=True, slots=True)
class IsGiven:
    """The component has a value. Never unknown."""

    component: str


@dataclass(frozen=True, slots=True)
class IsIn:
    """The value of the component is one of these."""

    component: str
    values: frozenset[str]


@dataclass(frozen=True, slots=True)
class Fits:
    """The value of the component fits a pattern in which ``%`` stands for any text."""

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
class Selects:
    """The part of a region that is about one component.

    Unknown where the value is one that stands for a missing value, for no selection is about these.
    """

    component: str
    predicate: Predicate


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    predicate: Predicate


@dataclass(frozen=True, slots=True)
class AllOf:
    """All are true; true if there are none."""

    predicates: tuple[Predicate, ...]


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of them is true; false if there are none."""

    predicates: tuple[Predicate, ...]


AboutOne: TypeAlias = IsGiven | IsIn | Fits | StartsWithin
"""The predicates that look at the value of one component."""

Predicate: TypeAlias = Truth | AboutOne | HasKey | Selects | Not | AllOf | AnyOf


def all_of(*predicates: Predicate) -> Predicate:
    """Return a predicate that is true where all are."""
    return predicates[0] if len(predicates) == 1 else AllOf(predicates)


def any_of(*predicates: Predicate) -> Predicate:
    """Return a predicate that is true where one of them is."""
    return predicates[0] if len(predicates) == 1 else AnyOf(predicates)
