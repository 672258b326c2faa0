"""The codes that constraints leave to the components of a structure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any

from kafka_replica.errors import UsageError
from kafka_replica.sdmx.lookups.constraints.applied_constraints import AppliedConstraints, apply_constraints
from kafka_replica.sdmx.lookups.constraints.code_sets import CodeSets
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.lookups.resolved_structure import AttachedConstraint


class StructureConstraints:
    """The constraints on the data of a structure, for ``EffectiveComponent.allowed_ids``. Thread-safe.

    Args:
        components: the components that data can have, by id.
        constraints: the constraints that have the role Allowed and are in force, the widest level first.
    """

    def __init__(self, components: Mapping[str, EffectiveComponent], constraints: Iterable[AttachedConstraint]) -> None:
        self._components = dict(components)
        self._constraints = tuple(constraints)
        self._applied: tuple[date, AppliedConstraints] | None = None  # for the date requested last
        self._allowed: tuple[date, CodeSets] | None = None  # likewise, without given values

    def allowed_ids(self, component: str, given: Mapping[str, str], as_of: date | None) -> frozenset[str] | None:
        """Return the ids that a component may have: see ``EffectiveComponent.allowed_ids``."""
        strangers = ", ".join(sorted(set(given) - set(self._components)))
        if strangers:
            raise UsageError(
                f"finding the allowed ids of {component}: values are given for {strangers}, but the components are "
                f"{', '.join(self._components)}"
            )
        if self._components[component].enumeration is None:
            return None
        return self._code_sets(given, as_of or datetime.now(UTC).date()).of(component)

    def _code_sets(self, given: Mapping[str, str], as_of: date) -> CodeSets:
        known = self._allowed
        if not given and known is not None and known[0] == as_of:
            return known[1]
        found = CodeSets(self._components, self._apply(as_of), given)
        if not given:
            self._allowed = as_of, found
        return found

    def _apply(self, as_of: date) -> AppliedConstraints:
        known = self._applied
        if known is None or known[0] != as_of:
            known = self._applied = as_of, apply_constraints(self._constraints, self._components, as_of)
        return known[1]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, StructureConstraints):
            return NotImplemented
        return (self._components, self._constraints) == (other._components, other._constraints)

    def __hash__(self) -> int:
        return hash(self._constraints)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._components, self._constraints)
