"""Data structures and dataflows of SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final, TypeAlias

from kafka_replica.errors import MessageError
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
from kafka_replica.sdmx.readers.json_parts import item_urn, lazy_components, reference, references
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


Written: TypeAlias = tuple[str, WireComponent]
"""A component as it is written, after its class."""

_OTHER_DIMENSIONS: Final = frozenset({"MeasureDimension", "TimeDimension"})
_FIXED_IDS: Final = {"TimeDimension": "TIME_PERIOD", "PrimaryMeasure": "OBS_VALUE"}


def _dimensions(wire: WireDimensionList) -> list[Written]:
    # 1.0 has a type, and some write all dimensions into one list.
    found = [
        (one.type if one.type is not None and one.type in _OTHER_DIMENSIONS else "Dimension", one)
        for one in wire.dimensions or ()
    ]
    if wire.measure_dimensions:
        found += [("MeasureDimension", one) for one in wire.measure_dimensions]
    if wire.time_dimensions:
        found += [("TimeDimension", one) for one in wire.time_dimensions]
    if wire.time_dimension is not None:
        found.append(("TimeDimension", wire.time_dimension))
    return found


def _measures(wire: WireMeasureList) -> list[Written]:
    found = [("Measure", one) for one in wire.measures or ()]
    return found if wire.primary_measure is None else [("PrimaryMeasure", wire.primary_measure), *found]


def _attributes(wire: WireAttributeList) -> list[Written]:
    found = [
        ("ReportingYearStartDay" if _is_year_start(one) else "DataAttribute", one) for one in wire.attributes or ()
    ]
    if wire.reporting_year_start_days:
        found += [("ReportingYearStartDay", one) for one in wire.reporting_year_start_days]
    return found


class _Maker:
    """Makes components of one data structure of what is written (``json_parts.Components``)."""

    __slots__ = ("_context", "lists", "urn")

    def __init__(self, urn: Urn, wire: WireComponents, context: Context) -> None:
        self.urn, self._context = urn, context
        self.lists = (
            _dimensions(wire.dimension_list) if wire.dimension_list else [],
            _measures(wire.measure_list) if wire.measure_list else [],
            _attributes(wire.attribute_list) if wire.attribute_list else [],
        )

    def id_of(self, class_: str, wire: WireComponent) -> str:
        """The id of a component, all else in it looked at. Raises MessageError."""
        concept = reference(wire.concept_identity, self.urn)
        id_ = wire.id or _FIXED_IDS.get(class_) or (concept.item if concept else None)
        if not id_:
            fail(self.urn, f"a {class_} has neither an id nor a concept")
        try:
            if wire.local_representation is not None:
                self._context.representation(wire.local_representation, self.urn)
            if wire.concept_roles:
                references(wire.concept_roles, self.urn)
        except MessageError:
            item_urn(self.urn, class_, id_, {})
            self._component(id_, class_, wire)  # it tells where
            raise
        return id_

    def dimension(self, id_: str, number: int) -> Dimension:
        class_, wire = self.lists[0][number]
        position = number + 1 if wire.position is None else wire.position
        return Dimension(position=position, **self._component(id_, class_, wire))

    def measure(self, id_: str, number: int) -> Measure:
        class_, wire = self.lists[1][number]
        return Measure(mandatory=_is_mandatory(wire), **self._component(id_, class_, wire))

    def attribute(self, id_: str, number: int) -> Attribute:
        class_, wire = self.lists[2][number]
        return Attribute(
            mandatory=_is_mandatory(wire),
            relationship=_relationship(wire.attribute_relationship or WireRelationship(), wire.measure_relationship),
            **self._component(id_, class_, wire),
        )

    def _component(self, id_: str, class_: str, wire: WireComponent) -> dict[str, Any]:
        urn = self.urn
        own = Urn(urn.package, class_, urn.agency, urn.id, urn.version, id_)
        arguments = self._context.annotated(wire) if wire.annotations or wire.links else {}
        arguments["urn"], arguments["concept"] = own, reference(wire.concept_identity, urn)
        if wire.local_representation is not None:
            arguments["representation"] = self._context.representation(wire.local_representation, own)
        if wire.concept_roles:
            arguments["concept_roles"] = references(wire.concept_roles, own)
        return arguments


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
    written = wire.data_structure_components or WireComponents()
    components = _Maker(urn, written, context)
    # A stub has no dimensions, and then nothing else either.
    is_stub = bool(wire.is_external_reference) and not components.lists[0]
    dimensions, measures, attributes = lazy_components(components, is_stub=is_stub)
    usages = written.attribute_list.metadata_attribute_usages if written.attribute_list else None
    return DataStructure(
        urn=urn,
        dimension_list=dimensions,
        measures=measures,
        attributes=attributes,
        groups=items_of(urn, _groups(urn, written.groups, context) if written.groups else {}, is_stub=is_stub),
        metadata=reference(wire.metadata, urn),
        metadata_attribute_usages=tuple([_usage(urn, one, context) for one in usages]) if usages else (),
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
        if one is None or not (one.annotations or one.links):
            continue
        annotated = context.annotated(one)
        if annotated:
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
