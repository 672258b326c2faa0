"""The resolved structure: everything that is needed to validate the data of a flow."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

import msgspec

from kafka_replica.common.html_tables import TableRows
from kafka_replica.common.wording import counted
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.model import (
    Component,
    Constraint,
    ContentConstraint,
    Dataflow,
    DataStructure,
    Dimension,
    MetadataStructure,
    Organisation,
    ProvisionAgreement,
)
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.urns.versions import is_stable, sort_key

_Place: TypeAlias = tuple[Urn, str, str]


class MissingReference(NamedTuple):
    """A missing or unusable target of a reference: where the reference is, what it names, and the reason."""

    source: Urn
    target: Urn | None
    reason: str


class ConstraintLevel(StrEnum):
    """The kinds of artefacts that a constraint can be attached to, the widest first."""

    DATA_PROVIDER = "data provider"
    DATA_STRUCTURE = "data structure"
    DATAFLOW = "dataflow"
    PROVISION_AGREEMENT = "provision agreement"


class AttachedConstraint(msgspec.Struct, frozen=True, kw_only=True):
    """A constraint and its attachment. A constraint of a data provider concerns only its release calendar.

    ``superseded_by`` is the latest version of the constraint that can be read, if both versions are semantic and that
    version is later and not a draft; it may be attached to something else, or to nothing.
    """

    constraint: Constraint
    level: ConstraintLevel
    attached_to: Urn
    superseded_by: Urn | None = None

    def __repr__(self) -> str:
        return f"<AttachedConstraint {self.constraint.urn.reference} on {self.level} {self.attached_to.reference}>"

    @property
    def is_actual(self) -> bool:
        """True if the constraint describes existing data, not allowed data; the default for a ContentConstraint."""
        default = "Actual" if isinstance(self.constraint, ContentConstraint) else "Allowed"
        return (self.constraint.role or default).lower() == "actual"


class ResolvedStructure(msgspec.Struct, frozen=True, kw_only=True):
    """Everything from one version that is needed to validate data. Immutable.

    Attributes:
        version: the version of the replica.
        urn: the URN of the resolved artefact, with its concrete version.
        data_structure: the data structure.
        dataflow: the dataflow; None if a data structure was resolved.
        provision_agreement: the provision agreement, if one was resolved.
        data_provider: the data provider, if a provision agreement was resolved.
        metadata_structure: the metadata structure of the metadata attributes that data may carry (3.x).
        components: all components by id: dimensions, measures, attributes.
        metadata_attributes: the metadata attributes that data may carry, by the path used to refer to them.
        constraints: all data constraints that are attached to any of these, the widest level first.
        unread_constraints: the data constraints of this version whose attachments are unknown, each with
            the reason: they are stubs, or cannot be read. They may apply, too.
        missing: references to missing artefacts that validation does not need: concepts of components with a
            representation of their own, and the data provider.
        missing_lists: references to missing or unusable artefacts that validation needs: lists of values, and
            concepts of components without a representation of their own. Empty unless they were allowed to be missing.
    """

    version: int
    urn: Urn
    data_structure: DataStructure
    dataflow: Dataflow | None = None
    provision_agreement: ProvisionAgreement | None = None
    data_provider: Organisation | None = None
    metadata_structure: MetadataStructure | None = None
    components: Items[EffectiveComponent]
    metadata_attributes: Items[EffectiveComponent]
    constraints: tuple[AttachedConstraint, ...] = ()
    unread_constraints: Mapping[Urn, str] = {}
    missing: tuple[MissingReference, ...] = ()
    missing_lists: tuple[MissingReference, ...] = ()

    def __hash__(self) -> int:
        return hash((self.version, self.urn))

    def __repr__(self) -> str:
        counts = counted(len(self.components), "component"), counted(len(self.constraints), "constraint")
        count = len(self.missing) + len(self.missing_lists)
        missing = f", {count:,} missing" if count else ""
        return f"<ResolvedStructure {self.urn.reference} in version {self.version}: {', '.join(counts)}{missing}>"

    def _repr_html_(self) -> str:
        found = self.components
        rows = ((component.id, component.kind, component.values_text()) for component in found.values())
        return TableRows(("id", "kind", "values"), rows, len(found), "component").html(repr(self)[1:-1])

    @property
    def used_components(self) -> Items[EffectiveComponent]:
        """The components that data can have; in an evolving structure (3.1), only the dimensions that the flow uses.

        The time dimension is always used.
        """
        return used_components(self.components, self.dataflow)

    @property
    def dimensions(self) -> tuple[EffectiveComponent, ...]:
        """The dimensions that data can have, in order, including the time dimension."""
        return tuple(component for component in self.used_components.values() if component.kind == "dimension")

    @property
    def allowed(self) -> tuple[AttachedConstraint, ...]:
        """The constraints that data must satisfy, the widest level first.

        Among several versions of a constraint at the same attachment, the latest version that is not a draft applies;
        a semantic version does not apply if there is a later one that is not a draft, whatever that is attached to
        (SDMX 3.1 Section 6, "Multiple Constraints"). The property does not check whether a constraint's validity covers
        a date.
        """
        return in_force(constraint for constraint in self.constraints if not constraint.is_actual)

    @property
    def actual(self) -> tuple[AttachedConstraint, ...]:
        """The constraints that describe the existing data; among several versions of a constraint, the latest."""
        return in_force(constraint for constraint in self.constraints if constraint.is_actual)


def used_components(components: Items[EffectiveComponent], dataflow: Dataflow | None) -> Items[EffectiveComponent]:
    """Return the components without the dimensions that a dataflow leaves out of an evolving structure (3.1).

    Source: SDMXStructureDataflow.xsd 3.1, ``DimensionConstraintType``: the time dimension is used without being listed.
    """
    used = dataflow.dimension_constraint if dataflow is not None else ()
    if not used:
        return components
    return Items({id_: one for id_, one in components.items() if id_ in used or not _is_optional(one.component)})


def _is_optional(component: Component) -> bool:
    return isinstance(component, Dimension) and not component.is_time


def in_force(constraints: Iterable[AttachedConstraint]) -> tuple[AttachedConstraint, ...]:
    """Return, for each constraint and attachment, the latest version that is not a draft and not superseded."""
    newest: dict[_Place, AttachedConstraint] = {}
    for constraint in constraints:
        version = constraint.constraint.urn.version
        place = _place(constraint)
        known = newest.get(place)
        later = known is None or sort_key(version) > sort_key(known.constraint.urn.version)
        if is_stable(version) and constraint.superseded_by is None and later:
            newest[place] = constraint
    return tuple(newest.values())


def only_drafts(constraints: Sequence[AttachedConstraint]) -> tuple[AttachedConstraint, ...]:
    """Return the drafts of the constraints of which no other version is in force at the same attachment."""
    applied = {_place(constraint) for constraint in in_force(constraints)}
    return tuple(
        one
        for one in constraints
        if not is_stable(one.constraint.urn.version) and one.superseded_by is None and _place(one) not in applied
    )


def _place(constraint: AttachedConstraint) -> _Place:
    urn = constraint.constraint.urn
    return constraint.attached_to, urn.agency, urn.id


def attached_in_force(constraints: Iterable[AttachedConstraint]) -> tuple[AttachedConstraint, ...]:
    """Return the constraints that data must satisfy, each once at its widest level, the widest level first."""
    found: dict[Urn, AttachedConstraint] = {}
    for one in in_force(constraint for constraint in constraints if not constraint.is_actual):
        found.setdefault(one.constraint.urn, one)
    return tuple(found.values())


def constraints_in_force(constraints: Iterable[AttachedConstraint]) -> tuple[Constraint, ...]:
    """Return the constraints that data must satisfy, each once, the widest level first."""
    return tuple(one.constraint for one in attached_in_force(constraints))
