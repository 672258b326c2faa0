"""Data and metadata structures, flows, hierarchies, constraints and maps as Fusion-JSON."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.shared.writing.times import milliseconds
from kafka_replica.sdmx.model import (
    Attribute,
    Component,
    Dataflow,
    DataStructure,
    Dimension,
    Group,
    HierarchicalCode,
    Hierarchy,
    HierarchyAssociation,
    MappedValue,
    Measure,
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
    RepresentationMap,
    RepresentationMapping,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.fusion.values import identified, items_of, maintained, representation
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, true, urn, urns

_LEVELS: Final = {
    "dataset": "DATA_SET", "dimensions": "DIMENSION_GROUP", "group": "GROUP", "observation": "OBSERVATION",
}  # fmt: skip
_COMPONENTS: Final = {"Dimension", "TimeDimension", "Measure", "DataAttribute"}


def dataflow(one: Dataflow) -> Json:
    """Write a dataflow."""
    return obj(maintained(one), dataStructureRef=urn(one.structure_reference))


def data_structure(one: DataStructure) -> Json:
    """Write a data structure."""
    dimensions = [_dimension(each) for each in items_of(one.dimension_list)]
    attributes = [_attribute(each) for each in items_of(one.attributes)]
    return obj(
        maintained(one),
        dimensionList={"dimensions": dimensions} if dimensions else None,
        measures=[_measure(each) for each in items_of(one.measures)],
        attributeList={"attributes": attributes} if attributes else None,
        groups=[_group(each) for each in items_of(one.groups)],
    )


def _component(one: Component) -> Json:
    if one.urn.cls not in _COMPONENTS:
        raise UnwritableError(f"Fusion-JSON has no place for a {one.urn.cls}")
    return obj(
        identified(one),
        concept=urn(one.concept),
        representation=representation(one.representation),
        conceptRoles=urns(one.concept_roles),
    )


def _dimension(one: Dimension) -> Json:
    return obj(_component(one), isTimeDimension=true(one.is_time))


def _measure(one: Measure) -> Json:
    return obj(_component(one), mandatory=one.mandatory)


def _attribute(one: Attribute) -> Json:
    about = one.relationship
    if len(about.groups) > 1:
        raise UnwritableError("Fusion-JSON has a place for one group of an attribute")
    return obj(
        _component(one),
        mandatory=one.mandatory,
        attachmentLevel=_LEVELS[about.kind],
        attachmentGroup=about.groups[0] if about.groups else None,
        dimensionReferences=list(about.dimensions),
        measureReferences=list(about.measures),
    )


def _group(one: Group) -> Json:
    return obj(identified(one), dimensionReferences=list(one.dimensions))


def metadataflow(one: Metadataflow) -> Json:
    """Write a metadataflow."""
    return obj(maintained(one), metadataStructureRef=urn(one.structure_reference), targets=parts(one.targets))


def metadata_structure(one: MetadataStructure) -> Json:
    """Write a metadata structure."""
    found = [_metadata_attribute(each) for each in items_of(one.metadata_attributes)]
    return obj(maintained(one), metadataAttributes=found)


def _metadata_attribute(one: MetadataAttribute) -> Json:
    # A missing maxOccurs is unbounded there.
    most = None if one.max_occurs == "unbounded" else 1 if one.max_occurs is None else one.max_occurs
    return obj(
        identified(one),
        concept=urn(one.concept),
        representation=representation(one.representation),
        minOccurs=one.min_occurs,
        maxOccurs=most,
        presentational=true(one.is_presentational),
        metadataAttributes=[_metadata_attribute(each) for each in one.metadata_attributes.values()],
    )


def hierarchy(one: Hierarchy) -> Json:
    """Write a hierarchy; no key is known for its levels."""
    found = [_code(each) for each in items_of(one.codes)]
    return obj(maintained(one), formalLevels=one.has_formal_levels, codes=found)


def _code(one: HierarchicalCode) -> Json:
    return obj(
        identified(one),
        code=urn(one.code),
        level=one.level,
        validFrom=milliseconds(one.valid_from),
        validTo=milliseconds(one.valid_to),
        codes=[_code(each) for each in one.codes.values()],
    )


def hierarchy_association(one: HierarchyAssociation) -> Json:
    """Write the association of a hierarchy."""
    return obj(
        maintained(one),
        hierarchyRef=urn(one.linked_hierarchy),
        linkedStructureRef=urn(one.linked_object),
        contextRef=urn(one.context_object),
    )


def representation_map(one: RepresentationMap) -> Json:
    """Write a representation map."""
    return obj(
        maintained(one),
        sources=[_end(each) for each in one.sources],
        targets=[_end(each) for each in one.targets],
        mappedRelationships=[_row(each) for each in parts(one.mappings)],
    )


def _end(end: Urn | str) -> str:
    return str(end)


def _row(one: RepresentationMapping) -> Json:
    found = {"source": [_value(each) for each in one.sources], "target": list(one.targets)}
    return found | obj(validFrom=one.valid_from, validTo=one.valid_to)


def _value(one: MappedValue) -> Json:
    return obj(value=one.value, regEx=true(one.is_reg_ex), startIndex=one.start_index, endIndex=one.end_index)
