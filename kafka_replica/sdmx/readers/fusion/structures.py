"""Data structures and dataflows of Fusion-JSON."""

from __future__ import annotations

from typing import Any, Final, Literal

from kafka_replica.errors import MessageError
from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Measure,
)
from kafka_replica.sdmx.readers.fusion.common import identified, maintained, representation
from kafka_replica.sdmx.readers.fusion.wire import WireComponent, WireDataflow, WireDataStructure, WireGroup
from kafka_replica.sdmx.readers.json_parts import item_urn, reference
from kafka_replica.sdmx.urn import Urn

_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "DATA_SET": "dataset",
    "DATASET": "dataset",
    "DIMENSION_GROUP": "dimensions",
    "GROUP": "group",
    "OBSERVATION": "observation",
}


def dataflow(urn: Urn, wire: WireDataflow) -> Dataflow:
    """A Dataflow."""
    return Dataflow(urn=urn, structure_reference=reference(wire.data_structure_ref, urn), **maintained(wire))


def data_structure(urn: Urn, wire: WireDataStructure) -> DataStructure:
    """A DataStructure."""
    dimensions: dict[str, Dimension] = {}
    measures: dict[str, Measure] = {}
    attributes: dict[str, Attribute] = {}
    taken: dict[str, None] = {}
    for one in wire.dimension_list.dimensions or () if wire.dimension_list else ():
        class_ = "TimeDimension" if one.is_time_dimension else "Dimension"
        id_, arguments = _component(urn, class_, one, taken)
        dimensions[id_] = Dimension(position=one.position or len(dimensions) + 1, **arguments)
    for one in wire.measures or ():
        id_, arguments = _component(urn, "Measure", one, taken)
        measures[id_] = Measure(mandatory=one.mandatory, **arguments)
    for one in wire.attribute_list.attributes or () if wire.attribute_list else ():
        id_, arguments = _component(urn, "DataAttribute", one, taken)
        attributes[id_] = Attribute(mandatory=one.mandatory, relationship=_relationship(urn, one), **arguments)
    base = maintained(wire)
    groups = _groups(urn, wire.groups or [])
    is_stub = base["is_external_reference"] and not dimensions
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, dimensions, is_stub=is_stub),
        measures=items_of(urn, measures, is_stub=is_stub),
        attributes=items_of(urn, attributes, is_stub=is_stub),
        groups=items_of(urn, groups, is_stub=is_stub),
        **base,
    )


def _groups(urn: Urn, wires: list[WireGroup]) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for wire in wires:
        group_urn = item_urn(urn, "GroupDimensionDescriptor", wire.id, groups)
        groups[group_urn.item or ""] = Group(
            urn=group_urn, dimensions=tuple(wire.dimension_references or ()), **identified(wire)
        )
    return groups


def _component(urn: Urn, class_: str, wire: WireComponent, taken: dict[str, None]) -> tuple[str, dict[str, Any]]:
    concept = reference(wire.concept, urn)
    id_ = wire.id or (concept.item if concept else None)
    own = item_urn(urn, class_, id_, taken)
    taken[own.item or ""] = None
    roles = [reference(role, own) for role in wire.concept_roles or wire.concept_role or ()]
    return own.item or "", identified(wire) | {
        "urn": own,
        "concept": concept,
        "representation": representation(wire.representation, own),
        "concept_roles": tuple(role for role in roles if role),
    }


def _relationship(urn: Urn, wire: WireComponent) -> AttributeRelationship:
    level = (wire.attachment_level or "DATA_SET").upper()
    if level not in _LEVELS:
        raise MessageError(f"reading {urn}: attachmentLevel {level[:80]!r} of attribute {wire.id!r} is not known")
    return AttributeRelationship(
        kind=_LEVELS[level],
        dimensions=tuple(wire.dimension_references or ()),
        groups=(wire.attachment_group,) if wire.attachment_group else (),
        measures=tuple(wire.measure_references or ()),
    )
