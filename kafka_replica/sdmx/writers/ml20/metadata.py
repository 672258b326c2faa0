"""Metadata structures as SDMX-ML 2.0: a full target identifier, partial ones of its parts, and reports."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.base import Identifiable
from kafka_replica.sdmx.earlier import NamedMetadataTarget, NamedReportStructure, NamedTargetObject
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.ml.writing.xml import el, leaf
from kafka_replica.sdmx.model import MetadataAttribute, MetadataStructure, MetadataTarget, ReportStructure, TargetObject
from kafka_replica.sdmx.writers.ml20.key_family import concept_of
from kafka_replica.sdmx.writers.ml20.values import Edition, annotated, annotations_of, maintained, representation, texts

_CLASSES: Final = {
    "DataStructure": "KeyFamily", "DimensionDescriptor": "KeyDescriptor", "DataAttribute": "Attribute",
    "Dataflow": "DataFlow", "Metadataflow": "MetadataFlow", "GroupDimensionDescriptor": "GroupKeyDescriptor",
}  # fmt: skip
_SCHEMES: Final = {"Codelist": "Codelist", "ConceptScheme": "Concept", "CategoryScheme": "Category",
                   "OrganisationScheme": "Organisation"}  # fmt: skip


def metadata_structure(one: MetadataStructure, edition: Edition) -> str:
    """Write a <MetadataStructureDefinition>."""
    if one.metadata_attributes.is_stub:
        return maintained("str:MetadataStructureDefinition", one, edition)
    targets = ""
    if one.metadata_targets:
        full, *partial = one.metadata_targets.values()
        targets = el("str:TargetIdentifiers", _full(full), *[_partial(each) for each in partial])
    reports = [_report(each, edition) for each in one.report_structures.values()]
    return maintained("str:MetadataStructureDefinition", one, edition, targets, *reports)


def _named(one: Identifiable) -> str:
    if not isinstance(one, (NamedMetadataTarget, NamedTargetObject, NamedReportStructure)):
        raise UnwritableError(f"SDMX-ML 2.0 demands a name of {one.urn}")
    return texts("str:Name", one.names) + texts("str:Description", one.descriptions)


def _full(one: MetadataTarget) -> str:
    parts = [_component(each) for each in one.target_objects.values()]
    return el("str:FullTargetIdentifier", _named(one), *parts, annotated(one), id=one.id, uri=one.uri)


def _partial(one: MetadataTarget) -> str:
    parts = [leaf("str:IdentifierComponentRef", id_) for id_ in one.target_objects]
    return el("str:PartialTargetIdentifier", _named(one), *parts, annotated(one), id=one.id, uri=one.uri)


def _component(one: TargetObject) -> str:
    scheme = None if one.representation is None else one.representation.enumeration
    inside = ""
    if scheme is not None:
        if scheme.cls not in _SCHEMES:
            raise UnwritableError(f"SDMX-ML 2.0 has no place for a representation by {scheme}")
        inside = el(
            "str:RepresentationScheme",
            representationScheme=scheme.id,
            representationSchemeAgency=scheme.agency,
            representationSchemeType=_SCHEMES[scheme.cls],
        )
    class_ = leaf("str:TargetObjectClass", _CLASSES.get(one.object_type or "", one.object_type))
    return el("str:IdentifierComponent", _named(one), class_, inside, annotated(one), id=one.id, uri=one.uri)


def _report(one: ReportStructure, edition: Edition) -> str:
    if len(one.metadata_targets) > 1:
        raise UnwritableError(f"SDMX-ML 2.0 has a place for one target of {one.urn}")
    found = [_attribute(each, edition) for each in one.metadata_attributes.values()]
    target = one.metadata_targets[0] if one.metadata_targets else None
    return el("str:ReportStructure", _named(one), *found, annotated(one), id=one.id, uri=one.uri, target=target)


def _attribute(one: MetadataAttribute, edition: Edition) -> str:
    own = one.representation
    _, format_ = representation(own, edition)
    lists: dict[str, str | None] = {}
    if own is not None and own.enumeration is not None:
        lists = {"representationScheme": own.enumeration.id, "representationSchemeAgency": own.enumeration.agency}
    return el(
        "str:MetadataAttribute",
        *[_attribute(each, edition) for each in one.metadata_attributes.values()],
        format_,
        annotations_of(one.annotations),
        **concept_of(one.concept, edition),
        **lists,
        usageStatus="Mandatory" if one.min_occurs == 1 else "Conditional",
    )
