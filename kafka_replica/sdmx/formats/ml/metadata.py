"""Metadata structures and metadataflows of SDMX-ML."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from lxml import etree

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.data_structures.reading import read_descriptor
from kafka_replica.sdmx.formats.ml.data_structures.writing import write_components
from kafka_replica.sdmx.formats.ml.provisions import write_targets
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, known, pick, read_items, ref, texts
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import (
    Item,
    boolean,
    local_id,
    occurs,
    read_representation,
    whole_number,
)
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, component, parts, write_representation
from kafka_replica.sdmx.formats.ml.writing.xml import el, true
from kafka_replica.sdmx.model import (
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
    MetadataTarget,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.urns.urn import Urn

# Reading


# element -> class in the URN, and the id that the schema fixes
_TARGETS: Final = {
    "KeyDescriptorValuesTarget": ("DimensionDescriptorValuesTarget", "DIMENSION_DESCRIPTOR_VALUES_TARGET"),
    "DataSetTarget": ("DataSetTarget", "DATA_SET_TARGET"),
    "ConstraintContentTarget": ("ConstraintTarget", "CONSTRAINT_CONTENT_TARGET"),
    "ReportPeriodTarget": ("ReportPeriodTarget", "REPORT_PERIOD_TARGET"),
    "IdentifiableObjectTarget": ("IdentifiableObjectTarget", None),
}


def read_metadataflow(item: Item) -> Metadataflow:
    """Read a <Metadataflow>."""
    urn, base, rest, names = item.parts
    return Metadataflow(
        urn=urn,
        structure_reference=ref(rest, "Structure", names, "MetadataStructure"),
        targets=parts_of(urn, texts(rest, "Target"), is_stub=base["is_external_reference"] and not rest),
        **base,
    )


def read_metadata_structure(item: Item) -> MetadataStructure:
    """Read a <MetadataStructure>."""
    urn, base, rest, names = item.parts
    parts = [child for element in pick(rest, "MetadataStructureComponents") for child in known(element, names)]
    lists = list(pick(parts, "MetadataAttributeList"))
    attributes = [
        metadata_attribute
        for element in lists
        for metadata_attribute in pick(known(element, names), "MetadataAttribute")
    ]
    descriptors = [read_descriptor(urn, "MetadataAttributeDescriptor", element, names) for element in lists]
    is_stub = base["is_external_reference"] and not parts
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(urn, _read_attributes(urn, attributes, names), is_stub=is_stub),
        metadata_targets=items_of(
            urn, read_items(urn, "MetadataTarget", pick(parts, "MetadataTarget"), names, _read_target), is_stub=is_stub
        ),
        report_structures=items_of(
            urn,
            read_items(urn, "ReportStructure", pick(parts, "ReportStructure"), names, _read_report),
            is_stub=is_stub,
        ),
        descriptors=tuple(descriptor for descriptor in descriptors if descriptor is not None),
        **base,
    )


def _read_attributes(
    urn: Urn, elements: Iterable[etree._Element], names: Names, path: str | None = None
) -> dict[str, MetadataAttribute]:
    return read_items(urn, "MetadataAttribute", elements, names, _read_attribute, path, _concept_id)


def _concept_id(element: etree._Element, names: Names) -> str | None:
    """Return the id of an attribute's concept, which replaces a missing id as in components of data structures."""
    concept = ref(known(element, names), "ConceptIdentity", names, "Concept")
    return None if concept is None else concept.item


def _nested_attributes(item: Item) -> Items[MetadataAttribute]:
    return Items(_read_attributes(item.urn, pick(item.rest, "MetadataAttribute"), item.names, item.urn.item))


def _read_attribute(item: Item) -> MetadataAttribute:
    local = first(item.rest, "LocalRepresentation")
    return MetadataAttribute(
        urn=item.urn,
        concept=ref(item.rest, "ConceptIdentity", item.names, "Concept"),
        representation=None if local is None else read_representation(local, item.names),
        min_occurs=whole_number(item.element, "minOccurs"),
        max_occurs=occurs(item.element, "maxOccurs"),
        is_presentational=boolean(item.element, "isPresentational") or False,
        metadata_attributes=_nested_attributes(item),
        **item.identified,
    )


def _read_report(item: Item) -> ReportStructure:
    return ReportStructure(
        urn=item.urn,
        metadata_attributes=_nested_attributes(item),
        metadata_targets=tuple(
            local_id(metadata_target, item.names) for metadata_target in pick(item.rest, "MetadataTarget")
        ),
        **item.identified,
    )


def _read_target(item: Item) -> MetadataTarget:
    found: dict[str, TargetObject] = {}
    for kind, element in item.rest:
        if kind in _TARGETS:
            class_, fixed = _TARGETS[kind]
            id_ = element.get("id") or fixed
            if id_ is None or id_ in found:
                fail(element, "it has no id" if id_ is None else f"the id {id_[:80]!r} is duplicated")
            one = Item(element, item_urn(item.urn, class_, element, f"{item.urn.item}.{id_}"), item.names)
            local = first(one.rest, "LocalRepresentation")
            found[id_] = TargetObject(
                urn=one.urn,
                representation=None if local is None else read_representation(local, item.names),
                object_type=element.get("objectType"),
                **one.identified,
            )
    return MetadataTarget(urn=item.urn, target_objects=Items(found), **item.identified)


# Writing

_TARGET_ELEMENTS: Final = {
    "DimensionDescriptorValuesTarget": "str:KeyDescriptorValuesTarget",
    "DataSetTarget": "str:DataSetTarget",
    "ConstraintTarget": "str:ConstraintContentTarget",
    "ReportPeriodTarget": "str:ReportPeriodTarget",
    "IdentifiableObjectTarget": "str:IdentifiableObjectTarget",
}


def write_metadataflow(metadataflow: Metadataflow, edition: Edition) -> str:
    """Write a <Metadataflow>."""
    edition.since_3(parts(metadataflow.targets), "the targets of a metadataflow")
    content = [
        edition.ref("str:Structure", metadataflow.structure_reference),
        write_targets("str:Target", metadataflow.targets),
    ]
    return artefact("str:Metadataflow", metadataflow, edition, content)


def write_metadata_structure(metadata_structure: MetadataStructure, edition: Edition) -> str:
    """Write a <MetadataStructure>: attributes in 3.x, targets and reports in 2.1."""
    if metadata_structure.metadata_attributes.is_stub:
        return artefact("str:MetadataStructure", metadata_structure, edition, [])
    edition.since_3(
        metadata_structure.metadata_attributes or metadata_structure.descriptors,
        "metadata attributes outside of report structures",
    )
    edition.until_3(
        metadata_structure.metadata_targets or metadata_structure.report_structures,
        "metadata targets and report structures",
    )
    attributes = [_write_attribute(each, edition) for each in metadata_structure.metadata_attributes.values()]
    lists = {each.urn.cls: each for each in metadata_structure.descriptors}
    content = (
        write_components(
            "str:MetadataAttributeList", metadata_structure, "MetadataAttributeDescriptor", attributes, lists, edition
        ),
        *[_write_target(each, edition) for each in metadata_structure.metadata_targets.values()],
        *[_write_report(each, edition) for each in metadata_structure.report_structures.values()],
    )
    inside = el("str:MetadataStructureComponents", *content) if any(content) else ""
    return artefact("str:MetadataStructure", metadata_structure, edition, [inside])


def _write_attribute(metadata_attribute: MetadataAttribute, edition: Edition) -> str:
    return component(
        "str:MetadataAttribute",
        metadata_attribute,
        edition,
        edition.ref("str:ConceptIdentity", metadata_attribute.concept),
        write_representation("str:LocalRepresentation", metadata_attribute.representation, edition),
        *[_write_attribute(each, edition) for each in metadata_attribute.metadata_attributes.values()],
        minOccurs=None if metadata_attribute.min_occurs is None else str(metadata_attribute.min_occurs),
        maxOccurs=None if metadata_attribute.max_occurs is None else str(metadata_attribute.max_occurs),
        isPresentational=true(metadata_attribute.is_presentational),
    )


def _write_target(metadata_target: MetadataTarget, edition: Edition) -> str:
    found = [_target_object(each, edition) for each in metadata_target.target_objects.values()]
    return component("str:MetadataTarget", metadata_target, edition, *found)


def _target_object(target_object: TargetObject, edition: Edition) -> str:
    if target_object.urn.cls not in _TARGET_ELEMENTS:
        raise UnwritableError(f"{target_object.urn} is not part of a metadata target")
    local = write_representation("str:LocalRepresentation", target_object.representation, edition)
    return component(
        _TARGET_ELEMENTS[target_object.urn.cls], target_object, edition, local, objectType=target_object.object_type
    )


def _write_report(report_structure: ReportStructure, edition: Edition) -> str:
    found = [_write_attribute(each, edition) for each in report_structure.metadata_attributes.values()]
    about = [edition.local("str:MetadataTarget", each) for each in report_structure.metadata_targets]
    return component("str:ReportStructure", report_structure, edition, *found, *about)
