"""Write data structures and dataflows as SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, true, write_urn, write_urns
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.writing import (
    write_annotations,
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


def write_dataflow(one: Dataflow, edition: Edition) -> Json:
    """Write a dataflow."""
    if one.dimension_constraint and not edition.is_21:
        raise UnwritableError("only SDMX-JSON 2.1 has a place for the dimension constraint of a dataflow")
    return obj(
        write_maintained(one, edition),
        structure=write_urn(one.structure_reference),
        dimensionConstraint=list(one.dimension_constraint),
    )


def write_data_structure(one: DataStructure, edition: Edition) -> Json:
    """Write a data structure."""
    if one.evolving_structure and not edition.is_21:
        raise UnwritableError("only SDMX-JSON 2.1 has a place for the mark that a structure evolves")
    edition.since_2(one.metadata, "the metadata structure of a data structure")
    edition.since_2(one.metadata_attribute_usages, "metadata attributes in a data structure")
    return obj(
        write_maintained(one, edition),
        dataStructureComponents=None if one.dimension_list.is_stub else _components(one, edition),
        metadata=write_urn(one.metadata),
        evolvingStructure=true(one.evolving_structure),
    )


def _components(one: DataStructure, edition: Edition) -> Json | None:
    attributes: Json = {}
    for each in one.attributes.values():
        is_apart = edition.is_10 and each.urn.cls == "ReportingYearStartDay"
        attributes.setdefault("reportingYearStartDays" if is_apart else "attributes", []).append(
            _attribute(each, edition)
        )
    usages = [_usage(each, edition) for each in one.metadata_attribute_usages]
    lists = {each.urn.cls: each for each in one.descriptors}
    found = obj(
        dimensionList=write_components(lists, "DimensionDescriptor", _dimensions(one, edition), edition),
        attributeList=write_components(
            lists, "AttributeDescriptor", attributes | obj(metadataAttributeUsages=usages), edition
        ),
        measureList=write_components(lists, "MeasureDescriptor", _measures(one, edition), edition),
        groups=[_group(each, edition) for each in one.groups.values()],
    )
    return found or None


def write_components(lists: dict[str, Identifiable], class_: str, content: Json, edition: Edition) -> Json | None:
    """Write a list of components, with its own annotations if any."""
    own = lists.get(class_)
    if own is not None:
        return write_identified(own, edition) | content
    return {"id": class_} | content if content else None


def _dimensions(one: DataStructure, edition: Edition) -> Json:
    found: Json = {}
    for each in one.dimension_list.values():
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


def _measures(one: DataStructure, edition: Edition) -> Json:
    found: Json = {}
    for each in one.measures.values():
        written = _measure(each, edition)
        is_primary = each.urn.cls == "PrimaryMeasure"
        edition.until_2(is_primary, "a primary measure that is not called OBS_VALUE")
        edition.since_2(not is_primary, "measures other than a primary one")
        if is_primary:
            found["primaryMeasure"] = written
        else:
            found.setdefault("measures", []).append(written)
    return found


def write_component(one: Component, edition: Edition) -> Json:
    """Write the parts that every component has."""
    return obj(
        write_identified(one, edition),
        conceptIdentity=write_urn(one.concept),
        localRepresentation=write_representation(one.representation, edition),
        conceptRoles=write_urns(one.concept_roles),
    )


def _dimension(one: Dimension, edition: Edition) -> Json:
    # The schemas of 2.x allow no position for the time dimension.
    position = None if one.is_time and not edition.is_10 else one.position
    return obj(write_component(one, edition), position=position, type=one.urn.cls if edition.is_10 else None)


def _measure(one: Measure, edition: Edition) -> Json:
    usage = None if edition.is_10 else "mandatory" if one.mandatory else "optional"
    return obj(write_component(one, edition), usage=usage)


def _attribute(one: Attribute, edition: Edition) -> Json:
    if edition.is_10:
        usage = {"assignmentStatus": "Mandatory" if one.mandatory else "Conditional"}
        measures: list[str] = []
        edition.since_2(one.relationship.kind != "observation" and one.relationship.measures, "the measures that an "
                        "attribute is about")  # fmt: skip
    else:
        usage = {"usage": "mandatory" if one.mandatory else "optional"}
        measures = list(one.relationship.measures)
    relationship = _relationship(one.relationship, edition)
    return obj(write_component(one, edition), usage, attributeRelationship=relationship, measureRelationship=measures)


def _relationship(one: AttributeRelationship, edition: Edition) -> Json:
    edition.since_2(one.optional_dimensions, "optional dimensions of an attribute")
    edition.until_2(one.dimensions and one.groups, "groups in addition to the dimensions of an attribute")
    if one.kind == "observation":
        return {"primaryMeasure": (one.measures or ("OBS_VALUE",))[0]} if edition.is_10 else {"observation": {}}
    if one.kind == "dataset":
        return {"none": {}} if edition.is_10 else {"dataflow": {}}
    if one.kind == "group":
        return obj(group=next(iter(one.groups), None))
    optional = [each in one.optional_dimensions for each in one.dimensions] if one.optional_dimensions else []
    return obj(dimensions=list(one.dimensions), attachmentGroups=list(one.groups), areDimensionsOptional=optional)


def _usage(one: MetadataAttributeUsage, edition: Edition) -> Json:
    own = obj(annotations=write_annotations(one.annotations, edition))
    if one.links or one.uri is not None:
        raise UnwritableError("links of the usage of a metadata attribute can only be written in SDMX-ML")
    return obj(
        own,
        metadataAttributeReference=one.metadata_attribute,
        attributeRelationship=_relationship(one.relationship, edition),
    )


def _group(one: Group, edition: Edition) -> Json:
    edition.until_2(one.attachment_constraint, "the attachment constraint of a group")
    return obj(
        write_identified(one, edition),
        groupDimensions=list(one.dimensions),
        attachmentConstraint=write_urn(one.attachment_constraint),
    )
