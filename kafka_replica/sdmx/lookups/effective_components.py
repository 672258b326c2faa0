"""The components of a data structure, each with the concept, representation and list that apply to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple, Protocol

from kafka_replica.sdmx.containers import NO_ITEMS, Items, stub_error
from kafka_replica.sdmx.errors import SdmxError, UnreadableContentError
from kafka_replica.sdmx.lookups.effective_component import EffectiveComponent, Enumeration
from kafka_replica.sdmx.lookups.extensions import without_prefixes
from kafka_replica.sdmx.lookups.items import Item, item_of
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.lookups.resolved_structure import MissingReference
from kafka_replica.sdmx.model import (
    Artefact,
    Attribute,
    AttributeRelationship,
    Codelist,
    Component,
    Concept,
    ConceptScheme,
    DataStructure,
    MetadataAttribute,
    MetadataStructure,
    ValueList,
)
from kafka_replica.sdmx.model.representation import Representation, effective_representation, says_values
from kafka_replica.sdmx.urns.urn import Urn


class ComponentLookups(Protocol):
    """The look-ups in one version that building components needs."""

    def get(self, urn: Urn) -> Artefact | Item: ...  # noqa: D102
    def codelist(self, reference: Urn) -> Codelist: ...  # noqa: D102
    def expand(self, codelist: Codelist) -> Codelist: ...  # noqa: D102


class _ListedValues(NamedTuple):
    """A list of values, and its codes that carry an extension prefix, mapped to their ids without the prefix."""

    enumeration: Enumeration | None
    unprefixed: Mapping[str, str]


_UNLISTED: Final = _ListedValues(None, NO_ITEMS)


def enumeration_target(
    component: Component, concept: Concept | None, representation: Representation | None
) -> Urn | None:
    """Return the list that a component's effective representation names; None if the component is not coded.

    A version rule in the reference is interpreted for the artefact that states it: the component's, or the concept's.
    """
    if representation is None or representation.enumeration is None:
        return None
    stated_by = component if says_values(component.representation) or concept is None else concept
    return late_bound(representation.enumeration, stated_by.urn)


class Components:
    """A builder of components; notes missing artefacts in ``needed``, or in ``unneeded`` if validation works anyway."""

    def __init__(self, lookups: ComponentLookups) -> None:
        self._lookups = lookups
        self._lists: dict[Urn, _ListedValues | SdmxError] = {}
        self.needed: list[MissingReference] = []
        self.unneeded: list[MissingReference] = []

    def component(
        self, component: Component, relationship: AttributeRelationship | None = None, *, is_needed: bool = True
    ) -> EffectiveComponent:
        """Return the component with its effective concept, representation, list and relationship.

        Args:
            component: the component as written.
            relationship: the relationship of a metadata attribute's usage.
            is_needed: whether validation needs the component's concept or list.
        """
        own = component.representation
        note = self.needed if is_needed else self.unneeded
        concept = self._concept(component, self.unneeded if says_values(own) else note)
        representation = effective_representation(own, concept.core_representation if concept else None)
        target = enumeration_target(component, concept, representation)
        listed = self._enumeration(component, target, note) if target is not None else _UNLISTED
        return EffectiveComponent(
            component=component,
            concept=concept,
            representation=representation,
            enumeration=listed.enumeration,
            unprefixed=listed.unprefixed,
            relationship=component.relationship if isinstance(component, Attribute) else relationship,
        )

    def _concept(self, component: Component, note: list[MissingReference]) -> Concept | None:
        if component.concept is None:
            return None
        found = self.optional(component.urn, component.concept, note)
        return found if isinstance(found, Concept) else None

    def _enumeration(self, component: Component, target: Urn, note: list[MissingReference]) -> _ListedValues:
        if target not in self._lists:
            try:
                self._lists[target] = self._listed(target)
            except SdmxError as error:
                self._lists[target] = error
        found = self._lists[target]
        if isinstance(found, SdmxError):
            note.append(MissingReference(component.urn, target, str(found)))
            return _UNLISTED
        return found

    def _listed(self, target: Urn) -> _ListedValues:
        found = self._lookups.get(target)
        if isinstance(found, Codelist):
            has_prefixes = not found.is_stub and any(extension.prefix for extension in found.extensions)
            unprefixed = Items(without_prefixes(found, self._lookups.codelist)) if has_prefixes else NO_ITEMS
            return _ListedValues(self._lookups.expand(found), unprefixed)
        if not isinstance(found, ValueList | ConceptScheme):
            raise UnreadableContentError(
                f"{target} has no list of values; use a codelist, value list or concept scheme"
            )
        if found.is_stub:
            raise stub_error(found.urn)
        return _ListedValues(found, NO_ITEMS)

    def metadata_structure(self, structure: DataStructure) -> MetadataStructure | None:
        """Return the metadata structure whose attributes data may carry."""
        # Without usages, data may carry all of its attributes, but need not.
        note = self.needed if structure.metadata_attribute_usages else self.unneeded
        if structure.metadata is None:
            if structure.metadata_attribute_usages:
                reason = f"{structure.urn} uses metadata attributes of no metadata structure"
                note.append(MissingReference(structure.urn, None, reason))
            return None
        found = self.optional(structure.urn, structure.metadata, note)
        if isinstance(found, MetadataStructure) and found.is_stub:
            note.append(MissingReference(structure.urn, structure.metadata, str(stub_error(found.urn))))
            return None
        return found if isinstance(found, MetadataStructure) else None

    def metadata_attributes(
        self, structure: DataStructure, metadata: MetadataStructure | None
    ) -> dict[str, EffectiveComponent]:
        """Return the metadata attributes that data may carry, by the path used to refer to them.

        By default these are all of the first level; a usage only restricts the level of data
        (SDMXStructureDataStructure.xsd 3.x, element ``Metadata``).
        """
        found: dict[str, EffectiveComponent] = {}
        if metadata is None:
            return found
        for usage in structure.metadata_attribute_usages:
            attribute = item_of(metadata, "MetadataAttribute", usage.metadata_attribute)
            if isinstance(attribute, MetadataAttribute):
                found[usage.metadata_attribute] = self.component(attribute, usage.relationship)
            else:
                reason = f"{metadata.urn} has no metadata attribute {usage.metadata_attribute!r}"
                self.needed.append(MissingReference(structure.urn, metadata.urn, reason))
        restricted = {usage.metadata_attribute.partition(".")[0] for usage in structure.metadata_attribute_usages}
        taken = restricted | {component.id for component in structure.components}
        for id_, attribute in metadata.metadata_attributes.items():
            if id_ not in taken and not attribute.is_presentational:
                found[id_] = self.component(attribute, is_needed=False)
        return found

    def optional(self, source: Urn, target: Urn, note: list[MissingReference]) -> Artefact | Item | None:
        """Return the artefact or item of a URN; if it is missing, add a note and return None."""
        try:
            return self._lookups.get(late_bound(target, source))
        except SdmxError as error:
            note.append(MissingReference(source, target, str(error)))
            return None
