"""Read data structures and dataflows of SDMX-ML."""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import items_of
from kafka_replica.sdmx.formats.ml.reading.child_elements import known
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import (
    Item,
    address,
    boolean,
    local_id,
    named,
    read_representation,
    reference,
    text_of,
)
from kafka_replica.sdmx.formats.shared.reading.identity import id_of_concept
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
from kafka_replica.sdmx.urns.urn import Urn

_FIXED_IDS: Final = {
    "TimeDimension": "TIME_PERIOD",
    "PrimaryMeasure": "OBS_VALUE",
    "ReportingYearStartDay": "REPORTING_YEAR_START_DAY",
}
"""Ids that a component may leave out, because the schema fixes them (SDMXStructureDataStructure.xsd 2.1)."""
_ENUMERATIONS: Final = {"MeasureDimension": "ConceptScheme"}
"""Kinds of components whose enumeration is not a codelist (2.1, MeasureDimensionRepresentationType)."""
_DIMENSIONS: Final = {"Dimension", "MeasureDimension", "TimeDimension"}
_MEASURES: Final = {"Measure", "PrimaryMeasure"}
_ATTRIBUTES: Final = {"Attribute": "DataAttribute", "ReportingYearStartDay": "ReportingYearStartDay"}
_RELATIONS: Final = {"AttributeRelationship", "MeasureRelationship"}
_NOTES: Final = {"Annotations", "Link"}
_LISTS: Final = {
    "DimensionList": "DimensionDescriptor",
    "MeasureList": "MeasureDescriptor",
    "AttributeList": "AttributeDescriptor",
}


def read_dataflow(item: Item) -> Dataflow:
    """Read a <Dataflow>."""
    urn, base, rest, names = item.parts
    found = [reference(child, names, "DataStructure") for kind, child in rest if kind == "Structure"]
    constraint = [one for kind, child in rest if kind == "DimensionConstraint" for one in known(child, names)]
    return Dataflow(
        urn=urn,
        structure_reference=found[0] if found else None,
        dimension_constraint=tuple(text_of(child).strip() for _, child in constraint),
        **base,
    )


class _ComponentCollector:
    """The components found so far; each id must be unique in a data structure."""

    def __init__(self, urn: Urn, names: Names) -> None:
        self.urn, self.names = urn, names
        self.dimensions: dict[str, Dimension] = {}
        self.measures: dict[str, Measure] = {}
        self.attributes: dict[str, Attribute] = {}
        self.groups: dict[str, Group] = {}
        self.usages: list[MetadataAttributeUsage] = []

    @property
    def is_empty(self) -> bool:
        """True if there is none so far."""
        return not (self.dimensions or self.measures or self.attributes or self.groups or self.usages)

    def add(self, kind: str, element: etree._Element) -> None:
        if kind == "Group":
            self._add_group(element)
        elif kind in _DIMENSIONS:
            id_, arguments, _ = self._component(kind, element)
            position = element.get("position", "").strip()
            # A position has at most nine digits; a longer number is an attack on int().
            arguments["position"] = (
                int(position) if position.isdecimal() and len(position) < 10 else len(self.dimensions) + 1
            )
            self.dimensions[id_] = Dimension(**arguments)
        elif kind in _MEASURES:
            id_, arguments, _ = self._component(kind, element)
            self.measures[id_] = Measure(mandatory=_is_mandatory(element), **arguments)
        elif kind in _ATTRIBUTES:
            id_, arguments, relations = self._component(_ATTRIBUTES[kind], element)
            self.attributes[id_] = Attribute(
                mandatory=_is_mandatory(element), relationship=_relationship(relations, self.names), **arguments
            )
        elif kind == "MetadataAttributeUsage":
            self._add_usage(element)

    def _component(  # noqa: C901 - one pass
        self, class_: str, element: etree._Element
    ) -> tuple[str, dict[str, Any], list[etree._Element]]:
        names = self.names
        arguments: dict[str, Any] = {}
        concept: Urn | None = None
        roles: list[Urn] = []
        relations: list[etree._Element] = []
        for child in element:
            kind = names[child.tag]
            if kind == "ConceptIdentity":
                arguments["concept"] = concept = reference(child, names, "Concept")
            elif kind == "LocalRepresentation":
                arguments["representation"] = read_representation(child, names, _ENUMERATIONS.get(class_, "Codelist"))
            elif kind in _RELATIONS:
                relations.append(child)
            elif kind == "ConceptRole":
                roles.append(reference(child, names, "Concept"))
            elif kind in _NOTES and "annotations" not in arguments and "links" not in arguments:
                arguments |= _notes(element, names)
        id_ = element.get("id", "").strip() or _FIXED_IDS.get(class_) or id_of_concept(concept)
        if not id_:
            fail(element, "it has neither an id nor a concept")
        if id_ in self.dimensions or id_ in self.measures or id_ in self.attributes:
            fail(element, f"the id {id_[:80]!r} is duplicated in {self.urn}")
        arguments["urn"] = item_urn(self.urn, class_, element, id_)
        if roles:
            arguments["concept_roles"] = tuple(roles)
        uri = address(element, "uri")
        if uri is not None:
            arguments["uri"] = uri
        return id_, arguments, relations

    def _add_usage(self, element: etree._Element) -> None:
        arguments, rest = named(element, self.names)
        used = next((child for kind, child in rest if kind == "MetadataAttributeReference"), None)
        if used is None:
            fail(element, "it has no MetadataAttributeReference")
        self.usages.append(
            MetadataAttributeUsage(
                metadata_attribute=local_id(used, self.names),
                relationship=_relationship([child for kind, child in rest if kind in _RELATIONS], self.names),
                annotations=arguments.get("annotations", ()),
                links=arguments.get("links", ()),
                uri=arguments.get("uri"),
            )
        )

    def _add_group(self, element: etree._Element) -> None:
        names = self.names
        item = Item(element, self.urn, names)
        # Groups have no names in any edition; if a message has some, they are ignored.
        arguments, rest = item.identified, item.rest
        id_ = element.get("id") or fail(element, "it has no id")
        if id_ in self.groups:
            fail(element, f"the id {id_[:80]!r} is duplicated in {self.urn}")
        dimensions = [
            local_id(child, names)
            for kind, part in rest
            if kind == "GroupDimension"
            for child in part
            if names[child.tag] == "DimensionReference"
        ]
        constraint = next((child for kind, child in rest if kind == "AttachmentConstraint"), None)
        arguments["urn"] = item_urn(self.urn, "GroupDimensionDescriptor", element, id_)
        self.groups[id_] = Group(
            dimensions=tuple(dimensions),
            attachment_constraint=None if constraint is None else reference(constraint, names, "AttachmentConstraint"),
            **arguments,
        )


def _is_mandatory(element: etree._Element) -> bool:
    # "usage" is 3.x, "assignmentStatus" 2.1
    return (element.get("usage") or element.get("assignmentStatus") or "").lower() == "mandatory"


def _notes(element: etree._Element, names: Names) -> dict[str, Any]:
    """Return annotations and links as arguments. Components have no names of their own."""
    arguments, _ = named(element, names)
    return {name: arguments[name] for name in ("annotations", "links") if name in arguments}


def _relationship(relations: list[etree._Element], names: Names) -> AttributeRelationship:
    dimensions: list[str] = []
    optional: list[str] = []
    groups: list[str] = []
    measures: list[str] = []
    is_observation = False
    for element in relations:
        for child in element:
            part = names[child.tag]
            if part == "Dimension":
                dimensions.append(local_id(child, names))
                if boolean(child, "optional"):
                    optional.append(dimensions[-1])
            elif part in {"Group", "AttachmentGroup"}:
                groups.append(local_id(child, names))
            elif part in {"PrimaryMeasure", "Measure"}:
                measures.append(local_id(child, names, _FIXED_IDS.get(part)))
            is_observation |= part in {"PrimaryMeasure", "Observation"}
    return AttributeRelationship(
        kind="observation" if is_observation else "dimensions" if dimensions else "group" if groups else "dataset",
        dimensions=tuple(dimensions),
        groups=tuple(groups),
        measures=tuple(measures),
        optional_dimensions=tuple(optional),
    )


def read_descriptor(urn: Urn, class_: str, element: etree._Element, names: Names) -> Identifiable | None:
    """Return the list of components itself, if it carries annotations or links."""
    return _described(item_urn(urn, class_, element, element.get("id") or class_), element, names)


def _described(urn: Urn, element: etree._Element, names: Names) -> Identifiable | None:
    stated = Item(element, urn, names).identified
    return Identifiable(urn=urn, **stated) if stated else None


def read_data_structure(item: Item) -> DataStructure:
    """Read a <DataStructure>."""
    urn, base, rest, names = item.parts
    collected = _ComponentCollector(urn, names)
    metadata: Urn | None = None
    descriptors: list[Identifiable | None] = []
    for kind, element in rest:
        if kind == "Metadata":
            metadata = reference(element, names, "MetadataStructure")
        if kind != "DataStructureComponents":
            continue
        for part, child in known(element, names):
            if part == "Group":
                collected.add(part, child)
            elif part in _LISTS:
                id_ = child.get("id") or _LISTS[part]
                says_more = child.get("uri") is not None or id_ != _LISTS[part]
                for component in child:
                    class_ = names[component.tag]
                    collected.add(class_, component)
                    says_more |= class_ in _NOTES
                if says_more:
                    descriptors.append(_described(item_urn(urn, _LISTS[part], child, id_), child, names))
    is_stub = base["is_external_reference"] and collected.is_empty
    return DataStructure(
        urn=urn,
        dimension_list=items_of(urn, collected.dimensions, is_stub=is_stub),
        measures=items_of(urn, collected.measures, is_stub=is_stub),
        attributes=items_of(urn, collected.attributes, is_stub=is_stub),
        groups=items_of(urn, collected.groups, is_stub=is_stub),
        metadata=metadata,
        metadata_attribute_usages=tuple(collected.usages),
        descriptors=tuple(descriptor for descriptor in descriptors if descriptor is not None),
        evolving_structure=boolean(item.element, "evolvingStructure") or False,
        **base,
    )
