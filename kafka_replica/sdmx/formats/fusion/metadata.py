"""Metadata structures, metadataflows, hierarchies and their associations of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.formats.fusion.common import identified, maintained, named, representation, text_format, when
from kafka_replica.sdmx.formats.fusion.schemes import read_items
from kafka_replica.sdmx.formats.fusion.wire import WireFormat, WireMaintainable, WireNameable, WireRepresentation
from kafka_replica.sdmx.formats.json_shared.values import item_urn, reference
from kafka_replica.sdmx.model import (
    HierarchicalCode,
    Hierarchy,
    HierarchyAssociation,
    Level,
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
)
from kafka_replica.sdmx.representation import Occurs
from kafka_replica.sdmx.urn import Urn


class WireMetadataAttribute(WireNameable, gc=False):
    """A metadata attribute; without maxOccurs it is unbounded."""

    concept: str | None = None
    representation: WireRepresentation | None = None
    min_occurs: int | None = None
    max_occurs: int | str | None = None
    presentational: bool | None = None
    metadata_attributes: list[WireMetadataAttribute] | None = None


class WireMetadataStructure(WireMaintainable, gc=False):
    """A metadata structure."""

    metadata_attributes: list[WireMetadataAttribute] | None = None


def metadata_structure(urn: Urn, wire: WireMetadataStructure) -> MetadataStructure:
    """Build a MetadataStructure."""
    base = maintained(wire)
    found = read_items(urn, "MetadataAttribute", wire.metadata_attributes, _attribute)
    stub = base["is_external_reference"] and not found
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(urn, found, is_stub=stub),
        metadata_targets=items_of(urn, {}, is_stub=stub),
        report_structures=items_of(urn, {}, is_stub=stub),
        **base,
    )


def _attribute(own: Urn, wire: WireMetadataAttribute) -> MetadataAttribute:
    most: Occurs = wire.max_occurs if isinstance(wire.max_occurs, int) else "unbounded"
    below = read_items(own, "MetadataAttribute", wire.metadata_attributes, _attribute, own.item)
    return MetadataAttribute(
        urn=own,
        concept=reference(wire.concept, own),
        representation=representation(wire.representation, own),
        min_occurs=wire.min_occurs,
        max_occurs=most,
        is_presentational=bool(wire.presentational),
        metadata_attributes=Items(below),
        **identified(wire),
    )


class WireMetadataflow(WireMaintainable, gc=False):
    """A metadataflow."""

    metadata_structure_ref: str | None = None
    targets: list[str] | None = None


def metadataflow(urn: Urn, wire: WireMetadataflow) -> Metadataflow:
    """Build a Metadataflow."""
    base = maintained(wire)
    structure = reference(wire.metadata_structure_ref, urn)
    stub = base["is_external_reference"] and structure is None
    return Metadataflow(
        urn=urn, structure_reference=structure, targets=parts_of(urn, wire.targets or (), is_stub=stub), **base
    )


class WireHierarchicalCode(WireNameable, gc=False):
    """A code in a hierarchy."""

    code: str | None = None
    codes: list[WireHierarchicalCode] | None = None
    level: str | None = None
    valid_from: str | int | None = None
    valid_to: str | int | None = None


class WireLevel(WireNameable, gc=False):
    """A level of a hierarchy; levels are ordered from the top down."""

    text_format: WireFormat | None = None
    coding_format: WireFormat | None = None


class WireHierarchy(WireMaintainable, gc=False):
    """A hierarchy."""

    formal_levels: bool | None = None
    levels: list[WireLevel] | None = None
    codes: list[WireHierarchicalCode] | None = None


def hierarchy(urn: Urn, wire: WireHierarchy) -> Hierarchy:
    """Build a Hierarchy."""
    base = maintained(wire)
    found = read_items(urn, "HierarchicalCode", wire.codes, _code)
    return Hierarchy(
        urn=urn,
        codes=items_of(urn, found, is_stub=base["is_external_reference"]),
        level=_levels(urn, wire.levels or []),
        has_formal_levels=bool(wire.formal_levels),
        **base,
    )


def _levels(urn: Urn, wires: list[WireLevel]) -> Level | None:
    """Return the first level, which contains the second and so on, as in the standard; so their URNs have a path."""
    ids: list[str] = []
    for wire in wires:
        item_urn(urn, "Level", wire.id, dict.fromkeys(ids))
        ids.append(wire.id or "")
    found: Level | None = None
    for count in range(len(wires), 0, -1):
        wire = wires[count - 1]
        own = item_urn(urn, "Level", ".".join(ids[:count]), {})
        coding = wire.coding_format or wire.text_format
        found = Level(urn=own, coding_format=text_format(coding, own) if coding else None, level=found, **named(wire))
    return found


def _code(own: Urn, wire: WireHierarchicalCode) -> HierarchicalCode:
    return HierarchicalCode(
        urn=own,
        code=reference(wire.code, own),
        codes=Items(read_items(own, "HierarchicalCode", wire.codes, _code, own.item)),
        level=wire.level,
        valid_from=when(wire.valid_from),
        valid_to=when(wire.valid_to),
        **identified(wire),
    )


class WireHierarchyAssociation(WireMaintainable, gc=False):
    """The association of a hierarchy."""

    hierarchy_ref: str | None = None
    linked_structure_ref: str | None = None
    context_ref: str | None = None


def hierarchy_association(urn: Urn, wire: WireHierarchyAssociation) -> HierarchyAssociation:
    """Build a HierarchyAssociation."""
    return HierarchyAssociation(
        urn=urn,
        linked_hierarchy=reference(wire.hierarchy_ref, urn),
        linked_object=reference(wire.linked_structure_ref, urn),
        context_object=reference(wire.context_ref, urn),
        **maintained(wire),
    )
