"""Metadata structures, metadataflows and metadata sets as SDMX-ML."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.model import (
    MetadataAttribute,
    Metadataflow,
    MetadataSet,
    MetadataStructure,
    MetadataTarget,
    ReportedAttribute,
    ReportStructure,
    TargetObject,
)
from kafka_replica.sdmx.writers.ml.categories import targets
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.structures import components
from kafka_replica.sdmx.writers.ml.values import annotations_of, artefact, component, parts, representation, texts
from kafka_replica.sdmx.writers.ml.xml import attribute, el, leaf, true

_TARGETS: Final = {
    "DimensionDescriptorValuesTarget": "str:KeyDescriptorValuesTarget",
    "DataSetTarget": "str:DataSetTarget",
    "ConstraintTarget": "str:ConstraintContentTarget",
    "ReportPeriodTarget": "str:ReportPeriodTarget",
    "IdentifiableObjectTarget": "str:IdentifiableObjectTarget",
}


def metadataflow(one: Metadataflow, edition: Edition) -> str:
    """Write a <Metadataflow>."""
    edition.since_3(parts(one.targets), "the targets of a metadataflow")
    content = [edition.ref("str:Structure", one.structure_reference), targets("str:Target", one.targets)]
    return artefact("str:Metadataflow", one, edition, content)


def metadata_structure(one: MetadataStructure, edition: Edition) -> str:
    """Write a <MetadataStructure>: attributes in 3.x, targets and reports in 2.1."""
    if one.metadata_attributes.is_stub:
        return artefact("str:MetadataStructure", one, edition, [])
    edition.since_3(one.metadata_attributes or one.descriptors, "metadata attributes outside of report structures")
    edition.until_3(one.metadata_targets or one.report_structures, "metadata targets and report structures")
    attributes = [_attribute(each, edition) for each in one.metadata_attributes.values()]
    lists = {each.urn.cls: each for each in one.descriptors}
    content = (
        components("str:MetadataAttributeList", one, "MetadataAttributeDescriptor", attributes, lists, edition),
        *[_target(each, edition) for each in one.metadata_targets.values()],
        *[_report(each, edition) for each in one.report_structures.values()],
    )
    inside = el("str:MetadataStructureComponents", *content) if any(content) else ""
    return artefact("str:MetadataStructure", one, edition, [inside])


def _attribute(one: MetadataAttribute, edition: Edition) -> str:
    return component(
        "str:MetadataAttribute",
        one,
        edition,
        edition.ref("str:ConceptIdentity", one.concept),
        representation("str:LocalRepresentation", one.representation, edition),
        *[_attribute(each, edition) for each in one.metadata_attributes.values()],
        minOccurs=None if one.min_occurs is None else str(one.min_occurs),
        maxOccurs=None if one.max_occurs is None else str(one.max_occurs),
        isPresentational=true(one.is_presentational),
    )


def _target(one: MetadataTarget, edition: Edition) -> str:
    found = [_target_object(each, edition) for each in one.target_objects.values()]
    return component("str:MetadataTarget", one, edition, *found)


def _target_object(one: TargetObject, edition: Edition) -> str:
    if one.urn.cls not in _TARGETS:
        raise UnwritableError(f"{one.urn} is no part of a metadata target")
    local = representation("str:LocalRepresentation", one.representation, edition)
    return component(_TARGETS[one.urn.cls], one, edition, local, objectType=one.object_type)


def _report(one: ReportStructure, edition: Edition) -> str:
    found = [_attribute(each, edition) for each in one.metadata_attributes.values()]
    about = [edition.local("str:MetadataTarget", each) for each in one.metadata_targets]
    return component("str:ReportStructure", one, edition, *found, *about)


def metadata_set(one: MetadataSet, edition: Edition) -> str:
    """Write a <MetadataSet> of 3.x, for its own kind of message."""
    content = [
        edition.ref("gen:MetadataProvisionAgreement", one.metadata_provision_agreement),
        edition.ref("gen:Metadataflow", one.metadataflow),
        targets("gen:Target", one.targets),
        *[_reported(each, edition) for each in parts(one.attributes)],
    ]
    return artefact(
        "mes:MetadataSet",
        one,
        edition,
        content,
        action=one.action,
        reportingBeginDate=one.reporting_begin_date,
        reportingEndDate=one.reporting_end_date,
        publicationYear=one.publication_year,
        publicationPeriod=one.publication_period,
    )


def _reported(one: ReportedAttribute, edition: Edition) -> str:
    structured = [
        f'<com:StructuredText xml:lang="{attribute(language)}">{_checked(text)}</com:StructuredText>'
        for language, text in one.structured_texts.texts
    ]
    return el(
        "gen:Attribute",
        annotations_of(one.annotations, edition),
        *[leaf("gen:Value", value) for value in one.values],
        texts("com:Text", one.texts),
        *structured,
        *[_reported(each, edition) for each in one.attributes],
        id=one.id,
    )


def _checked(xhtml: str) -> str:
    """Return XHTML that is well-formed by itself. It is inserted as it is, so it must not close outer elements."""
    try:
        etree.fromstring(f"<a>{xhtml}</a>", etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except etree.XMLSyntaxError as error:
        raise UnwritableError(f"the structured text {xhtml[:40]!r} is not well-formed XHTML: {error.msg}") from None
    return xhtml
