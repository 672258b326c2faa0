"""Data structures and dataflows of Fusion-JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, Literal, TypeAlias

from msgspec.structs import replace

from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.common import identified, maintained, representation
from kafka_replica.sdmx.formats.fusion.wire import WireComponent, WireDataflow, WireDataStructure, WireGroup
from kafka_replica.sdmx.formats.json_shared.values import component_urn, item_urn, reference, references
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Measure,
)
from kafka_replica.sdmx.representation import Representation
from kafka_replica.sdmx.urn import Urn

_LEVELS: Final[dict[str, Literal["dataset", "dimensions", "group", "observation"]]] = {
    "DATA_SET": "dataset",
    "DATASET": "dataset",
    "DIMENSION_GROUP": "dimensions",
    "GROUP": "group",
    "OBSERVATION": "observation",
}


_TO_OBSERVATION: Final = AttributeRelationship(kind="observation")


def dataflow(urn: Urn, wire: WireDataflow) -> Dataflow:
    """Build a Dataflow."""
    return Dataflow(urn=urn, structure_reference=reference(wire.data_structure_ref, urn), **maintained(wire))


_Read: TypeAlias = tuple[
    str, WireComponent, Urn, Urn | None, Representation | None, tuple[Urn, ...], dict[str, Any] | None
]
"""The id, the component as written, URN, concept, representation, roles, annotations and so on."""


def _read(urn: Urn, class_: str, wires: list[WireComponent] | None, taken: set[str]) -> Iterator[_Read]:
    """Read the parts that every component of a list has. Raises MessageError."""
    package, agency, scheme, version = urn.package, urn.agency, urn.id, urn.version
    for wire in wires or ():
        concept = reference(wire.concept, urn)
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
            None if written is None else representation(written, own),
            references(roles, own) if roles else (),
            identified(wire) if wire.annotations or wire.links or wire.uri is not None else None,
        )


def _dimensions(urn: Urn, wires: list[WireComponent] | None, taken: set[str]) -> dict[str, Dimension]:
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


def _measures(urn: Urn, wires: list[WireComponent] | None, taken: set[str]) -> dict[str, Measure]:
    found: dict[str, Measure] = {}
    for id_, wire, own, concept, values, roles, more in _read(urn, "Measure", wires, taken):
        one = Measure(urn=own, concept=concept, representation=values, concept_roles=roles, mandatory=wire.mandatory)
        found[id_] = replace(one, **more) if more else one
    return found


def _attributes(urn: Urn, wires: list[WireComponent] | None, taken: set[str]) -> dict[str, Attribute]:
    found: dict[str, Attribute] = {}
    for id_, wire, own, concept, values, roles, more in _read(urn, "DataAttribute", wires, taken):
        one = Attribute(
            urn=own,
            concept=concept,
            representation=values,
            concept_roles=roles,
            mandatory=wire.mandatory,
            relationship=_relationship(urn, wire),
        )
        found[id_] = replace(one, **more) if more else one
    return found


def data_structure(urn: Urn, wire: WireDataStructure) -> DataStructure:
    """Build a DataStructure."""
    base = maintained(wire)
    taken: set[str] = set()
    dimensions = _dimensions(urn, wire.dimension_list.dimensions if wire.dimension_list else None, taken)
    is_stub = base["is_external_reference"] and not dimensions
    measures = _measures(urn, wire.measures, taken)
    attributes = _attributes(urn, wire.attribute_list.attributes if wire.attribute_list else None, taken)
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, dimensions, is_stub=is_stub),
        measures=items_of(urn, measures, is_stub=is_stub),
        attributes=items_of(urn, attributes, is_stub=is_stub),
        groups=items_of(urn, _groups(urn, wire.groups) if wire.groups else {}, is_stub=is_stub),
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


def _relationship(urn: Urn, wire: WireComponent) -> AttributeRelationship:
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
