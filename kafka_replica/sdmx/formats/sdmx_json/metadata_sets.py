"""Metadata sets of SDMX-JSON 2.x.

Source: sdmx-json-metadata-schema.json of 2.0 and 2.1. Metadata sets come in separate messages, in the list
``metadataSets``. The ``format`` next to a value states its type, as the metadata structure also does.
"""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import parts_of, stored_parts
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.json_shared.metadata_sets import read_reported_value
from kafka_replica.sdmx.formats.json_shared.values import Json, fail, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import Wire, WireAnnotation, WireMaintainable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_annotations, write_maintained
from kafka_replica.sdmx.model import MetadataSet, ReportedAttribute
from kafka_replica.sdmx.urns.urn import Urn


class WireReportedAttribute(Wire, gc=False):
    """A reported attribute."""

    id: str | None = None
    annotations: list[WireAnnotation] | None = None
    value: Any = None
    attributes: list[WireReportedAttribute] | None = None


class WireMetadataSet(WireMaintainable, gc=False):
    """A metadata set."""

    action: str | None = None
    metadataflow: str | None = None
    metadata_provision_agreement: str | None = None
    targets: list[str] | None = None
    attributes: list[WireReportedAttribute] | None = None
    reporting_begin: str | None = None
    reporting_end: str | None = None
    publication_year: str | None = None
    publication_period: str | None = None


def read_metadata_set(urn: Urn, wire: WireMetadataSet, context: Context) -> MetadataSet:
    """Build a MetadataSet."""
    is_stub = bool(wire.is_external_reference) and not wire.attributes
    return MetadataSet(
        urn=urn,
        metadataflow=read_reference(wire.metadataflow, urn),
        metadata_provision_agreement=read_reference(wire.metadata_provision_agreement, urn),
        targets=parts_of(urn, wire.targets or (), is_stub=is_stub),
        attributes=parts_of(
            urn, [_read_reported(urn, attribute, context) for attribute in wire.attributes or ()], is_stub=is_stub
        ),
        action=wire.action,
        reporting_begin_date=wire.reporting_begin,
        reporting_end_date=wire.reporting_end,
        publication_year=wire.publication_year,
        publication_period=wire.publication_period,
        **context.maintained(wire),
    )


def _read_reported(urn: Urn, wire: WireReportedAttribute, context: Context) -> ReportedAttribute:
    if wire.id is None:
        fail(urn, "a reported attribute has no id")
    values, texts = read_reported_value(wire.value)
    return ReportedAttribute(
        id=wire.id,
        values=values,
        texts=texts,
        attributes=tuple(_read_reported(urn, attribute, context) for attribute in wire.attributes or ()),
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
    return obj(
        id=reported_attribute.id,
        value=_write_value(reported_attribute),
        attributes=[_write_reported(each, edition) for each in reported_attribute.attributes],
        annotations=write_annotations(reported_attribute.annotations, edition),
    )


def _write_value(reported_attribute: ReportedAttribute) -> Any:
    if reported_attribute.structured_texts.texts:
        raise UnwritableError(f"SDMX-JSON cannot represent the structured text of {reported_attribute.id}")
    if reported_attribute.texts.texts:
        return dict(reported_attribute.texts.texts)
    return reported_attribute.values[0] if len(reported_attribute.values) == 1 else list(reported_attribute.values)
