"""The constraints that apply to data on a date, read for the components that the data can have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from typing import NamedTuple

from kafka_replica.sdmx.lookups.constraints.inheritance import InheritedCodes
from kafka_replica.sdmx.lookups.constraints.selections import SelectionReader
from kafka_replica.sdmx.lookups.constraints.violations import (
    Violation,
    reason_not_applied,
    unread_validities,
    violations,
)
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.lookups.resolved_structure import AttachedConstraint
from kafka_replica.sdmx.model import Constraint


class AppliedConstraints(NamedTuple):
    """The effect of constraints on a date.

    Attributes:
        violations: each demand with the constraint that makes it.
        notes: the constraints that do not apply, and the parts that could not be read, in words.
        unprefixed: by component, the values without prefix that are allowed in addition to those of the list.
    """

    violations: tuple[tuple[Constraint, Violation], ...]
    notes: tuple[str, ...]
    unprefixed: Mapping[str, frozenset[str]]


def apply_constraints(
    constraints: Iterable[AttachedConstraint], components: Mapping[str, EffectiveComponent], as_of: date
) -> AppliedConstraints:
    """Return the effect of constraints on data.

    Args:
        constraints: the constraints of role Allowed that are attached to the data's structure, flow, agreement or
            provider, the widest level first.
        components: the components that the data can have, by id.
        as_of: the date on which constraints must be valid.
    """
    found: list[tuple[Constraint, Violation]] = []
    notes: list[str] = []
    unprefixed: dict[str, frozenset[str]] = {}
    reader = SelectionReader(components, as_of)
    series = [id_ for id_, component in components.items() if component.kind == "dimension" and id_ != reader.time]
    inherited = InheritedCodes(components)
    for attached in constraints:
        constraint = attached.constraint
        reason = reason_not_applied(constraint, as_of)
        if reason is not None:
            notes.append(f"{constraint.urn}: {reason}")
            continue
        reader = SelectionReader(components, as_of)
        narrowed = inherited.narrowed(attached)
        found += [(constraint, violation) for violation in violations(narrowed.constraint, reader, series)]
        notes += [
            f"{constraint.urn}: {note}" for note in (*unread_validities(constraint), *narrowed.notes, *reader.notes)
        ]
        for id_, values in reader.unprefixed.items():
            unprefixed[id_] = unprefixed.get(id_, frozenset()) | values
    return AppliedConstraints(tuple(found), tuple(notes), unprefixed)
