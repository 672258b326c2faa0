"""Data structures and dataflows of Fusion-JSON."""

from __future__ import annotations

from itertools import repeat
from typing import Final, Literal

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
from kafka_replica.sdmx.formats.json_shared.data_structures import TO_OBSERVATION, ComponentReader, Written
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    obj,
    read_reference,
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
from kafka_replica.sdmx.urns.urn import Urn


class WireComponent(WireIdentifiable, gc=False):
    """A dimension, measure or attribute."""

    concept: str | None = None
    representation: WireRepresentation | None = None
    concept_roles: list[str] | None = None
    concept_role: list[str] | None = None
    is_time_dimension: bool | None = None
    mandatory: bool | None = None
    position: int | None = None
    attachment_level: str | None = None
    attachment_group: str | None = None
    dimension_references: list[str] | None = None
    measure_references: list[str] | None = None


class WireDimensions(Wire, gc=False):
    """The list of dimensions."""

    id: str | None = None
    dimensions: list[WireComponent] | None = None


class WireAttributes(Wire, gc=False):
    """The list of attributes."""

    id: str | None = None
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


def read_dataflow(urn: Urn, wire: WireDataflow) -> Dataflow:
    """Build a Dataflow."""
    return Dataflow(urn=urn, structure_reference=read_reference(wire.data_structure_ref, urn), **read_maintained(wire))


def read_data_structure(urn: Urn, wire: WireDataStructure) -> DataStructure:
    """Build a DataStructure."""
    base = read_maintained(wire)
    make = ComponentReader(urn, read_representation, read_identified, is_fusion=True)
    dimensions = make.dimensions(_dimensions(wire.dimension_list)) if wire.dimension_list else {}
    measures = make.measures(zip(repeat("Measure"), wire.measures or ()))
    written = wire.attribute_list.attributes if wire.attribute_list else None
    attributes = make.attributes(zip(repeat("DataAttribute"), written or ()), _read_relationship)
    groups = _read_groups(urn, wire.groups) if wire.groups else {}
    is_stub = base["is_external_reference"] and not (dimensions or measures or attributes or groups)
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, dimensions, is_stub=is_stub),
        measures=items_of(urn, measures, is_stub=is_stub),
        attributes=items_of(urn, attributes, is_stub=is_stub),
        groups=items_of(urn, groups, is_stub=is_stub),
        **base,
    )


def _dimensions(wire: WireDimensions) -> list[Written]:
    return [
        ("TimeDimension" if dimension.is_time_dimension else "Dimension", dimension)
        for dimension in wire.dimensions or ()
    ]


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
        return TO_OBSERVATION
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


def write_dataflow(dataflow: Dataflow) -> Json:
    """Write a dataflow."""
    return obj(write_maintained(dataflow), dataStructureRef=write_urn(dataflow.structure_reference))


def write_data_structure(data_structure: DataStructure) -> Json:
    """Write a data structure."""
    dimensions = [_write_dimension(each) for each in stored_items(data_structure.dimension_list)]
    attributes = [_write_attribute(each) for each in stored_items(data_structure.attributes)]
    return obj(
        write_maintained(data_structure),
        dimensionList={"dimensions": dimensions} if dimensions else None,
        measures=[_write_measure(each) for each in stored_items(data_structure.measures)],
        attributeList={"attributes": attributes} if attributes else None,
        groups=[_write_group(each) for each in stored_items(data_structure.groups)],
    )


def _write_component(component: Component) -> Json:
    if component.urn.cls not in _COMPONENTS:
        raise UnwritableError(f"Fusion-JSON cannot represent a {component.urn.cls}")
    return obj(
        write_identified(component),
        concept=write_urn(component.concept),
        representation=write_representation(component.representation),
        conceptRoles=write_urns(component.concept_roles),
    )


def _write_dimension(dimension: Dimension) -> Json:
    return obj(_write_component(dimension), isTimeDimension=true(dimension.is_time))


def _write_measure(measure: Measure) -> Json:
    return obj(_write_component(measure), mandatory=measure.mandatory)


def _write_attribute(attribute: Attribute) -> Json:
    about = attribute.relationship
    if len(about.groups) > 1:
        raise UnwritableError("Fusion-JSON has a place for one group of an attribute")
    return obj(
        _write_component(attribute),
        mandatory=attribute.mandatory,
        attachmentLevel=_LEVEL_NAMES[about.kind],
        attachmentGroup=about.groups[0] if about.groups else None,
        dimensionReferences=list(about.dimensions),
        measureReferences=list(about.measures),
    )


def _write_group(group: Group) -> Json:
    return obj(write_identified(group), dimensionReferences=list(group.dimensions))
