"""Write data structures and dataflows as SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, true, write_urn, write_urns
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_annotated,
    write_identified,
    write_maintained,
    write_representation,
)
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


def write_dataflow(dataflow: Dataflow, edition: Edition) -> Json:
    """Write a dataflow."""
    if dataflow.dimension_constraint and not edition.is_21:
        raise UnwritableError("only SDMX-JSON 2.1 has a place for the dimension constraint of a dataflow")
    return obj(
        write_maintained(dataflow, edition),
        structure=write_urn(dataflow.structure_reference),
        dimensionConstraint=list(dataflow.dimension_constraint),
    )


def write_data_structure(data_structure: DataStructure, edition: Edition) -> Json:
    """Write a data structure."""
    if data_structure.evolving_structure and not edition.is_21:
        raise UnwritableError("only SDMX-JSON 2.1 has a place for the mark that a structure evolves")
    edition.since_2(data_structure.metadata, "the metadata structure of a data structure")
    edition.since_2(data_structure.metadata_attribute_usages, "metadata attributes in a data structure")
    return obj(
        write_maintained(data_structure, edition),
        dataStructureComponents=None if data_structure.dimension_list.is_stub else _components(data_structure, edition),
        metadata=write_urn(data_structure.metadata),
        evolvingStructure=true(data_structure.evolving_structure),
    )


def _components(data_structure: DataStructure, edition: Edition) -> Json | None:
    attributes: Json = {}
    for each in data_structure.attributes.values():
        is_apart = edition.is_10 and each.urn.cls == "ReportingYearStartDay"
        attributes.setdefault("reportingYearStartDays" if is_apart else "attributes", []).append(
            _attribute(each, edition)
        )
    usages = [_usage(each, data_structure.urn, edition) for each in data_structure.metadata_attribute_usages]
    lists = {each.urn.cls: each for each in data_structure.descriptors}
    found = obj(
        dimensionList=write_components(lists, "DimensionDescriptor", _dimensions(data_structure, edition), edition),
        attributeList=write_components(
            lists, "AttributeDescriptor", attributes | obj(metadataAttributeUsages=usages), edition
        ),
        measureList=write_components(lists, "MeasureDescriptor", _measures(data_structure, edition), edition),
        groups=[_group(each, edition) for each in data_structure.groups.values()],
    )
    # The schemas demand a list of dimensions next to other components, which may be empty.
    return {"dimensionList": {}} | found if found else None


def write_components(lists: dict[str, Identifiable], class_: str, content: Json, edition: Edition) -> Json | None:
    """Write a list of components, with its own annotations if any."""
    own = lists.get(class_)
    if own is not None:
        return write_identified(own, edition) | content
    return {"id": class_} | content if content else None


def _dimensions(data_structure: DataStructure, edition: Edition) -> Json:
    found: Json = {}
    for each in data_structure.dimension_list.values():
        written = _dimension(each, edition)
        if not each.is_time:
            is_measure = each.urn.cls == "MeasureDimension"
            edition.until_2(is_measure, "a measure dimension")
            found.setdefault("measureDimensions" if is_measure else "dimensions", []).append(written)
        elif edition.is_10:
            found.setdefault("timeDimensions", []).append(written)
        else:
            found["timeDimension"] = written
    return found


def _measures(data_structure: DataStructure, edition: Edition) -> Json:
    found: Json = {}
    for each in data_structure.measures.values():
        written = _measure(each, edition)
        is_primary = each.urn.cls == "PrimaryMeasure"
        edition.until_2(is_primary, "a primary measure that is not called OBS_VALUE")
        edition.since_2(not is_primary, "measures other than a primary one")
        if is_primary:
            found["primaryMeasure"] = written
        else:
            found.setdefault("measures", []).append(written)
    return found


def write_component(component: Component, edition: Edition) -> Json:
    """Write the parts that every component has."""
    return obj(
        write_identified(component, edition),
        conceptIdentity=write_urn(component.concept),
        localRepresentation=write_representation(component.representation, edition),
        conceptRoles=write_urns(component.concept_roles),
    )


def _dimension(dimension: Dimension, edition: Edition) -> Json:
    # The schemas of 2.x allow no position for the time dimension.
    position = None if dimension.is_time and not edition.is_10 else dimension.position
    return obj(
        write_component(dimension, edition), position=position, type=dimension.urn.cls if edition.is_10 else None
    )


def _measure(measure: Measure, edition: Edition) -> Json:
    usage = None if edition.is_10 else "mandatory" if measure.mandatory else "optional"
    return obj(write_component(measure, edition), usage=usage)


def _attribute(attribute: Attribute, edition: Edition) -> Json:
    if edition.is_10:
        usage = {"assignmentStatus": "Mandatory" if attribute.mandatory else "Conditional"}
        measures: list[str] = []
        is_of_measures = attribute.relationship.kind != "observation" and attribute.relationship.measures
        edition.since_2(is_of_measures, "the measures that an attribute is about")
    else:
        usage = {"usage": "mandatory" if attribute.mandatory else "optional"}
        measures = list(attribute.relationship.measures)
    relationship = _relationship(attribute.relationship, edition)
    return obj(
        write_component(attribute, edition), usage, attributeRelationship=relationship, measureRelationship=measures
    )


def _relationship(attribute_relationship: AttributeRelationship, edition: Edition) -> Json:
    edition.since_2(attribute_relationship.optional_dimensions, "optional dimensions of an attribute")
    edition.until_2(
        attribute_relationship.dimensions and attribute_relationship.groups,
        "groups in addition to the dimensions of an attribute",
    )
    if attribute_relationship.kind == "observation":
        return (
            {"primaryMeasure": (attribute_relationship.measures or ("OBS_VALUE",))[0]}
            if edition.is_10
            else {"observation": {}}
        )
    if attribute_relationship.kind == "dataset":
        return {"none": {}} if edition.is_10 else {"dataflow": {}}
    if attribute_relationship.kind == "group":
        return obj(group=next(iter(attribute_relationship.groups), None))
    optional = (
        [each in attribute_relationship.optional_dimensions for each in attribute_relationship.dimensions]
        if attribute_relationship.optional_dimensions
        else []
    )
    return obj(
        dimensions=list(attribute_relationship.dimensions),
        attachmentGroups=list(attribute_relationship.groups),
        areDimensionsOptional=optional,
    )


def _usage(metadata_attribute_usage: MetadataAttributeUsage, data_structure: Urn, edition: Edition) -> Json:
    stand_in = Identifiable(
        urn=data_structure,
        annotations=metadata_attribute_usage.annotations,
        links=metadata_attribute_usage.links,
        uri=metadata_attribute_usage.uri,
    )
    return obj(
        write_annotated(stand_in, edition),
        metadataAttributeReference=metadata_attribute_usage.metadata_attribute,
        attributeRelationship=_relationship(metadata_attribute_usage.relationship, edition),
    )


def _group(group: Group, edition: Edition) -> Json:
    edition.until_2(group.attachment_constraint, "the attachment constraint of a group")
    return obj(
        write_identified(group, edition),
        groupDimensions=list(group.dimensions),
        attachmentConstraint=write_urn(group.attachment_constraint),
    )
