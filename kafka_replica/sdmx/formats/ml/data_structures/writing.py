"""Write data structures and dataflows as SDMX-ML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import (
    annotated,
    artefact,
    component,
    links,
    write_annotations,
    write_representation,
)
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf, true
from kafka_replica.sdmx.model import (
    Attribute,
    AttributeRelationship,
    Component,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    Identifiable,
    Measure,
    MetadataAttributeUsage,
)
from kafka_replica.sdmx.urns.urn import Urn


def write_dataflow(dataflow: Dataflow, edition: Edition) -> str:
    """Write a <Dataflow>."""
    if dataflow.dimension_constraint and not edition.is_31:
        raise UnwritableError("only SDMX-ML 3.1 has a place for the dimension constraint of a dataflow")
    dimensions = [leaf("str:Dimension", each) for each in dataflow.dimension_constraint]
    content = [
        edition.ref("str:Structure", dataflow.structure_reference),
        el("str:DimensionConstraint", *dimensions) if dimensions else "",
    ]
    return artefact("str:Dataflow", dataflow, edition, content)


def write_data_structure(data_structure: DataStructure, edition: Edition) -> str:
    """Write a <DataStructure>."""
    if data_structure.evolving_structure and not edition.is_31:
        raise UnwritableError("only SDMX-ML 3.1 has a place for the mark that a structure evolves")
    edition.since_3(data_structure.metadata, "the metadata structure of a data structure")
    edition.since_3(data_structure.metadata_attribute_usages, "metadata attributes in a data structure")
    content = ["" if data_structure.dimension_list.is_stub else _components(data_structure, edition)]
    content.append(edition.ref("str:Metadata", data_structure.metadata))
    return artefact(
        "str:DataStructure", data_structure, edition, content, evolvingStructure=true(data_structure.evolving_structure)
    )


def _components(data_structure: DataStructure, edition: Edition) -> str:
    dimensions = [_dimension(each, edition) for each in data_structure.dimension_list.values()]
    groups = [_group(each, edition) for each in data_structure.groups.values()]
    attributes = [_attribute(each, edition) for each in data_structure.attributes.values()]
    attributes += [_usage(each, edition) for each in data_structure.metadata_attribute_usages]
    measures = [_measure(each, edition) for each in data_structure.measures.values()]
    lists = {each.urn.cls: each for each in data_structure.descriptors}
    content = (
        write_components("str:DimensionList", data_structure, "DimensionDescriptor", dimensions, lists, edition),
        *groups,
        write_components("str:AttributeList", data_structure, "AttributeDescriptor", attributes, lists, edition),
        write_components("str:MeasureList", data_structure, "MeasureDescriptor", measures, lists, edition),
    )
    return el("str:DataStructureComponents", *content) if any(content) else ""


def write_components(
    tag: str, value: Any, class_: str, found: Iterable[str], lists: dict[str, Identifiable], edition: Edition
) -> str:
    """Write a list of components, with its own annotations if any."""
    inside = "".join(found)
    own = lists.get(class_)
    if own is not None:
        return el(tag, annotated(own, edition), inside, **_list_identity(own.id, own.urn, edition), uri=own.uri)
    return el(tag, inside, **_list_identity(class_, value.urn.with_item(class_, class_), edition)) if inside else ""


def _list_identity(id_: str, urn: Urn, edition: Edition) -> dict[str, str | None]:
    # The schemas of 3.x demand another class in the URN of a list of metadata attributes.
    is_odd = urn.cls == "MetadataAttributeDescriptor" and not edition.is_21
    return {"id": id_} if is_odd else {"id": id_, "urn": str(urn)}


def _component(tag: str, one: Component, edition: Edition, *content: str, **attributes: str | None) -> str:
    edition.check(one.urn)
    return component(
        tag,
        one,
        edition,
        edition.ref("str:ConceptIdentity", one.concept),
        write_representation("str:LocalRepresentation", one.representation, edition),
        edition.refs("str:ConceptRole", one.concept_roles),
        *content,
        **attributes,
    )


def _dimension(dimension: Dimension, edition: Edition) -> str:
    # Since 3.0 the schema allows no position for the time dimension.
    position = None if dimension.is_time and not edition.is_21 else str(dimension.position)
    return _component(f"str:{dimension.urn.cls}", dimension, edition, position=position)


def _measure(measure: Measure, edition: Edition) -> str:
    usage = _usage_of(measure, edition)
    edition.since_3(measure.mandatory, "a measure that is mandatory")
    return _component(f"str:{measure.urn.cls}", measure, edition, **({} if edition.is_21 else usage))


def _attribute(attribute: Attribute, edition: Edition) -> str:
    is_plain = attribute.urn.cls == "DataAttribute"
    edition.until_3(not is_plain, "ReportingYearStartDay as a kind of attribute of its own")
    tag = "str:Attribute" if is_plain else f"str:{attribute.urn.cls}"
    return _component(
        tag, attribute, edition, _relationship(attribute.relationship, edition), **_usage_of(attribute, edition)
    )


def _usage_of(measure: Measure | Attribute, edition: Edition) -> dict[str, str | None]:
    if edition.is_21:
        return {"assignmentStatus": "Mandatory" if measure.mandatory else "Conditional"}
    return {"usage": "mandatory" if measure.mandatory else "optional"}


def _usage(metadata_attribute_usage: MetadataAttributeUsage, edition: Edition) -> str:
    return el(
        "str:MetadataAttributeUsage",
        write_annotations(metadata_attribute_usage.annotations, edition),
        links(metadata_attribute_usage.links, edition),
        leaf("str:MetadataAttributeReference", metadata_attribute_usage.metadata_attribute),
        _relationship(metadata_attribute_usage.relationship, edition),
        uri=metadata_attribute_usage.uri,
    )


def _relationship(attribute_relationship: AttributeRelationship, edition: Edition) -> str:
    edition.until_3(
        attribute_relationship.dimensions and attribute_relationship.groups,
        "groups in addition to the dimensions of an attribute",
    )
    if edition.is_21:
        return el("str:AttributeRelationship", _relationship_21(attribute_relationship, edition))
    if attribute_relationship.kind == "group":
        inside = "".join([leaf("str:Group", each) for each in attribute_relationship.groups])
    elif attribute_relationship.kind == "dimensions":
        inside = "".join(
            [
                leaf("str:Dimension", each, optional=true(each in attribute_relationship.optional_dimensions))
                for each in attribute_relationship.dimensions
            ]
        )
    else:
        inside = el("str:Observation" if attribute_relationship.kind == "observation" else "str:Dataflow")
    measures = [leaf("str:Measure", each) for each in attribute_relationship.measures]
    return el("str:AttributeRelationship", inside) + (el("str:MeasureRelationship", *measures) if measures else "")


def _relationship_21(attribute_relationship: AttributeRelationship, edition: Edition) -> str:
    if attribute_relationship.kind == "observation":
        # In 2.1 the relationship means the same with or without the primary measure.
        edition.since_3(len(attribute_relationship.measures) > 1, "the measures that an attribute is about")
        return "".join(
            [edition.local("str:PrimaryMeasure", each) for each in attribute_relationship.measures or ("OBS_VALUE",)]
        )
    edition.since_3(attribute_relationship.optional_dimensions, "optional dimensions of an attribute")
    edition.since_3(attribute_relationship.measures, "the measures that an attribute is about")
    if attribute_relationship.kind == "group":
        return "".join([edition.local("str:Group", each) for each in attribute_relationship.groups])
    if attribute_relationship.kind == "dimensions":
        dimensions = [edition.local("str:Dimension", each) for each in attribute_relationship.dimensions]
        return "".join(
            [*dimensions, *[edition.local("str:AttachmentGroup", each) for each in attribute_relationship.groups]]
        )
    return el("str:None")


def _group(group: Group, edition: Edition) -> str:
    edition.until_3(group.attachment_constraint, "the attachment constraint of a group")
    edition.until_3(group.links, "links of a group")
    dimensions = [el("str:GroupDimension", edition.local("str:DimensionReference", each)) for each in group.dimensions]
    return el(
        "str:Group",
        annotated(group, edition),
        *dimensions,
        edition.ref("str:AttachmentConstraint", group.attachment_constraint),
        id=group.id,
        urn=str(group.urn),
        uri=group.uri,
    )
