"""Metadata sets of SDMX-ML: 3.x, and 2.1 generic and structure-specific, which are reports about targets.

Source: SDMXMetadataGeneric.xsd and SDMXMetadataStructureSpecific.xsd 2.1. In structure-specific sets, elements have the
names that a metadata structure gives them, and the schema defines how to read them without it: the children of an
<AttributeSet> are metadata attributes. The element's name is its id. The ids of reports and targets are in the schema
generated from the metadata structure, and are None if the message leaves them out.
"""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.containers import InternationalString, parts_of
from kafka_replica.sdmx.formats.ml.provisions import write_targets
from kafka_replica.sdmx.formats.ml.reading.child_elements import first, international, known, pick, ref, text, texts
from kafka_replica.sdmx.formats.ml.reading.metadata_header import MetadataHeader, attribute
from kafka_replica.sdmx.formats.ml.reading.tree import ANY_NAME, Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import Child, Item, language_of, read_annotations, text_of
from kafka_replica.sdmx.formats.ml.regions import read_region, read_set_reference
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, parts, write_annotations, write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el, escaped_attribute, leaf
from kafka_replica.sdmx.formats.shared.xhtml import as_xhtml, content_of
from kafka_replica.sdmx.model import (
    MetadataReport,
    MetadataSet,
    MetadataSetOfReports,
    ReportedAttribute,
    TargetObjectValue,
)

# Reading

SET_ATTRIBUTES: Final = {
    "action": "action",
    "reportingBeginDate": "reporting_begin_date",
    "reportingEndDate": "reporting_end_date",
    "publicationYear": "publication_year",
    "publicationPeriod": "publication_period",
}


def read_metadata_set(item: Item) -> MetadataSet:
    """Read a <MetadataSet> of 3.x, which is part of a GenericMetadata message."""
    urn, base, rest, names = item.parts
    is_stub = base["is_external_reference"] and not rest
    properties: dict[str, Any] = base | {field: item.element.get(name) for name, field in SET_ATTRIBUTES.items()}
    return MetadataSet(
        urn=urn,
        metadataflow=ref(rest, "Metadataflow", names),
        metadata_provision_agreement=ref(rest, "MetadataProvisionAgreement", names),
        targets=parts_of(urn, texts(rest, "Target"), is_stub=is_stub),
        attributes=parts_of(
            urn, [_read_reported(attribute, names) for attribute in pick(rest, "Attribute")], is_stub=is_stub
        ),
        **properties,
    )


def _read_reported(element: etree._Element, names: Names) -> ReportedAttribute:
    rest = known(element, names)
    notes = first(rest, "Annotations")
    return ReportedAttribute(
        id=element.get("id") or fail(element, "it has no id"),
        values=tuple(text_of(value) for value in pick(rest, "Value")),
        texts=international(rest, "Text"),
        structured_texts=_read_structured_texts(rest),
        attributes=tuple(_read_reported(attribute, names) for attribute in pick(rest, "Attribute")),
        annotations=() if notes is None else read_annotations(notes, names),
    )


def _read_structured_texts(rest: list[Child]) -> InternationalString:
    """Return the XHTML of all <StructuredText>, as text by language."""
    return InternationalString(
        [
            (language_of(structured_text), content_of(structured_text))
            for structured_text in pick(rest, "StructuredText")
        ]
    )


_VALID: Final = {"validFromDate": "valid_from", "validToDate": "valid_to"}


def read_metadata_set_of_reports(item: Item, header: MetadataHeader) -> MetadataSetOfReports:
    """Read a <MetadataSet> of 2.1."""
    urn, base, _, names = item.parts
    # In structure-specific sets, <DataProvider> and <Report> are in no namespace.
    rest = known(item.element, ANY_NAME)
    reports = tuple(_report(report) for report in pick(rest, "Report"))
    reported = header.reported(item.element)
    stated: dict[str, Any] = {
        field: attribute(item.element, name, names) for name, field in (SET_ATTRIBUTES | _VALID).items()
    }
    stated["action"] = stated["action"] or header.action
    return MetadataSetOfReports(
        urn=urn,
        metadataflow=reported.metadataflow,
        metadata_provision_agreement=reported.agreement,
        metadata_structure=reported.structure,
        metadata_structure_url=reported.url,
        data_provider=header.provider(rest),
        reports=reports,
        **read_about(reports),
        **(base | stated),
    )


def read_about(reports: tuple[MetadataReport, ...]) -> dict[str, Any]:
    """Return the shared targets and attributes of all reports, as arguments for what 3.x states once."""
    objects = [
        str(target_object.object)
        for report in reports
        for target_object in report.target_objects
        if target_object.object is not None
    ]
    return {
        "targets": tuple(dict.fromkeys(objects)),
        "attributes": tuple(attribute for report in reports for attribute in report.attributes),
    }


def _report(element: etree._Element) -> MetadataReport:
    rest = known(element, ANY_NAME)
    target, notes = first(rest, "Target"), first(rest, "Annotations")
    values = [] if target is None else pick(known(target, ANY_NAME), "ReferenceValue")
    return MetadataReport(
        id=element.get("id"),
        target=None if target is None else target.get("id"),
        target_objects=tuple(_target_object(value) for value in values),
        attributes=_attributes(first(rest, "AttributeSet")),
        annotations=() if notes is None else read_annotations(notes, ANY_NAME),
    )


def _target_object(element: etree._Element) -> TargetObjectValue:
    rest, names = known(element, ANY_NAME), ANY_NAME
    key, data_set = first(rest, "DataKey"), first(rest, "DataSetReference")
    period = text(rest, "ReportPeriod")
    return TargetObjectValue(
        id=element.get("id"),
        object=ref(rest, "ObjectReference", names, "Dataflow"),
        data_key=None if key is None else read_region(key, names),
        data_set=None if data_set is None else read_set_reference(data_set, names),
        constraint=ref(rest, "ConstraintContentReference", names, "AttachmentConstraint"),
        report_period=None if period is None else period.strip(),
    )


def _attributes(element: etree._Element | None) -> tuple[ReportedAttribute, ...]:
    return () if element is None else tuple(_attribute(kind, child) for kind, child in known(element, ANY_NAME))


def _attribute(kind: str, element: etree._Element) -> ReportedAttribute:
    rest = known(element, ANY_NAME)
    value, notes = element.get("value"), first(rest, "Annotations")
    return ReportedAttribute(
        id=element.get("id") or kind,
        values=() if value is None else (value,),
        texts=international(rest, "Text"),
        structured_texts=_read_structured_texts(rest),
        attributes=_attributes(first(rest, "AttributeSet")),
        annotations=() if notes is None else read_annotations(notes, ANY_NAME),
    )


# Writing


def write_metadata_set(metadata_set: MetadataSet, edition: Edition) -> str:
    """Write a <MetadataSet> of 3.x, for its own kind of message."""
    content = [
        edition.ref("gen:MetadataProvisionAgreement", metadata_set.metadata_provision_agreement),
        edition.ref("gen:Metadataflow", metadata_set.metadataflow),
        write_targets("gen:Target", metadata_set.targets),
        *[_write_reported(each, edition) for each in parts(metadata_set.attributes)],
    ]
    return artefact(
        "mes:MetadataSet",
        metadata_set,
        edition,
        content,
        action=metadata_set.action,
        reportingBeginDate=metadata_set.reporting_begin_date,
        reportingEndDate=metadata_set.reporting_end_date,
        publicationYear=metadata_set.publication_year,
        publicationPeriod=metadata_set.publication_period,
    )


def _write_reported(reported_attribute: ReportedAttribute, edition: Edition) -> str:
    structured = [
        f'<com:StructuredText xml:lang="{escaped_attribute(language)}">{as_xhtml(text)}</com:StructuredText>'
        for language, text in reported_attribute.structured_texts.texts
    ]
    return el(
        "gen:Attribute",
        write_annotations(reported_attribute.annotations, edition),
        *[leaf("gen:Value", value) for value in reported_attribute.values],
        write_texts("com:Text", reported_attribute.texts),
        *structured,
        *[_write_reported(each, edition) for each in reported_attribute.attributes],
        id=reported_attribute.id,
    )
