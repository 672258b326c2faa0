"""Metadata sets of SDMX-ML 2.1, generic and structure-specific: reports about targets.

Source: SDMXMetadataGeneric.xsd and SDMXMetadataStructureSpecific.xsd 2.1. In structure-specific sets, elements have the
names that a metadata structure gives them, and the schema defines how to read them without it: the children of an
<AttributeSet> are metadata attributes. The element's name is its id. The ids of reports and targets are in the schema
generated from the metadata structure, and are None if the message leaves them out.
"""

from __future__ import annotations

from typing import Any, Final

from lxml import etree

from kafka_replica.sdmx.model import MetadataReport, MetadataSetOfReports, ReportedAttribute, TargetObjectValue
from kafka_replica.sdmx.readers.ml.metadata import SET_ATTRIBUTES, structured_texts
from kafka_replica.sdmx.readers.ml.metadata_header import MetadataHeader, attribute
from kafka_replica.sdmx.readers.ml.parts import first, international, known, pick, ref, text
from kafka_replica.sdmx.readers.ml.regions import region, set_reference
from kafka_replica.sdmx.readers.ml.tree import ANY_NAME
from kafka_replica.sdmx.readers.ml.values import Item, annotations_of

_VALID: Final = {"validFromDate": "valid_from", "validToDate": "valid_to"}


def metadata_set(item: Item, header: MetadataHeader) -> MetadataSetOfReports:
    """Read a <MetadataSet> of 2.1."""
    urn, base, _, names = item.parts
    # In structure-specific sets, <DataProvider> and <Report> are in no namespace.
    rest = known(item.element, ANY_NAME)
    reports = tuple(_report(one) for one in pick(rest, "Report"))
    reported = header.reported(item.element)
    said: dict[str, Any] = {
        field: attribute(item.element, name, names) for name, field in (SET_ATTRIBUTES | _VALID).items()
    }
    said["action"] = said["action"] or header.action
    return MetadataSetOfReports(
        urn=urn,
        metadataflow=reported.metadataflow,
        metadata_provision_agreement=reported.agreement,
        metadata_structure=reported.structure,
        metadata_structure_url=reported.url,
        data_provider=header.provider(rest),
        reports=reports,
        **about(reports),
        **(base | said),
    )


def about(reports: tuple[MetadataReport, ...]) -> dict[str, Any]:
    """Return the shared targets and attributes of all reports, as arguments for what 3.x states once."""
    objects = [str(one.object) for report in reports for one in report.target_objects if one.object is not None]
    return {
        "targets": tuple(dict.fromkeys(objects)),
        "attributes": tuple(one for report in reports for one in report.attributes),
    }


def _report(element: etree._Element) -> MetadataReport:
    rest = known(element, ANY_NAME)
    target, notes = first(rest, "Target"), first(rest, "Annotations")
    values = [] if target is None else pick(known(target, ANY_NAME), "ReferenceValue")
    return MetadataReport(
        id=element.get("id"),
        target=None if target is None else target.get("id"),
        target_objects=tuple(_target_object(one) for one in values),
        attributes=_attributes(first(rest, "AttributeSet")),
        annotations=() if notes is None else annotations_of(notes, ANY_NAME),
    )


def _target_object(element: etree._Element) -> TargetObjectValue:
    rest, names = known(element, ANY_NAME), ANY_NAME
    key, data_set = first(rest, "DataKey"), first(rest, "DataSetReference")
    period = text(rest, "ReportPeriod")
    return TargetObjectValue(
        id=element.get("id"),
        object=ref(rest, "ObjectReference", names, "Dataflow"),
        data_key=None if key is None else region(key, names),
        data_set=None if data_set is None else set_reference(data_set, names),
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
        structured_texts=structured_texts(rest),
        attributes=_attributes(first(rest, "AttributeSet")),
        annotations=() if notes is None else annotations_of(notes, ANY_NAME),
    )
