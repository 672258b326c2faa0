"""Data structures and dataflows of Fusion-JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from kafka_replica.sdmx.containers import items_of, stored_items
from kafka_replica.sdmx.errors import MessageError, UnwritableError
from kafka_replica.sdmx.formats.fusion.values import (
    Wire,
    WireIdentifiable,
    WireMaintainable,
    WireRepresentation,
    read_identified,
    read_maintained,
    read_representation,
    write_identified,
    write_maintained,
    write_representation,
)
from kafka_replica.sdmx.formats.json_shared.items import component_urn, item_urn
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    obj,
    read_reference,
    read_references,
    true,
    write_urn,
    write_urns,
)
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Component,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Measure,
)
from kafka_replica.sdmx.representation import Representation
from kafka_replica.sdmx.urn import Urn


class WireComponent(WireIdentifiable, gc=False):
    """A dimension, measure or attribute."""

    concept: str | None = None
    representation: WireRepresentation | None = None
    concept_roles: list[str] | None = None
    concept_role: list[str] | None = None
    is_time_dimension: bool = False
    mandatory: bool = False
    position: int | None = None
    attachment_level: str | None = None
    attachment_group: str | None = None
    dimension_references: list[str] | None = None
    measure_references: list[str] | None = None


class WireDimensions(Wire, gc=False):
    """The list of dimensions."""

    dimensions: list[WireComponent] | None = None


class WireAttributes(Wire, gc=False):
    """The list of attributes."""

    attributes: list[WireComponent] | None = None


class WireGroup(WireIdentifiable, gc=False):
    """A group."""

    dimension_references: list[str] | None = None


class WireDataStructure(WireMaintainable, gc=False):
    """A data structure."""

    dimension_list: WireDimensions | None = None
    measures: list[WireComponent] | None = None
    attribute_list: WireAttributes | None = None
    groups: list[WireGroup] | None = None


class WireDataflow(WireMaintainable, gc=False):
    """A dataflow."""

    data_structure_ref: str | None = None


_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "DATA_SET": "dataset",
    "DATASET": "dataset",
    "DIMENSION_GROUP": "dimensions",
    "GROUP": "group",
    "OBSERVATION": "observation",
}

_TO_OBSERVATION: Final = AttributeRelationship(kind="observation")


def read_dataflow(urn: Urn, wire: WireDataflow) -> Dataflow:
    """Build a Dataflow."""
    return Dataflow(urn=urn, structure_reference=read_reference(wire.data_structure_ref, urn), **read_maintained(wire))


_Read: TypeAlias = tuple[
    str, WireComponent, Urn, Urn | None, Representation | None, tuple[Urn, ...], dict[str, Any] | None
]
"""The id, the component as written, URN, concept, representation, roles, annotations and so on."""


def _read(urn: Urn, class_: str, wires: list[WireComponent] | None, taken: set[str]) -> Iterator[_Read]:
    """Read the parts that every component of a list has. Raises MessageError."""
    package, agency, scheme, version = urn.package, urn.agency, urn.id, urn.version
    for wire in wires or ():
        concept = read_reference(wire.concept, urn)
        own_class, named_after = "TimeDimension" if wire.is_time_dimension else class_, concept.item if concept else ""
        id_ = wire.id or named_after or ""
        if id_ == named_after and id_ and id_ not in taken:  # valid, because the reference is
            own = Urn(package, own_class, agency, scheme, version, id_)
        else:
            own = component_urn(urn, own_class, id_, taken)
        taken.add(id_)
        written, roles = wire.representation, wire.concept_roles or wire.concept_role
        yield (
            id_,
            wire,
            own,
            concept,
            None if written is None else read_representation(written, own),
            read_references(roles, own) if roles else (),
            read_identified(wire) if wire.annotations or wire.links or wire.uri is not None else None,
        )


def _read_dimensions(urn: Urn, wires: list[WireComponent] | None, taken: set[str]) -> dict[str, Dimension]:
    found: dict[str, Dimension] = {}
    for id_, wire, own, concept, values, roles, more in _read(urn, "Dimension", wires, taken):
        one = Dimension(
            urn=own,
            concept=concept,
            representation=values,
            concept_roles=roles,
            position=wire.position or len(found) + 1,
        )
        found[id_] = replace(one, **more) if more else one
    return found


def _read_measures(urn: Urn, wires: list[WireComponent] | None, taken: set[str]) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for id_, wire, own, concept, values, roles, more in _read(urn, "Measure", wires, taken):
        one = Measure(urn=own, concept=concept, representation=values, concept_roles=roles, mandatory=wire.mandatory)
        found[id_] = replace(one, **more) if more else one
    return found


def _read_attributes(urn: Urn, wires: list[WireComponent] | None, taken: set[str]) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    for id_, wire, own, concept, values, roles, more in _read(urn, "DataAttribute", wires, taken):
        one = Attribute(
            urn=own,
            concept=concept,
            representation=values,
            concept_roles=roles,
            mandatory=wire.mandatory,
            relationship=_read_relationship(urn, wire),
        )
        found[id_] = replace(one, **more) if more else one
    return found


def read_data_structure(urn: Urn, wire: WireDataStructure) -> DataStructure:
    """Build a DataStructure."""
    base = read_maintained(wire)
    taken: set[str] = set()
    dimensions = _read_dimensions(urn, wire.dimension_list.dimensions if wire.dimension_list else None, taken)
    is_stub = base["is_external_reference"] and not dimensions
    measures = _read_measures(urn, wire.measures, taken)
    attributes = _read_attributes(urn, wire.attribute_list.attributes if wire.attribute_list else None, taken)
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, dimensions, is_stub=is_stub),
        measures=items_of(urn, measures, is_stub=is_stub),
        attributes=items_of(urn, attributes, is_stub=is_stub),
        groups=items_of(urn, _read_groups(urn, wire.groups) if wire.groups else {}, is_stub=is_stub),
        **base,
    )


def _read_groups(urn: Urn, wires: list[WireGroup]) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for wire in wires:
        group_urn = item_urn(urn, "GroupDimensionDescriptor", wire.id, groups)
        groups[group_urn.item or ""] = Group(
            urn=group_urn, dimensions=tuple(wire.dimension_references or ()), **read_identified(wire)
        )
    return groups


def _read_relationship(urn: Urn, wire: WireComponent) -> AttributeRelationship:
    level = (wire.attachment_level or "DATA_SET").upper()
    if level not in _LEVELS:
        raise MessageError(f"reading {urn}: attachmentLevel {level[:80]!r} of attribute {wire.id!r} is not known")
    if level == "OBSERVATION" and not (wire.dimension_references or wire.attachment_group or wire.measure_references):
        return _TO_OBSERVATION
    return AttributeRelationship(
        kind=_LEVELS[level],
        dimensions=tuple(wire.dimension_references or ()),
        groups=(wire.attachment_group,) if wire.attachment_group else (),
        measures=tuple(wire.measure_references or ()),
    )


_LEVEL_NAMES: Final = {
    "dataset": "DATA_SET", "dimensions": "DIMENSION_GROUP", "group": "GROUP", "observation": "OBSERVATION",
}  # fmt: skip

_COMPONENTS: Final = {"Dimension", "TimeDimension", "Measure", "DataAttribute"}


def write_dataflow(one: Dataflow) -> Json:
    """Write a dataflow."""
    return obj(write_maintained(one), dataStructureRef=write_urn(one.structure_reference))


def write_data_structure(one: DataStructure) -> Json:
    """Write a data structure."""
    dimensions = [_write_dimension(each) for each in stored_items(one.dimension_list)]
    attributes = [_write_attribute(each) for each in stored_items(one.attributes)]
    return obj(
        write_maintained(one),
        dimensionList={"dimensions": dimensions} if dimensions else None,
        measures=[_write_measure(each) for each in stored_items(one.measures)],
        attributeList={"attributes": attributes} if attributes else None,
        groups=[_write_group(each) for each in stored_items(one.groups)],
    )


def _write_component(one: Component) -> Json:
    if one.urn.cls not in _COMPONENTS:
        raise UnwritableError(f"Fusion-JSON has no place for a {one.urn.cls}")
    return obj(
        write_identified(one),
        concept=write_urn(one.concept),
        representation=write_representation(one.representation),
        conceptRoles=write_urns(one.concept_roles),
    )


def _write_dimension(one: Dimension) -> Json:
    return obj(_write_component(one), isTimeDimension=true(one.is_time))


def _write_measure(one: Measure) -> Json:
    return obj(_write_component(one), mandatory=one.mandatory)


def _write_attribute(one: Attribute) -> Json:
    about = one.relationship
    if len(about.groups) > 1:
        raise UnwritableError("Fusion-JSON has a place for one group of an attribute")
    return obj(
        _write_component(one),
        mandatory=one.mandatory,
        attachmentLevel=_LEVEL_NAMES[about.kind],
        attachmentGroup=about.groups[0] if about.groups else None,
        dimensionReferences=list(about.dimensions),
        measureReferences=list(about.measures),
    )


def _write_group(one: Group) -> Json:
    return obj(write_identified(one), dimensionReferences=list(one.dimensions))
