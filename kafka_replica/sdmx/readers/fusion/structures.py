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
from kafka_replica.sdmx.readers.json_parts import item_urn, lazy_components, reference, references
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
    """A Dataflow."""
    return Dataflow(urn=urn, structure_reference=reference(wire.data_structure_ref, urn), **maintained(wire))


class _Maker:
    """Makes components of one data structure of what is written (``json_parts.Components``)."""

    __slots__ = ("lists", "urn")

    def __init__(self, urn: Urn, wire: WireDataStructure) -> None:
        self.urn = urn
        dimensions = wire.dimension_list.dimensions or () if wire.dimension_list else ()
        attributes = wire.attribute_list.attributes or () if wire.attribute_list else ()
        self.lists = (
            [("TimeDimension" if one.is_time_dimension else "Dimension", one) for one in dimensions],
            [("Measure", one) for one in wire.measures or ()],
            [("DataAttribute", one) for one in attributes],
        )

    def id_of(self, class_: str, wire: WireComponent) -> str:
        """The id of a component, all else in it looked at. Raises MessageError."""
        concept = reference(wire.concept, self.urn)
        id_ = wire.id or (concept.item if concept else None)
        try:
            representation(wire.representation, self.urn)
            references(wire.concept_roles or wire.concept_role, self.urn)
        except MessageError:
            self._component(item_urn(self.urn, class_, id_, {}), wire)  # it tells where
            raise
        if class_ == "DataAttribute":
            _relationship(self.urn, wire)
        return id_ or ""

    def dimension(self, id_: str, number: int) -> Dimension:
        class_, wire = self.lists[0][number]
        return Dimension(position=wire.position or number + 1, **self._component(self._item(class_, id_), wire))

    def measure(self, id_: str, number: int) -> Measure:
        class_, wire = self.lists[1][number]
        return Measure(mandatory=wire.mandatory, **self._component(self._item(class_, id_), wire))

    def attribute(self, id_: str, number: int) -> Attribute:
        class_, wire = self.lists[2][number]
        return Attribute(
            mandatory=wire.mandatory,
            relationship=_relationship(self.urn, wire),
            **self._component(self._item(class_, id_), wire),
        )

    def _item(self, class_: str, id_: str) -> Urn:
        urn = self.urn
        return Urn(urn.package, class_, urn.agency, urn.id, urn.version, id_)

    def _component(self, own: Urn, wire: WireComponent) -> dict[str, Any]:
        arguments = identified(wire) if wire.annotations or wire.links or wire.uri is not None else {}
        arguments["urn"], arguments["concept"] = own, reference(wire.concept, self.urn)
        if wire.representation is not None:
            arguments["representation"] = representation(wire.representation, own)
        roles = wire.concept_roles or wire.concept_role
        if roles:
            arguments["concept_roles"] = references(roles, own)
        return arguments


def data_structure(urn: Urn, wire: WireDataStructure) -> DataStructure:
    """A DataStructure."""
    base = maintained(wire)
    components = _Maker(urn, wire)
    is_stub = base["is_external_reference"] and not components.lists[0]
    dimensions, measures, attributes = lazy_components(components, is_stub=is_stub)
    return DataStructure(
        urn=urn,
        dimension_list=dimensions,
        measures=measures,
        attributes=attributes,
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
