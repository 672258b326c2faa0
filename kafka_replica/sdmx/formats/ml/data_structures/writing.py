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


def write_dataflow(one: Dataflow, edition: Edition) -> str:
    """Write a <Dataflow>."""
    if one.dimension_constraint and not edition.is_31:
        raise UnwritableError("only SDMX-ML 3.1 has a place for the dimension constraint of a dataflow")
    dimensions = [leaf("str:Dimension", each) for each in one.dimension_constraint]
    content = [
        edition.ref("str:Structure", one.structure_reference),
        el("str:DimensionConstraint", *dimensions) if dimensions else "",
    ]
    return artefact("str:Dataflow", one, edition, content)


def write_data_structure(one: DataStructure, edition: Edition) -> str:
    """Write a <DataStructure>."""
    if one.evolving_structure and not edition.is_31:
        raise UnwritableError("only SDMX-ML 3.1 has a place for the mark that a structure evolves")
    edition.since_3(one.metadata, "the metadata structure of a data structure")
    edition.since_3(one.metadata_attribute_usages, "metadata attributes in a data structure")
    content = ["" if one.dimension_list.is_stub else _components(one, edition)]
    content.append(edition.ref("str:Metadata", one.metadata))
    return artefact("str:DataStructure", one, edition, content, evolvingStructure=true(one.evolving_structure))


def _components(one: DataStructure, edition: Edition) -> str:
    dimensions = [_dimension(each, edition) for each in one.dimension_list.values()]
    groups = [_group(each, edition) for each in one.groups.values()]
    attributes = [_attribute(each, edition) for each in one.attributes.values()]
    attributes += [_usage(each, edition) for each in one.metadata_attribute_usages]
    measures = [_measure(each, edition) for each in one.measures.values()]
    lists = {each.urn.cls: each for each in one.descriptors}
    content = (
        write_components("str:DimensionList", one, "DimensionDescriptor", dimensions, lists, edition),
        *groups,
        write_components("str:AttributeList", one, "AttributeDescriptor", attributes, lists, edition),
        write_components("str:MeasureList", one, "MeasureDescriptor", measures, lists, edition),
    )
    return el("str:DataStructureComponents", *content) if any(content) else ""


def write_components(
    tag: str, one: Any, class_: str, found: Iterable[str], lists: dict[str, Identifiable], edition: Edition
) -> str:
    """Write a list of components, with its own annotations if any."""
    inside = "".join(found)
    own = lists.get(class_)
    if own is not None:
        return el(tag, annotated(own, edition), inside, **_list_identity(own.id, own.urn, edition), uri=own.uri)
    return el(tag, inside, **_list_identity(class_, one.urn.with_item(class_, class_), edition)) if inside else ""


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


def _dimension(one: Dimension, edition: Edition) -> str:
    # Since 3.0 the schema allows no position for the time dimension.
    position = None if one.is_time and not edition.is_21 else str(one.position)
    return _component(f"str:{one.urn.cls}", one, edition, position=position)


def _measure(one: Measure, edition: Edition) -> str:
    usage = _usage_of(one, edition)
    edition.since_3(one.mandatory, "a measure that is mandatory")
    return _component(f"str:{one.urn.cls}", one, edition, **({} if edition.is_21 else usage))


def _attribute(one: Attribute, edition: Edition) -> str:
    is_plain = one.urn.cls == "DataAttribute"
    edition.until_3(not is_plain, "ReportingYearStartDay as a kind of attribute of its own")
    tag = "str:Attribute" if is_plain else f"str:{one.urn.cls}"
    return _component(tag, one, edition, _relationship(one.relationship, edition), **_usage_of(one, edition))


def _usage_of(one: Measure | Attribute, edition: Edition) -> dict[str, str | None]:
    if edition.is_21:
        return {"assignmentStatus": "Mandatory" if one.mandatory else "Conditional"}
    return {"usage": "mandatory" if one.mandatory else "optional"}


def _usage(one: MetadataAttributeUsage, edition: Edition) -> str:
    return el(
        "str:MetadataAttributeUsage",
        write_annotations(one.annotations, edition),
        links(one.links, edition),
        leaf("str:MetadataAttributeReference", one.metadata_attribute),
        _relationship(one.relationship, edition),
        uri=one.uri,
    )


def _relationship(one: AttributeRelationship, edition: Edition) -> str:
    edition.until_3(one.dimensions and one.groups, "groups in addition to the dimensions of an attribute")
    if edition.is_21:
        return el("str:AttributeRelationship", _relationship_21(one, edition))
    if one.kind == "group":
        inside = "".join([leaf("str:Group", each) for each in one.groups])
    elif one.kind == "dimensions":
        inside = "".join([
            leaf("str:Dimension", each, optional=true(each in one.optional_dimensions)) for each in one.dimensions
        ])  # fmt: skip
    else:
        inside = el("str:Observation" if one.kind == "observation" else "str:Dataflow")
    measures = [leaf("str:Measure", each) for each in one.measures]
    return el("str:AttributeRelationship", inside) + (el("str:MeasureRelationship", *measures) if measures else "")


def _relationship_21(one: AttributeRelationship, edition: Edition) -> str:
    if one.kind == "observation":
        # In 2.1 the relationship means the same with or without the primary measure.
        edition.since_3(len(one.measures) > 1, "the measures that an attribute is about")
        return "".join([edition.local("str:PrimaryMeasure", each) for each in one.measures or ("OBS_VALUE",)])
    edition.since_3(one.optional_dimensions, "optional dimensions of an attribute")
    edition.since_3(one.measures, "the measures that an attribute is about")
    if one.kind == "group":
        return "".join([edition.local("str:Group", each) for each in one.groups])
    if one.kind == "dimensions":
        dimensions = [edition.local("str:Dimension", each) for each in one.dimensions]
        return "".join([*dimensions, *[edition.local("str:AttachmentGroup", each) for each in one.groups]])
    return el("str:None")


def _group(one: Group, edition: Edition) -> str:
    edition.until_3(one.attachment_constraint, "the attachment constraint of a group")
    edition.until_3(one.links, "links of a group")
    dimensions = [el("str:GroupDimension", edition.local("str:DimensionReference", each)) for each in one.dimensions]
    return el(
        "str:Group",
        annotated(one, edition),
        *dimensions,
        edition.ref("str:AttachmentConstraint", one.attachment_constraint),
        id=one.id,
        urn=str(one.urn),
        uri=one.uri,
    )
