"""Metadata structures and metadataflows as SDMX-JSON."""

from __future__ import annotations

from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    MetadataAttribute,
    Metadataflow,
    MetadataStructure,
    MetadataTarget,
    ReportStructure,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, true, urn
from kafka_replica.sdmx.writers.sdmx_json.items import items_of, local
from kafka_replica.sdmx.writers.sdmx_json.structures import component, components
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, annotated, identified, maintained, representation

_TARGETS: Final = {
    "DimensionDescriptorValuesTarget": "keyDescriptorValuesTargets",
    "DataSetTarget": "dataSetTargets",
    "ReportPeriodTarget": "reportPeriodTargets",
    "IdentifiableObjectTarget": "identifiableObjectTargets",
    "ConstraintTarget": "constraintContentTargets",
}


def metadataflow(one: Metadataflow, edition: Edition) -> Json:
    """Write a metadataflow."""
    edition.since_2(parts(one.targets), "the targets of a metadataflow")
    return obj(maintained(one, edition), structure=urn(one.structure_reference), targets=parts(one.targets))


def metadata_structure(one: MetadataStructure, edition: Edition) -> Json:
    """Write a metadata structure."""
    if one.metadata_attributes.is_stub:
        return maintained(one, edition)
    edition.since_2(one.metadata_attributes or one.descriptors, "metadata attributes outside of report structures")
    edition.until_2(one.metadata_targets or one.report_structures, "metadata targets and report structures")
    attributes = obj(
        metadataAttributes=[_metadata_attribute(each, edition) for each in items_of(one.metadata_attributes)]
    )
    lists = {each.urn.cls: each for each in one.descriptors}
    content = obj(
        metadataAttributeList=components(lists, "MetadataAttributeDescriptor", attributes, edition),
        metadataTargets=[_target(each, edition) for each in items_of(one.metadata_targets)],
        reportStructures=[_report(each, one.urn, edition) for each in items_of(one.report_structures)],
    )
    return obj(maintained(one, edition), metadataStructureComponents=content or None)


def _metadata_attribute(one: MetadataAttribute, edition: Edition) -> Json:
    return obj(
        component(one, edition),
        minOccurs=one.min_occurs,
        maxOccurs=one.max_occurs,
        isPresentational=true(one.is_presentational),
        metadataAttributes=[_metadata_attribute(each, edition) for each in one.metadata_attributes.values()],
    )


def _target(one: MetadataTarget, edition: Edition) -> Json:
    found: dict[str, Any] = {}
    for each in one.target_objects.values():
        if each.urn.cls not in _TARGETS:
            raise UnwritableError(f"{each.urn} is no part of a metadata target")
        local = representation(each.representation, edition)
        written = obj(identified(each, edition), localRepresentation=local, objectType=each.object_type)
        found.setdefault(_TARGETS[each.urn.cls], []).append(written)
    return identified(one, edition) | found


def _report(one: ReportStructure, structure: Urn, edition: Edition) -> Json:
    return obj(
        identified(one, edition),
        annotated(one, edition),
        metadataAttributes=[_metadata_attribute(each, edition) for each in one.metadata_attributes.values()],
        metadataTargets=[local(structure, "MetadataTarget", each, edition) for each in one.metadata_targets],
    )
