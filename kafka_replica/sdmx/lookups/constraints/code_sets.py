"""Predicates applied to sets of codes: the codes that a component can have in a row that violates no constraint.

A predicate about several components is evaluated for one component at a time, in three-valued logic: with a given code
the predicate is certainly true, certainly false, or unknown because it depends on the other components. A code is ruled
out if it certainly violates a constraint. The remaining codes of each dimension then narrow the codes of the other
components, until nothing changes.

A row may have several values of some components. It violates a constraint if one of them is excluded, or if none of
them is included. So a code that is not included is possible in a row that also has a code that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from kafka_replica.sdmx.lookups.code_selection import matching_ids
from kafka_replica.sdmx.lookups.constraints.applied_constraints import AppliedConstraints
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
from kafka_replica.sdmx.lookups.constraints.violations import Violation
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.values.periods import period

_NONE: Final[frozenset[str]] = frozenset()


class _DecidedCodes(NamedTuple):
    """The codes that make a predicate certainly true, and the codes that make it certainly false."""

    true: frozenset[str]
    false: frozenset[str]


class CodeSets:
    """The codes that each coded component can have.

    Args:
        components: the components that data can have, by id.
        applied: the constraints on the data.
        given: values of some components.
    """

    def __init__(
        self, components: Mapping[str, EffectiveComponent], applied: AppliedConstraints, given: Mapping[str, str]
    ) -> None:
        self._broken = [_where_given(violation) for _, violation in applied.violations]
        self._codes: dict[str, frozenset[str]] = {}
        for id_, component in components.items():
            listed = component.listed_ids()
            if listed is not None:
                listed |= applied.unprefixed.get(id_, _NONE)
                self._codes[id_] = listed & {given[id_]} if id_ in given else listed
            elif id_ in given:
                self._codes[id_] = frozenset({given[id_]})
        # The value of an attribute or measure may be missing, so it cannot narrow the other components.
        self._decisive = {id_ for id_ in self._codes if id_ in given or _is_always_a_code(components[id_])}
        self._several = {id_ for id_ in self._codes if id_ not in given and _may_have_several(components[id_])}
        self._keys: dict[HasKey, frozenset[tuple[str, ...]]] = {}
        self._narrow()

    def of(self, component: str) -> frozenset[str]:
        """Return the codes that a coded component can have; an empty set if no row is possible."""
        if any(not self._codes[id_] for id_ in self._decisive):
            return _NONE
        return self._codes[component]

    def _narrow(self) -> None:
        is_changed = True
        while is_changed:
            is_changed = False
            for id_, codes in self._codes.items():
                ruled_out = _NONE.union(*(self._judge(one, id_, codes).true for one in self._broken))
                if ruled_out:
                    self._codes[id_] = codes - ruled_out
                    self._keys.clear()
                    is_changed = True

    def _judge(  # noqa: PLR0911 - one return per kind of predicate
        self, predicate: Predicate, id_: str, codes: frozenset[str], *, is_negated: bool = False
    ) -> _DecidedCodes:
        """Return the codes with which the predicate is decided; negated if under an odd number of negations."""

        def judge(part: Predicate) -> _DecidedCodes:
            return self._judge(part, id_, codes, is_negated=is_negated)

        match predicate:
            case Not(inner):
                found = self._judge(inner, id_, codes, is_negated=not is_negated)
                return _DecidedCodes(found.false, found.true)
            case AllOf(parts):
                judged = [judge(part) for part in parts]
                false = _NONE.union(*(one.false for one in judged))
                return _DecidedCodes(codes.intersection(*(one.true for one in judged)), false)
            case AnyOf(parts):
                judged = [judge(part) for part in parts]
                true = _NONE.union(*(one.true for one in judged))
                return _DecidedCodes(true, codes.intersection(*(one.false for one in judged)))
            case ComponentSelection(_, inner):
                return judge(inner)
            case ConstantPredicate(value):
                return _DecidedCodes(codes, _NONE) if value else _DecidedCodes(_NONE, codes)
            case HasKey():
                return self._has_key(predicate, id_, codes)
            case _:
                return self._about_one(predicate, id_, codes, is_negated)

    def _about_one(self, predicate: AboutOne, id_: str, codes: frozenset[str], is_negated: bool) -> _DecidedCodes:
        """Evaluate a predicate about one component, which need not be the component with this id.

        A negated predicate is about any of the values in a row, so a single value rarely makes it false.
        """
        if predicate.component == id_:
            found = _with_each(predicate, codes)
            is_about_any = is_negated and id_ in self._several and found.false != codes
            return _DecidedCodes(found.true, _NONE) if is_about_any else found
        known = self._codes[predicate.component] if predicate.component in self._decisive else _NONE
        true, false = _with_each(predicate, known)
        if not known or known not in (true, false):
            return _DecidedCodes(_NONE, _NONE)
        return _DecidedCodes(codes, _NONE) if true else _DecidedCodes(_NONE, codes)

    def _has_key(self, predicate: HasKey, id_: str, codes: frozenset[str]) -> _DecidedCodes:
        """Evaluate, for each code, whether the other components can complete a key, and whether they must."""
        keys = self._possible(predicate)
        others = [component for component in predicate.components if component != id_]
        is_decided = all(other in self._decisive and len(self._codes[other]) == 1 for other in others)
        if id_ not in predicate.components:
            if not keys:
                return _DecidedCodes(_NONE, codes)
            return _DecidedCodes(codes, _NONE) if is_decided else _DecidedCodes(_NONE, _NONE)
        at = predicate.components.index(id_)
        possible = codes.intersection(key[at] for key in keys)
        return _DecidedCodes(possible if is_decided else _NONE, codes - possible)

    def _possible(self, predicate: HasKey) -> frozenset[tuple[str, ...]]:
        """Return the keys whose parts the components can have."""
        if predicate not in self._keys:
            known = [
                self._codes[component] if component in self._decisive else None for component in predicate.components
            ]
            self._keys[predicate] = frozenset(
                key for key in predicate.keys
                if all(codes is None or part in codes for codes, part in zip(known, key, strict=True))
            )  # fmt: skip
        return self._keys[predicate]


def _where_given(violation: Violation) -> Predicate:
    """Return the violation's predicate. A demand on one component does not apply to rows in which it has no value."""
    if len(violation.components) != 1:
        return violation.broken
    return AllOf((IsGiven(violation.components[0]), violation.broken))


def _is_always_a_code(component: EffectiveComponent) -> bool:
    """Return whether each row has a code here. Sentinels for missing values are not codes; constraints ignore them."""
    format_ = component.representation.format if component.representation is not None else None
    return component.kind == "dimension" and not (format_ is not None and format_.sentinel_values)


def _may_have_several(component: EffectiveComponent) -> bool:
    """Return whether a row may have several values of the component; it has one of each dimension."""
    if component.kind == "dimension" or component.representation is None:
        return False
    return component.representation.max_occurs not in {None, 0, 1}


def _with_each(predicate: AboutOne, codes: frozenset[str]) -> _DecidedCodes:
    """Return the component's codes that make a predicate about the component true, and those that make it false."""
    match predicate:
        case IsGiven():
            true = codes
        case IsIn(_, values):
            true = codes & values
        case PatternMatch(_, pattern):
            true = frozenset(matching_ids(pattern, codes))
        case StartsWithin(_, from_s, before_s):
            periods = {code: found for code in codes if (found := period(code)) is not None}
            codes = frozenset(periods)  # unknown for all other codes
            true = frozenset(
                code
                for code, each in periods.items()
                if (from_s is None or each.start_s >= from_s) and (before_s is None or each.start_s < before_s)
            )
    return _DecidedCodes(true, codes - true)
