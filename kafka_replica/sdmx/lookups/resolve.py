"""Resolution of everything that validating data needs: structure, concepts, lists and constraints, in one call."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol, TypeVar

from msgspec import structs

from kafka_replica.sdmx.containers import Items, stub_error
from kafka_replica.sdmx.errors import IncompleteStructureError, SdmxError, UnreadableContentError, UrnError
from kafka_replica.sdmx.lookups.constraints.allowed import StructureConstraints
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent
from kafka_replica.sdmx.lookups.effective_components import Components
from kafka_replica.sdmx.lookups.effective_components import Source as ComponentSource
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.lookups.resolved import (
    AttachedConstraint,
    ConstraintLevel,
    Missing,
    ResolvedStructure,
    constraints_in_force,
    used_components,
)
from kafka_replica.sdmx.model import (
    Artefact,
    Constraint,
    ContentConstraint,
    DataConstraint,
    Dataflow,
    DataStructure,
    Organisation,
    ProvisionAgreement,
)
from kafka_replica.sdmx.urn import Urn

T = TypeVar("T")
_SHOWN: Final = 20


class Source(ComponentSource, Protocol):
    """The look-ups of one version that resolution needs."""

    @property
    def version(self) -> int: ...  # noqa: D102
    @property
    def unread_constraints(self) -> dict[Urn, SdmxError]: ...  # noqa: D102
    def constraints_on(self, urn: Urn) -> tuple[Constraint, ...]: ...  # noqa: D102


def resolve(source: Source, urn: Urn, *, metadata: bool = True) -> ResolvedStructure:
    """Return everything that is needed to validate data of a dataflow or data structure, or of a provision agreement.

    Args:
        source: the look-ups of a version.
        urn: the artefact.
        metadata: whether to include the metadata attributes that data may carry.

    Raises:
        UrnError: the URN is of another class.
        IncompleteStructureError: a required artefact is not in this version, or cannot be used; names all such
            artefacts.
    """
    return _Gathering(source, urn).resolved(metadata=metadata)


def require_components(structure: DataStructure) -> None:
    """Raise UnreadableContentError if a data structure is a stub: marked as external, or without any component.

    No data can be validated against a structure without components: no row could violate a rule.
    """
    if structure.is_stub:
        raise stub_error(structure.urn)
    if not structure.components:
        raise UnreadableContentError(
            f"{structure.urn} has names but no components, so this record is a stub without the mark "
            "(isExternalReference); have the whole data structure published"
        )


class _Gathering:
    """A single resolution: missing artefacts are collected, and reported at the end."""

    def __init__(self, source: Source, urn: Urn) -> None:
        self._source, self._urn = source, urn
        self._components = Components(source)

    def resolved(self, *, metadata: bool) -> ResolvedStructure:
        agreement, flow, structure = self._chain()
        provider = self._provider(agreement)
        components = Items({one.id: self._components.component(one) for one in structure.components})
        described = self._components.metadata_structure(structure) if metadata else None
        attributes = self._components.metadata_attributes(structure, described)
        if self._components.needed:
            raise self._incomplete()
        asked = next(one for one in (agreement, flow, structure) if one is not None)
        constraints = tuple(self._constraints(agreement, flow, structure))
        return ResolvedStructure(
            version=self._source.version,
            urn=asked.urn,
            data_structure=structure,
            dataflow=flow,
            provision_agreement=agreement,
            data_provider=provider,
            metadata_structure=described,
            components=_constrained(components, used_components(components, flow), constraints),
            metadata_attributes=Items(attributes),
            constraints=constraints,
            unread_constraints={urn: str(error) for urn, error in self._source.unread_constraints.items()},
            missing=tuple(self._components.unneeded),
        )

    def _chain(self) -> tuple[ProvisionAgreement | None, Dataflow | None, DataStructure]:
        """Return the requested artefact and the artefacts it depends on."""
        found = self._source.get(self._urn)
        agreement = flow = None
        if isinstance(found, ProvisionAgreement):
            agreement = found
            usage = None if agreement.is_stub else agreement.structure_usage
            found = self._must(agreement, usage, Dataflow)
        if isinstance(found, Dataflow):
            flow = found
            found = self._must(flow, flow.structure_reference, DataStructure)
        if not isinstance(found, DataStructure):
            raise UrnError(f"resolving {self._urn}: it is no DataStructure, Dataflow or ProvisionAgreement; name one")
        try:
            require_components(found)
        except UnreadableContentError as error:
            raise self._incomplete(Missing(found.urn, None, str(error))) from error
        return agreement, flow, found

    def _must(self, holder: Artefact, target: Urn | None, kind: type[T]) -> T:
        """Return a required artefact."""
        if holder.is_stub:
            raise self._incomplete(Missing(holder.urn, target, str(stub_error(holder.urn))))
        if target is None:
            reason = f"{holder.urn} names no {kind.__name__}; have it published with one"
            raise self._incomplete(Missing(holder.urn, None, reason))
        try:
            found = self._source.get(late_bound(target, holder.urn))
        except SdmxError as error:
            raise self._incomplete(Missing(holder.urn, target, str(error))) from error
        if not isinstance(found, kind):
            raise UrnError(f"resolving {self._urn}: {holder.urn} is about {target}, and not about a {kind.__name__}")
        return found

    def _provider(self, agreement: ProvisionAgreement | None) -> Organisation | None:
        if agreement is None or agreement.data_provider is None:
            return None
        found = self._components.optional(agreement.urn, agreement.data_provider, self._components.unneeded)
        return found if isinstance(found, Organisation) else None

    def _constraints(
        self, agreement: ProvisionAgreement | None, flow: Dataflow | None, structure: DataStructure
    ) -> Iterator[AttachedConstraint]:
        # The provider may be in no scheme of this version although its constraints are in the version.
        provider = agreement.data_provider if agreement is not None else None
        urns = (provider, structure.urn, *(None if one is None else one.urn for one in (flow, agreement)))
        for level, urn in zip(ConstraintLevel, urns, strict=True):
            if urn is None:
                continue
            for constraint in self._source.constraints_on(urn):
                if isinstance(constraint, DataConstraint | ContentConstraint):
                    yield AttachedConstraint(constraint=constraint, level=level, attached_to=urn)

    def _incomplete(self, *more: Missing) -> IncompleteStructureError:
        missing = (*self._components.needed, *more)
        who: dict[str, list[str]] = {}
        for one in missing:
            who.setdefault(one.reason, []).append(one.source.item or one.source.reference)
        told = [f"{', '.join(sources)}: {reason}" for reason, sources in who.items()]
        rest = f"; and {len(told) - _SHOWN} more" if len(told) > _SHOWN else ""
        error = IncompleteStructureError(
            f"resolving {self._urn} in version {self._source.version}: not all it needs is there, or can be used: "
            f"{'; '.join(told[:_SHOWN])}{rest}; have these published, or take a version that has them"
        )
        error.missing = missing
        return error


def _constrained(
    components: Items[EffectiveComponent],
    used: Items[EffectiveComponent],
    constraints: tuple[AttachedConstraint, ...],
) -> Items[EffectiveComponent]:
    """Return the components; those that data can have get the constraints on the data."""
    applying = StructureConstraints(used, constraints_in_force(constraints))
    return Items({
        id_: structs.replace(one, constraints=applying) if id_ in used else one for id_, one in components.items()
    })  # fmt: skip
