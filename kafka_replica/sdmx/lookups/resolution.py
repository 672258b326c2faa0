"""Resolution of everything that validating data needs: structure, concepts, lists and constraints, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from msgspec import structs

from kafka_replica.sdmx.containers import Items, stub_error
from kafka_replica.sdmx.errors import SdmxError, UnreadableContentError
from kafka_replica.sdmx.lookups.class_aliases import classes_of
from kafka_replica.sdmx.lookups.constraints.allowed_codes import StructureConstraints
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.lookups.effective_components import ComponentLookups, Components
from kafka_replica.sdmx.lookups.resolved_structure import (
    AttachedConstraint,
    ConstraintLevel,
    MissingReference,
    ResolvedStructure,
    attached_in_force,
    used_components,
)
from kafka_replica.sdmx.lookups.structure_usage import StructureUsage, incomplete, structure_usage
from kafka_replica.sdmx.model import (
    Constraint,
    ContentConstraint,
    DataConstraint,
    DataStructure,
    Organisation,
    ProvisionAgreement,
)
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.sdmx.urns.versions import superseding


class ResolutionLookups(ComponentLookups, Protocol):
    """The look-ups in one version that resolution needs."""

    @property
    def version(self) -> int: ...  # noqa: D102
    @property
    def unread_constraints(self) -> dict[Urn, SdmxError]: ...  # noqa: D102
    def constraints_on(self, urn: Urn) -> tuple[Constraint, ...]: ...  # noqa: D102
    def find(self, cls: str, agency: str, id: str) -> list[Urn]: ...  # noqa: A002, D102


def resolve(
    lookups: ResolutionLookups, urn: Urn, *, metadata: bool = True, allow_missing: bool = False
) -> ResolvedStructure:
    """Return everything that is needed to validate data of a dataflow or data structure, or of a provision agreement.

    Args:
        lookups: the look-ups in a version.
        urn: the artefact.
        metadata: whether to include the metadata attributes that data may carry.
        allow_missing: whether lists and concepts may be missing or unusable; ``missing_lists`` then names them.

    Raises:
        UrnError: the URN is of another class.
        IncompleteStructureError: a required artefact is not in this version, or cannot be used; names all such
            artefacts.
    """
    return _Resolution(lookups, urn).resolved(metadata=metadata, allow_missing=allow_missing)


def require_components(structure: DataStructure) -> None:
    """Raise UnreadableContentError if a data structure is a stub: marked as external, or without any component.

    No data can be validated against a structure without components: no row could violate a rule.
    """
    if structure.is_stub:
        raise stub_error(structure.urn)
    if not structure.components:
        raise UnreadableContentError(
            f"{structure.urn} has names but no components, so this record is a stub without the mark "
            "(isExternalReference); publish the whole data structure"
        )


class _Resolution:
    """A single resolution: missing artefacts are collected, and reported at the end."""

    def __init__(self, lookups: ResolutionLookups, urn: Urn) -> None:
        self._lookups, self._urn = lookups, urn
        self._components = Components(lookups)

    def resolved(self, *, metadata: bool, allow_missing: bool) -> ResolvedStructure:
        usage = structure_usage(self._lookups, self._urn)
        structure, flow, agreement = usage
        try:
            require_components(structure)
        except UnreadableContentError as error:
            missing = MissingReference(structure.urn, None, str(error))
            raise incomplete(self._lookups, self._urn, [missing]) from error
        provider = self._provider(agreement)
        components = Items({component.id: self._components.component(component) for component in structure.components})
        described = self._components.metadata_structure(structure) if metadata else None
        attributes = self._components.metadata_attributes(structure, described)
        if self._components.needed and not allow_missing:
            raise incomplete(self._lookups, self._urn, self._components.needed)
        constraints = tuple(self._constraints(usage))
        return ResolvedStructure(
            version=self._lookups.version,
            urn=usage.urn,
            data_structure=structure,
            dataflow=flow,
            provision_agreement=agreement,
            data_provider=provider,
            metadata_structure=described,
            components=_constrained(components, used_components(components, flow), constraints),
            metadata_attributes=Items(attributes),
            constraints=constraints,
            unread_constraints={urn: str(error) for urn, error in self._lookups.unread_constraints.items()},
            missing=tuple(self._components.unneeded),
            missing_lists=tuple(self._components.needed),
        )

    def _provider(self, agreement: ProvisionAgreement | None) -> Organisation | None:
        if agreement is None or agreement.data_provider is None:
            return None
        found = self._components.optional(agreement.urn, agreement.data_provider, self._components.unneeded)
        return found if isinstance(found, Organisation) else None

    def _constraints(self, usage: StructureUsage) -> Iterator[AttachedConstraint]:
        # The provider may be in no scheme of this version although its constraints are in the version.
        provider = usage.agreement.data_provider if usage.agreement is not None else None
        others = (None if one is None else one.urn for one in (usage.dataflow, usage.agreement))
        urns = (provider, usage.structure.urn, *others)
        for level, urn in zip(ConstraintLevel, urns, strict=True):
            if urn is None:
                continue
            for constraint in self._lookups.constraints_on(urn):
                if isinstance(constraint, DataConstraint | ContentConstraint):
                    later = self._superseding(constraint.urn)
                    yield AttachedConstraint(constraint=constraint, level=level, attached_to=urn, superseded_by=later)

    def _superseding(self, constraint: Urn) -> Urn | None:
        """Return the version that takes a constraint's place; a stub or an unreadable version takes no place."""
        unread = self._lookups.unread_constraints
        every = (self._lookups.find(cls, constraint.agency, constraint.id) for cls in classes_of(constraint.cls))
        known = {one.version: one for found in every for one in found if one not in unread}
        version = superseding(constraint.version, known)
        return None if version is None else known[version]


def _constrained(
    components: Items[EffectiveComponent],
    used: Items[EffectiveComponent],
    constraints: tuple[AttachedConstraint, ...],
) -> Items[EffectiveComponent]:
    """Return the components; those that data can have get the constraints on the data."""
    applying = StructureConstraints(used, attached_in_force(constraints))
    return Items(
        {
            id_: structs.replace(component, constraints=applying) if id_ in used else component
            for id_, component in components.items()
        }
    )
