"""Metadata sets of SDMX-JSON 2.x: their structs, and their conversion to the model.

Source: sdmx-json-metadata-schema.json of 2.0 and 2.1. Metadata sets come in separate messages, in the list
``metadataSets``. The ``format`` beside a value states its type, as the metadata structure does too.
"""

from __future__ import annotations

from typing import Any

import msgspec

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, parts_of
from kafka_replica.sdmx.formats.json_shared.values import reference
from kafka_replica.sdmx.formats.sdmx_json.references import fail
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import Wire, WireAnnotation, WireMaintainable
from kafka_replica.sdmx.model import MetadataSet, ReportedAttribute
from kafka_replica.sdmx.urn import Urn


class WireReported(Wire, gc=False):
    """A reported attribute."""

    id: str | None = None
    annotations: list[WireAnnotation] | None = None
    value: Any = None
    attributes: list[WireReported] | None = None


class WireMetadataSet(WireMaintainable, gc=False):
    """A metadata set."""

    action: str | None = None
    metadataflow: str | None = None
    metadata_provision_agreement: str | None = None
    targets: list[str] | None = None
    attributes: list[WireReported] | None = None
    reporting_begin: str | None = None
    reporting_end: str | None = None
    publication_year: str | None = None
    publication_period: str | None = None


def metadata_set(urn: Urn, wire: WireMetadataSet, context: Context) -> MetadataSet:
    """Build a MetadataSet."""
    is_stub = bool(wire.is_external_reference) and not wire.attributes
    return MetadataSet(
        urn=urn,
        metadataflow=reference(wire.metadataflow, urn),
        metadata_provision_agreement=reference(wire.metadata_provision_agreement, urn),
        targets=parts_of(urn, wire.targets or (), is_stub=is_stub),
        attributes=parts_of(urn, [_reported(urn, one, context) for one in wire.attributes or ()], is_stub=is_stub),
        action=wire.action,
        reporting_begin_date=wire.reporting_begin,
        reporting_end_date=wire.reporting_end,
        publication_year=wire.publication_year,
        publication_period=wire.publication_period,
        **context.maintained(wire),
    )


def _reported(urn: Urn, wire: WireReported, context: Context) -> ReportedAttribute:
    if wire.id is None:
        fail(urn, "an attribute that it reports has no id")
    values, texts = reported_value(wire.value)
    return ReportedAttribute(
        id=wire.id,
        values=values,
        texts=texts,
        attributes=tuple(_reported(urn, one, context) for one in wire.attributes or ()),
        annotations=tuple(context.annotation(one) for one in wire.annotations or ()),
    )


def reported_value(value: Any) -> tuple[tuple[str, ...], InternationalString]:
    """Return the values, and the text by language, in a JSON value of a reported attribute, as in SDMX-ML."""
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return (), InternationalString(value)
    if isinstance(value, list):
        return tuple(_as_text(one) for one in value), NO_TEXT
    return () if value is None else (_as_text(value),), NO_TEXT


def _as_text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()
