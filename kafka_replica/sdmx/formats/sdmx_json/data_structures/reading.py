"""Read data structures and dataflows of SDMX-JSON."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.formats.json_shared.data_structures import TO_OBSERVATION, ComponentReader, Written
from kafka_replica.sdmx.formats.json_shared.items import item_urn
from kafka_replica.sdmx.formats.json_shared.values import fail, read_reference
from kafka_replica.sdmx.formats.sdmx_json.data_structures.wire import (
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
from kafka_replica.sdmx.formats.sdmx_json.items import local_id
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.model import (
    AttributeRelationship,
    Dataflow,
    DataStructure,
    Group,
    Identifiable,
    MetadataAttributeUsage,
)
from kafka_replica.sdmx.urns.urn import Urn


def read_dataflow(urn: Urn, wire: WireDataflow, context: Context) -> Dataflow:
    """Build a Dataflow."""
    return Dataflow(
        urn=urn,
        structure_reference=read_reference(wire.structure, urn),
        dimension_constraint=tuple(wire.dimension_constraint) if wire.dimension_constraint else (),
        **context.maintained(wire),
    )


_DESCRIPTORS: Final = ("DimensionDescriptor", "AttributeDescriptor", "MeasureDescriptor")
_OTHER_DIMENSIONS: Final = frozenset({"MeasureDimension", "TimeDimension"})
_NOTHING: Final = WireRelationship()


def _dimensions(wire: WireDimensionList) -> list[Written]:
    # 1.0 has a type, and some registries write all dimensions into one list.
    found = [
        (
            dimension.type if dimension.type is not None and dimension.type in _OTHER_DIMENSIONS else "Dimension",
            dimension,
        )
        for dimension in wire.dimensions or ()
    ]
    if wire.measure_dimensions:
        found += [("MeasureDimension", measure_dimension) for measure_dimension in wire.measure_dimensions]
    if wire.time_dimensions:
        found += [("TimeDimension", time_dimension) for time_dimension in wire.time_dimensions]
    if wire.time_dimension is not None:
        found.append(("TimeDimension", wire.time_dimension))
    return found


def _measures(wire: WireMeasureList) -> list[Written]:
    found = [("Measure", measure) for measure in wire.measures or ()]
    return found if wire.primary_measure is None else [("PrimaryMeasure", wire.primary_measure), *found]


def _attributes(wire: WireAttributeList) -> list[Written]:
    found = [("DataAttribute", attribute) for attribute in wire.attributes or ()]
    if wire.reporting_year_start_days:
        found += [
            ("ReportingYearStartDay", reporting_year_start_day)
            for reporting_year_start_day in wire.reporting_year_start_days
        ]
    return found


def _attribute_relationship(_: Urn, wire: WireComponent) -> AttributeRelationship:
    return _relationship(wire.attribute_relationship or _NOTHING, wire.measure_relationship)


def _relationship(wire: WireRelationship, measures: list[str] | None) -> AttributeRelationship:
    if wire.observation is not None and not measures and not wire.primary_measure and _says_no_more(wire):
        return TO_OBSERVATION
    dimensions = tuple(local_id(dimension) for dimension in wire.dimensions or ())
    groups = [*(wire.attachment_groups or ()), *([wire.group] if wire.group else [])]
    about = [*([wire.primary_measure] if wire.primary_measure else []), *(measures or ())]
    is_observation = wire.observation is not None or bool(wire.primary_measure)
    return AttributeRelationship(
        kind="observation" if is_observation else "dimensions" if dimensions else "group" if groups else "dataset",
        dimensions=dimensions,
        groups=tuple(local_id(group) for group in groups),
        measures=tuple(local_id(one) for one in about),
        optional_dimensions=tuple(
            id_ for id_, is_one in zip(dimensions, wire.are_dimensions_optional or (), strict=False) if is_one
        ),
    )


def _says_no_more(wire: WireRelationship) -> bool:
    return not (wire.dimensions or wire.attachment_groups or wire.group)


def read_data_structure(urn: Urn, wire: WireDataStructure, context: Context) -> DataStructure:
    """Build a DataStructure."""
    written = wire.data_structure_components or WireComponents()
    make = ComponentReader(urn, context.representation, context.annotated)
    dimensions = make.dimensions(_dimensions(written.dimension_list)) if written.dimension_list else {}
    measures = make.measures(_measures(written.measure_list)) if written.measure_list else {}
    attributes = (
        make.attributes(_attributes(written.attribute_list), _attribute_relationship) if written.attribute_list else {}
    )
    groups = _groups(urn, written.groups, context) if written.groups else {}
    usages = written.attribute_list.metadata_attribute_usages if written.attribute_list else None
    is_stub = bool(wire.is_external_reference) and not (dimensions or measures or attributes or groups or usages)
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, dimensions, is_stub=is_stub),
        measures=items_of(urn, measures, is_stub=is_stub),
        attributes=items_of(urn, attributes, is_stub=is_stub),
        groups=items_of(urn, groups, is_stub=is_stub),
        metadata=read_reference(wire.metadata, urn),
        metadata_attribute_usages=tuple([_usage(urn, usage, context) for usage in usages]) if usages else (),
        descriptors=_descriptors(urn, written, context),
        evolving_structure=bool(wire.evolving_structure),
        **context.maintained(wire),
    )


def _usage(urn: Urn, wire: WireUsage, context: Context) -> MetadataAttributeUsage:
    if wire.metadata_attribute_reference is None:
        fail(urn, "a usage names no metadata attribute")
    return MetadataAttributeUsage(
        metadata_attribute=local_id(wire.metadata_attribute_reference),
        relationship=_relationship(wire.attribute_relationship or WireRelationship(), None),
        **context.annotated(wire),
    )


def _descriptors(urn: Urn, wire: WireComponents, context: Context) -> tuple[Identifiable, ...]:
    """Return the lists of components that carry annotations or links."""
    lists = (wire.dimension_list, wire.attribute_list, wire.measure_list)
    return tuple(
        [
            Identifiable(urn=item_urn(urn, class_, list_.id or class_, {}), **annotated)
            for class_, list_ in zip(_DESCRIPTORS, lists, strict=True)
            if list_ is not None and (list_.annotations or list_.links) and (annotated := context.annotated(list_))
        ]
    )


def _groups(urn: Urn, wires: list[WireGroup], context: Context) -> dict[str, Group]:
    groups: dict[str, Group] = {}
    for wire in wires:
        group_urn = item_urn(urn, "GroupDimensionDescriptor", wire.id, groups)
        groups[wire.id or ""] = Group(
            urn=group_urn,
            dimensions=tuple(local_id(group_dimension) for group_dimension in wire.group_dimensions or ()),
            attachment_constraint=read_reference(wire.attachment_constraint, group_urn),
            **context.annotated(wire),
        )
    return groups
