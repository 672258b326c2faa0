"""Checks derived from the constraints on data.

All constraints of the data provider, data structure, dataflow and provision agreement apply together: each can only
narrow the valid data. ``kafka_replica.sdmx.lookups.constraints`` reads the requirements of each constraint, for
look-ups and for validation; this module turns them into checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from kafka_replica.data.validation.components import DescribedComponent
from kafka_replica.data.validation.model import Check
from kafka_replica.data.validation.predicates import condition_of
from kafka_replica.sdmx.lookups.constraints.applied_constraints import AppliedConstraints
from kafka_replica.sdmx.lookups.constraints.violations import DemandKind
from kafka_replica.sdmx.lookups.resolved_structure import ResolvedStructure, in_force, only_drafts

_SHOWN: Final = 3


class _RuleText(NamedTuple):
    """The rule that a requirement belongs to, and the message of its findings, to which the constraint is appended."""

    rule: str
    message: str


_DEMANDS: Final = {
    DemandKind.VALUE: _RuleText("value-not-allowed", "is not allowed by"),
    DemandKind.VALID_VALUE: _RuleText("value-not-valid", "is not valid at this time by"),
    DemandKind.IN_REGION: _RuleText("region-not-allowed", "is outside the regions allowed by"),
    DemandKind.NOT_IN_REGION: _RuleText("region-not-allowed", "is in a region excluded by"),
    DemandKind.IN_KEYS: _RuleText("key-not-allowed", "is not allowed by"),
    DemandKind.NOT_IN_KEYS: _RuleText("key-not-allowed", "is excluded by"),
}


def constraint_checks(
    applied: AppliedConstraints, components: Mapping[str, DescribedComponent], severities: Mapping[str, str]
) -> Iterator[Check]:
    """Return the checks of constraints.

    Args:
        applied: the constraints that apply.
        components: the components that data can have, by id.
        severities: the severity of each rule that is on.
    """
    marks = {id_: component.marks for id_, component in components.items()}
    columns = (component.column for component in components.values())
    several = {column.id for column in columns if column.is_multi_valued or column.is_multi_lingual}
    for constraint, violation in applied.violations:
        rule, message = _DEMANDS[violation.demand]
        if rule not in severities:
            continue
        shown = violation.components
        subject = f"the value of {shown[0]}" if len(shown) == 1 else f"the key of {'.'.join(shown)}"
        text = f"{subject} {message} {constraint.urn.reference}"
        broken = condition_of(violation.broken, marks, several)
        alone = shown[0] if len(shown) == 1 else None
        yield Check(rule, severities[rule], alone, broken, text, str(constraint.urn), shown)


def constraints_not_checked(resolved: ResolvedStructure) -> Iterator[str]:
    """Yield messages about the constraints that define no rule or cannot be read."""
    for one in in_force(resolved.actual):
        yield f"{one.constraint.urn}: it describes existing data (role Actual), not allowed data"
    drafts = only_drafts([constraint for constraint in resolved.constraints if not constraint.is_actual])
    for urn in dict.fromkeys(draft.constraint.urn for draft in drafts):
        yield f"{urn}: it is a draft, and no other version of it applies"
    known = {one.constraint.urn for one in resolved.constraints}
    for urn, later in dict.fromkeys((one.constraint.urn, one.superseded_by) for one in resolved.constraints):
        if later is not None and later not in known:
            yield f"{urn}: it is superseded by {later}, which is attached to something else, or to nothing"
    unread = list(resolved.unread_constraints.items())
    if unread:
        shown = "; ".join(f"{urn}: {reason}" for urn, reason in unread[:_SHOWN])
        rest = f"; and {len(unread) - _SHOWN} more" if len(unread) > _SHOWN else ""
        yield f"constraints with unknown attachments, which may apply to this structure: {shown}{rest}"
