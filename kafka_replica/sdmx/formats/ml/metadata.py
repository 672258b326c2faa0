"""Metadata structures and metadataflows of SDMX-ML."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.data_structures.reading import read_descriptor
from kafka_replica.sdmx.formats.ml.data_structures.writing import write_components
from kafka_replica.sdmx.formats.ml.provisions import write_targets
from kafka_replica.sdmx.formats.ml.reading.items import item_urn
from kafka_replica.sdmx.formats.ml.reading.parts import first, known, nested, pick, read_items, ref, texts
from kafka_replica.sdmx.formats.ml.reading.tree import fail
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
    attributes = [one for element in lists for one in pick(known(element, names), "MetadataAttribute")]
    descriptors = [read_descriptor(urn, "MetadataAttributeDescriptor", element, names) for element in lists]
    is_stub = base["is_external_reference"] and not parts
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(
            urn, read_items(urn, "MetadataAttribute", attributes, names, _read_attribute), is_stub=is_stub
        ),
        metadata_targets=items_of(
            urn, read_items(urn, "MetadataTarget", pick(parts, "MetadataTarget"), names, _read_target), is_stub=is_stub
        ),
        report_structures=items_of(
            urn,
            read_items(urn, "ReportStructure", pick(parts, "ReportStructure"), names, _read_report),
            is_stub=is_stub,
        ),
        descriptors=tuple(one for one in descriptors if one is not None),
        **base,
    )


def _read_attribute(item: Item) -> MetadataAttribute:
    local = first(item.rest, "LocalRepresentation")
    return MetadataAttribute(
        urn=item.urn,
        concept=ref(item.rest, "ConceptIdentity", item.names, "Concept"),
        representation=None if local is None else read_representation(local, item.names),
        min_occurs=whole_number(item.element, "minOccurs"),
        max_occurs=occurs(item.element, "maxOccurs"),
        is_presentational=boolean(item.element, "isPresentational") or False,
        metadata_attributes=nested(item, "MetadataAttribute", _read_attribute),
        **item.identified,
    )


def _read_report(item: Item) -> ReportStructure:
    return ReportStructure(
        urn=item.urn,
        metadata_attributes=nested(item, "MetadataAttribute", _read_attribute, "MetadataAttribute"),
        metadata_targets=tuple(local_id(one, item.names) for one in pick(item.rest, "MetadataTarget")),
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


def write_metadataflow(one: Metadataflow, edition: Edition) -> str:
    """Write a <Metadataflow>."""
    edition.since_3(parts(one.targets), "the targets of a metadataflow")
    content = [edition.ref("str:Structure", one.structure_reference), write_targets("str:Target", one.targets)]
    return artefact("str:Metadataflow", one, edition, content)


def write_metadata_structure(one: MetadataStructure, edition: Edition) -> str:
    """Write a <MetadataStructure>: attributes in 3.x, targets and reports in 2.1."""
    if one.metadata_attributes.is_stub:
        return artefact("str:MetadataStructure", one, edition, [])
    edition.since_3(one.metadata_attributes or one.descriptors, "metadata attributes outside of report structures")
    edition.until_3(one.metadata_targets or one.report_structures, "metadata targets and report structures")
    attributes = [_write_attribute(each, edition) for each in one.metadata_attributes.values()]
    lists = {each.urn.cls: each for each in one.descriptors}
    content = (
        write_components("str:MetadataAttributeList", one, "MetadataAttributeDescriptor", attributes, lists, edition),
        *[_write_target(each, edition) for each in one.metadata_targets.values()],
        *[_write_report(each, edition) for each in one.report_structures.values()],
    )
    inside = el("str:MetadataStructureComponents", *content) if any(content) else ""
    return artefact("str:MetadataStructure", one, edition, [inside])


def _write_attribute(one: MetadataAttribute, edition: Edition) -> str:
    return component(
        "str:MetadataAttribute",
        one,
        edition,
        edition.ref("str:ConceptIdentity", one.concept),
        write_representation("str:LocalRepresentation", one.representation, edition),
        *[_write_attribute(each, edition) for each in one.metadata_attributes.values()],
        minOccurs=None if one.min_occurs is None else str(one.min_occurs),
        maxOccurs=None if one.max_occurs is None else str(one.max_occurs),
        isPresentational=true(one.is_presentational),
    )


def _write_target(one: MetadataTarget, edition: Edition) -> str:
    found = [_target_object(each, edition) for each in one.target_objects.values()]
    return component("str:MetadataTarget", one, edition, *found)


def _target_object(one: TargetObject, edition: Edition) -> str:
    if one.urn.cls not in _TARGET_ELEMENTS:
        raise UnwritableError(f"{one.urn} is not part of a metadata target")
    local = write_representation("str:LocalRepresentation", one.representation, edition)
    return component(_TARGET_ELEMENTS[one.urn.cls], one, edition, local, objectType=one.object_type)


def _write_report(one: ReportStructure, edition: Edition) -> str:
    found = [_write_attribute(each, edition) for each in one.metadata_attributes.values()]
    about = [edition.local("str:MetadataTarget", each) for each in one.metadata_targets]
    return component("str:ReportStructure", one, edition, *found, *about)
