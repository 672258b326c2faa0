"""Data structures and dataflows of SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Identifiable,
    Measure,
    MetadataAttributeUsage,
)
from kafka_replica.sdmx.readers.json_parts import item_urn, reference, references
from kafka_replica.sdmx.readers.sdmx_json.references import fail, local_id
from kafka_replica.sdmx.readers.sdmx_json.structures_wire import (
    WireAttributeList,
    WireComponent,
    WireComponents,
    WireDataflow,
    WireDataStructure,
    WireDimensionList,
    WireGroup,
    WireMeasureList,
    WireRelationship,
    WireUsage,
)
from kafka_replica.sdmx.readers.sdmx_json.values import Context
from kafka_replica.sdmx.urn import Urn


def dataflow(urn: Urn, wire: WireDataflow, context: Context) -> Dataflow:
    """A Dataflow."""
    return Dataflow(
        urn=urn,
        structure_reference=reference(wire.structure, urn),
        dimension_constraint=tuple(wire.dimension_constraint or ()),
        **context.maintained(wire),
    )


class _Parts:
    """The components found so far; each id may come once in a data structure."""

    def __init__(self, urn: Urn, context: Context) -> None:
        self.urn, self.context = urn, context
        self.dimensions: dict[str, Dimension] = {}
        self.measures: dict[str, Measure] = {}
        self.attributes: dict[str, Attribute] = {}
        self._taken: dict[str, None] = {}

    def add_dimensions(self, wire: WireDimensionList) -> None:
        for one in wire.dimensions or ():
            # 1.0 has a type, and some write all dimensions into one list.
            is_other = one.type in {"MeasureDimension", "TimeDimension"}
            self._dimension(one.type if is_other and one.type else "Dimension", one)
        for one in wire.measure_dimensions or ():
            self._dimension("MeasureDimension", one)
        for one in wire.time_dimensions or ():
            self._dimension("TimeDimension", one)
        if wire.time_dimension is not None:
            self._dimension("TimeDimension", wire.time_dimension)

    def _dimension(self, class_: str, wire: WireComponent) -> None:
        id_, arguments = self._component(class_, wire, "TIME_PERIOD" if class_ == "TimeDimension" else None)
        position = wire.position if wire.position is not None else len(self.dimensions) + 1
        self.dimensions[id_] = Dimension(position=position, **arguments)

    def add_measures(self, wire: WireMeasureList) -> None:
        if wire.primary_measure is not None:
            self._measure("PrimaryMeasure", wire.primary_measure)
        for one in wire.measures or ():
            self._measure("Measure", one)

    def _measure(self, class_: str, wire: WireComponent) -> None:
        id_, arguments = self._component(class_, wire, "OBS_VALUE" if class_ == "PrimaryMeasure" else None)
        self.measures[id_] = Measure(mandatory=_is_mandatory(wire), **arguments)

    def add_attributes(self, wire: WireAttributeList) -> None:
        for one in wire.attributes or ():
            self._attribute("ReportingYearStartDay" if _is_year_start(one) else "DataAttribute", one)
        for one in wire.reporting_year_start_days or ():
            self._attribute("ReportingYearStartDay", one)

    def _attribute(self, class_: str, wire: WireComponent) -> None:
        id_, arguments = self._component(class_, wire, None)
        self.attributes[id_] = Attribute(
            mandatory=_is_mandatory(wire),
            relationship=_relationship(wire.attribute_relationship or WireRelationship(), wire.measure_relationship),
            **arguments,
        )

    def _component(self, class_: str, wire: WireComponent, fixed: str | None) -> tuple[str, dict[str, Any]]:
        concept = reference(wire.concept_identity, self.urn)
        id_ = wire.id or fixed or (concept.item if concept else None)
        if not id_:
            fail(self.urn, f"a {class_} has neither an id nor a concept")
        own = item_urn(self.urn, class_, id_, self._taken)
        self._taken[id_] = None
        arguments = self.context.annotated(wire) if wire.annotations or wire.links else {}
        arguments["urn"], arguments["concept"] = own, concept
        if wire.local_representation is not None:
            arguments["representation"] = self.context.representation(wire.local_representation, own)
        if wire.concept_roles:
            arguments["concept_roles"] = references(wire.concept_roles, own)
        return id_, arguments


def _is_year_start(wire: WireComponent) -> bool:
    """Whether it is the attribute the schemas of 2.x single out by this id and this format."""
    format_ = wire.local_representation.format if wire.local_representation else None
    return wire.id == "REPORTING_YEAR_START_DAY" and format_ is not None and format_.data_type == "MonthDay"


def _is_mandatory(wire: WireComponent) -> bool:
    return (wire.usage or wire.assignment_status or "").lower() == "mandatory"


_TO_OBSERVATION: Final = AttributeRelationship(kind="observation")


def _relationship(wire: WireRelationship, measures: list[str] | None) -> AttributeRelationship:
    if wire.observation is not None and not measures and not wire.primary_measure and _says_no_more(wire):
        return _TO_OBSERVATION
    dimensions = tuple(local_id(one) for one in wire.dimensions or ())
    groups = [*(wire.attachment_groups or ()), *([wire.group] if wire.group else [])]
    about = [*([wire.primary_measure] if wire.primary_measure else []), *(measures or ())]
    is_observation = wire.observation is not None or bool(wire.primary_measure)
    return AttributeRelationship(
        kind="observation" if is_observation else "dimensions" if dimensions else "group" if groups else "dataset",
        dimensions=dimensions,
        groups=tuple(local_id(one) for one in groups),
        measures=tuple(local_id(one) for one in about),
        optional_dimensions=tuple(
            id_ for id_, is_one in zip(dimensions, wire.are_dimensions_optional or (), strict=False) if is_one
        ),
    )


def _says_no_more(wire: WireRelationship) -> bool:
    return not (wire.dimensions or wire.attachment_groups or wire.group)


def data_structure(urn: Urn, wire: WireDataStructure, context: Context) -> DataStructure:
    """A DataStructure."""
    parts = _Parts(urn, context)
    written = wire.data_structure_components or WireComponents()
    attributes = written.attribute_list or WireAttributeList()
    parts.add_dimensions(written.dimension_list or WireDimensionList())
    parts.add_measures(written.measure_list or WireMeasureList())
    parts.add_attributes(attributes)
    # A stub has no dimensions, and then nothing else either.
    is_stub = bool(wire.is_external_reference) and not parts.dimensions
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, parts.dimensions, is_stub=is_stub),
        measures=items_of(urn, parts.measures, is_stub=is_stub),
        attributes=items_of(urn, parts.attributes, is_stub=is_stub),
        groups=items_of(urn, _groups(urn, written.groups or [], context), is_stub=is_stub),
        metadata=reference(wire.metadata, urn),
        metadata_attribute_usages=tuple(
            _usage(urn, one, context) for one in attributes.metadata_attribute_usages or ()
        ),
        descriptors=_descriptors(urn, written, context),
        evolving_structure=bool(wire.evolving_structure),
        **context.maintained(wire),
    )


def _usage(urn: Urn, wire: WireUsage, context: Context) -> MetadataAttributeUsage:
    if wire.metadata_attribute_reference is None:
        fail(urn, "the use of a metadata attribute names none")
    return MetadataAttributeUsage(
        metadata_attribute=local_id(wire.metadata_attribute_reference),
        relationship=_relationship(wire.attribute_relationship or WireRelationship(), None),
        **context.annotated(wire),
    )


def _descriptors(urn: Urn, wire: WireComponents, context: Context) -> tuple[Identifiable, ...]:
    """The lists of components that carry annotations or links."""
    found = []
    for class_, one in (
        ("DimensionDescriptor", wire.dimension_list),
        ("AttributeDescriptor", wire.attribute_list),
        ("MeasureDescriptor", wire.measure_list),
    ):
        annotated = context.annotated(one) if one is not None else {}
        if one is not None and annotated:
            found.append(Identifiable(urn=item_urn(urn, class_, one.id or class_, {}), **annotated))
    return tuple(found)


def _groups(urn: Urn, wires: list[WireGroup], context: Context) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for wire in wires:
        group_urn = item_urn(urn, "GroupDimensionDescriptor", wire.id, groups)
        groups[wire.id or ""] = Group(
            urn=group_urn,
            dimensions=tuple(local_id(one) for one in wire.group_dimensions or ()),
            attachment_constraint=reference(wire.attachment_constraint, group_urn),
            **context.annotated(wire),
        )
    return groups
