"""Hierarchies and their associations of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import Items, items_of, stored_items
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.fusion.values import (
    WireFormat,
    WireMaintainable,
    WireNameable,
    read_identified,
    read_maintained,
    read_named,
    read_text_format,
    read_time,
    write_identified,
    write_maintained,
    write_named,
)
from kafka_replica.sdmx.formats.json_shared.items import item_urn, read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.shared.writing.times import milliseconds
from kafka_replica.sdmx.model import HierarchicalCode, Hierarchy, HierarchyAssociation, Level
from kafka_replica.sdmx.urns.urn import Urn


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


class WireHierarchyAssociation(WireMaintainable, gc=False):
    """The association of a hierarchy."""

    hierarchy_ref: str | None = None
    linked_structure_ref: str | None = None
    context_ref: str | None = None


def read_hierarchy(urn: Urn, wire: WireHierarchy) -> Hierarchy:
    """Build a Hierarchy."""
    base = read_maintained(wire)
    found = read_items(urn, "HierarchicalCode", wire.codes, _read_code)
    return Hierarchy(
        urn=urn,
        codes=items_of(urn, found, is_stub=base["is_external_reference"]),
        level=_read_levels(urn, wire.levels or []),
        has_formal_levels=bool(wire.formal_levels),
        **base,
    )


def _read_levels(urn: Urn, wires: list[WireLevel]) -> Level | None:
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
        found = Level(
            urn=own, coding_format=read_text_format(coding, own) if coding else None, level=found, **read_named(wire)
        )
    return found


def _read_code(own: Urn, wire: WireHierarchicalCode) -> HierarchicalCode:
    return HierarchicalCode(
        urn=own,
        code=read_reference(wire.code, own),
        codes=Items(read_items(own, "HierarchicalCode", wire.codes, _read_code, own.item)),
        level=wire.level,
        valid_from=read_time(wire.valid_from),
        valid_to=read_time(wire.valid_to),
        **read_identified(wire),
    )


def read_hierarchy_association(urn: Urn, wire: WireHierarchyAssociation) -> HierarchyAssociation:
    """Build a HierarchyAssociation."""
    return HierarchyAssociation(
        urn=urn,
        linked_hierarchy=read_reference(wire.hierarchy_ref, urn),
        linked_object=read_reference(wire.linked_structure_ref, urn),
        context_object=read_reference(wire.context_ref, urn),
        **read_maintained(wire),
    )


def write_hierarchy(hierarchy: Hierarchy) -> Json:
    """Write a hierarchy."""
    found = [_write_code(each) for each in stored_items(hierarchy.codes)]
    return obj(
        write_maintained(hierarchy),
        formalLevels=hierarchy.has_formal_levels,
        levels=_write_levels(hierarchy),
        codes=found,
    )


def _write_levels(hierarchy: Hierarchy) -> list[Json]:
    """Write the levels as a list, from the top down; the URNs of registries have no path."""
    found: list[Json] = []
    level = hierarchy.level
    while level is not None:
        if level.coding_format is not None:
            raise UnwritableError(f"no name is known for the coding format of {level.urn} in Fusion-JSON")
        found.append(write_named(level) | {"urn": str(hierarchy.urn.with_item("Level", level.id))})
        level = level.level
    return found


def _write_code(hierarchical_code: HierarchicalCode) -> Json:
    return obj(
        write_identified(hierarchical_code),
        code=write_urn(hierarchical_code.code),
        level=hierarchical_code.level,
        validFrom=milliseconds(hierarchical_code.valid_from),
        validTo=milliseconds(hierarchical_code.valid_to),
        codes=[_write_code(each) for each in hierarchical_code.codes.values()],
    )


def write_hierarchy_association(hierarchy_association: HierarchyAssociation) -> Json:
    """Write the association of a hierarchy."""
    return obj(
        write_maintained(hierarchy_association),
        hierarchyRef=write_urn(hierarchy_association.linked_hierarchy),
        linkedStructureRef=write_urn(hierarchy_association.linked_object),
        contextRef=write_urn(hierarchy_association.context_object),
    )
