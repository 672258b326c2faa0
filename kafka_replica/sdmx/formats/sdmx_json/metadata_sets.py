"""Metadata sets of SDMX-JSON: 2.x, and 1.0, which are reports about targets, as in SDMX 2.1.

Source: sdmx-json-metadata-schema.json of 1.0, 2.0 and 2.1. Metadata sets come in separate messages, in the list
``metadataSets``. The ``format`` next to a value states its type, as the metadata structure also does; only the type
"XHTML" makes a difference, and only it is written.
"""

from __future__ import annotations

import re
from typing import Any, Final

import msgspec

from kafka_replica.sdmx.containers import NO_TEXT, parts_of, stored_parts
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.metadata_sets import read_reported_value
from kafka_replica.sdmx.formats.json_shared.values import Json, fail, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.sdmx_json.constraints.reading import read_region, read_set_reference
from kafka_replica.sdmx.formats.sdmx_json.constraints.wire import WireRegion, WireSet
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Localised, Wire, WireAnnotation, WireMaintainable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_annotations, write_maintained
from kafka_replica.sdmx.formats.shared.xhtml import is_xhtml
from kafka_replica.sdmx.model import (
    MetadataReport,
    MetadataSet,
    MetadataSetOfReports,
    ReportedAttribute,
    TargetObjectValue,
)
from kafka_replica.sdmx.urns.urn import Urn

_XHTML: Final = "XHTML"
_is_literal = re.compile(r"true|false|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?").fullmatch


class WireReportedFormat(Wire, gc=False):
    """The type of a reported value."""

    data_type: str | None = None


class WireAttributeSet(Wire, gc=False):
    """The reported attributes of a report, or below another attribute (1.0)."""

    reported_attributes: list[WireReportedAttribute] | None = None


class WireReportedAttribute(Wire, gc=False):
    """A reported attribute; texts are values in 2.x, and separate members in 1.0."""

    id: str | None = None
    annotations: list[WireAnnotation] | None = None
    value: msgspec.Raw = msgspec.Raw()
    format: WireReportedFormat | None = None
    attributes: list[WireReportedAttribute] | None = None
    text: str | None = None
    texts: Localised = None
    structured_text: str | None = None
    structured_texts: Localised = None
    attribute_set: WireAttributeSet | None = None


class WireReferenceValue(Wire, gc=False):
    """The subject of a report for one target object (1.0)."""

    id: str | None = None
    constraint_content: str | None = None
    data_key: WireRegion | None = None
    data_set: WireSet | None = None
    object: str | None = None
    report_period: str | None = None


class WireTarget(Wire, gc=False):
    """The metadata target of a report, and the subject of the report (1.0)."""

    id: str | None = None
    reference_values: list[WireReferenceValue] | None = None


class WireReport(Wire, gc=False):
    """A report (1.0)."""

    id: str | None = None
    annotations: list[WireAnnotation] | None = None
    target: WireTarget | None = None
    attribute_set: WireAttributeSet | None = None


class WireMetadataSet(WireMaintainable, gc=False):
    """A metadata set; ``dataProvider`` and ``reports`` are 1.0."""

    action: str | None = None
    metadataflow: str | None = None
    metadata_provision_agreement: str | None = None
    targets: list[str] | None = None
    attributes: list[WireReportedAttribute] | None = None
    reporting_begin: str | None = None
    reporting_end: str | None = None
    publication_year: str | None = None
    publication_period: str | None = None
    data_provider: str | None = None
    reports: list[WireReport] | None = None


def read_metadata_set(urn: Urn, wire: WireMetadataSet, context: Context) -> MetadataSet:
    """Build a MetadataSet, or a MetadataSetOfReports of 1.0."""
    shared: dict[str, Any] = {
        "urn": urn,
        "metadataflow": read_reference(wire.metadataflow, urn),
        "metadata_provision_agreement": read_reference(wire.metadata_provision_agreement, urn),
        "action": wire.action,
        "reporting_begin_date": wire.reporting_begin,
        "reporting_end_date": wire.reporting_end,
        "publication_year": wire.publication_year,
        "publication_period": wire.publication_period,
    } | context.maintained(wire)
    attributes = [_read_reported(urn, attribute, context) for attribute in wire.attributes or ()]
    if wire.reports:
        reports = tuple(_read_report(urn, report, context) for report in wire.reports)
        return MetadataSetOfReports(
            targets=(*(wire.targets or ()), *_objects_of(reports)),
            attributes=(*attributes, *(attribute for report in reports for attribute in report.attributes)),
            data_provider=read_reference(wire.data_provider, urn),
            reports=reports,
            **shared,
        )
    is_stub = bool(wire.is_external_reference) and not attributes
    return MetadataSet(
        targets=parts_of(urn, wire.targets or (), is_stub=is_stub),
        attributes=parts_of(urn, attributes, is_stub=is_stub),
        **shared,
    )


def _objects_of(reports: tuple[MetadataReport, ...]) -> dict[str, None]:
    """Return the artefacts and items that these reports are about, each once."""
    return dict.fromkeys(str(one.object) for report in reports for one in report.target_objects if one.object)


def _read_report(urn: Urn, wire: WireReport, context: Context) -> MetadataReport:
    target = wire.target or WireTarget()
    return MetadataReport(
        id=wire.id,
        target=target.id,
        target_objects=tuple(_read_target_object(urn, one, context) for one in target.reference_values or ()),
        attributes=_read_attribute_set(urn, wire.attribute_set, context),
        annotations=tuple(context.annotation(annotation) for annotation in wire.annotations or ()),
    )


def _read_target_object(urn: Urn, wire: WireReferenceValue, context: Context) -> TargetObjectValue:
    return TargetObjectValue(
        id=wire.id,
        object=read_reference(wire.object, urn),
        data_key=None if wire.data_key is None else read_region(urn, wire.data_key, context),
        data_set=None if wire.data_set is None else read_set_reference(urn, wire.data_set, context),
        constraint=read_reference(wire.constraint_content, urn),
        report_period=wire.report_period,
    )


def _read_attribute_set(urn: Urn, wire: WireAttributeSet | None, context: Context) -> tuple[ReportedAttribute, ...]:
    found = [] if wire is None else wire.reported_attributes or []
    return tuple(_read_reported(urn, attribute, context) for attribute in found)


def _read_reported(urn: Urn, wire: WireReportedAttribute, context: Context) -> ReportedAttribute:
    if wire.id is None:
        fail(urn, "a reported attribute has no id")
    values, texts, is_literal = read_reported_value(wire.value)
    structured = context.texts(wire.structured_text, wire.structured_texts)
    if wire.format is not None and wire.format.data_type == _XHTML:
        if texts.texts:
            texts, structured = NO_TEXT, texts
        elif len(values) == 1 and not is_literal and is_xhtml(next(iter(values))):
            [value] = values
            values, structured = (), context.texts(value, None)
    below = tuple(_read_reported(urn, attribute, context) for attribute in wire.attributes or ())
    return ReportedAttribute(
        id=wire.id,
        values=values,
        is_literal=is_literal,
        texts=context.texts(wire.text, wire.texts) if wire.texts or wire.text is not None else texts,
        structured_texts=structured,
        attributes=(*below, *_read_attribute_set(urn, wire.attribute_set, context)),
        annotations=tuple(context.annotation(annotation) for annotation in wire.annotations or ()),
    )


def write_metadata_set(metadata_set: MetadataSet, edition: Edition) -> Json:
    """Write a metadata set."""
    return obj(
        write_maintained(metadata_set, edition),
        action=metadata_set.action,
        metadataflow=write_urn(metadata_set.metadataflow),
        metadataProvisionAgreement=write_urn(metadata_set.metadata_provision_agreement),
        targets=stored_parts(metadata_set.targets),
        attributes=[_write_reported(each, edition) for each in stored_parts(metadata_set.attributes)],
        reportingBegin=metadata_set.reporting_begin_date,
        reportingEnd=metadata_set.reporting_end_date,
        publicationYear=metadata_set.publication_year,
        publicationPeriod=metadata_set.publication_period,
    )


def _write_reported(reported_attribute: ReportedAttribute, edition: Edition) -> Json:
    is_structured = bool(reported_attribute.structured_texts.texts)
    return obj(
        id=reported_attribute.id,
        format={"dataType": _XHTML} if is_structured else None,
        value=_write_value(reported_attribute),
        attributes=[_write_reported(each, edition) for each in reported_attribute.attributes],
        annotations=write_annotations(reported_attribute.annotations, edition),
    )


def _write_value(reported_attribute: ReportedAttribute) -> Any:
    texts = reported_attribute.structured_texts.texts or reported_attribute.texts.texts
    if texts:
        return dict(texts)
    value = next(iter(reported_attribute.values), None)  # several are refused before
    if not reported_attribute.is_literal or value is None:
        return value
    if not _is_literal(value):
        raise UnwritableError(
            f"the value {value[:40]!r} of the attribute {reported_attribute.id} is not a JSON literal"
        )
    return msgspec.Raw(value.encode())
