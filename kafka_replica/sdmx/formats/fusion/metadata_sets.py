"""Metadata sets of Fusion-JSON, which are read but not written.

Metadata sets come in separate messages: in an object ``data``, as in SDMX-JSON, in the list ``metadatasets``.
"""

from __future__ import annotations

from functools import partial
from typing import Final

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.containers import InternationalString, parts_of
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.values import (
    WireIdentifiable,
    WireMaintainable,
    read_identified,
    read_maintained,
)
from kafka_replica.sdmx.formats.json_shared.metadata_sets import ReportedValue, read_reported_value
from kafka_replica.sdmx.formats.json_shared.parsing import scalar_text
from kafka_replica.sdmx.formats.json_shared.values import read_reference
from kafka_replica.sdmx.model import MetadataSet, ReportedAttribute
from kafka_replica.sdmx.urns.urn import Urn

_EMPTY: Final = msgspec.Raw(b'""')
_OBJECTS: Final = json_decoder(list[dict[str, msgspec.Raw]])


class WireReportedAttribute(WireIdentifiable, gc=False):
    """A reported attribute; an attribute with several values is repeated."""

    value: msgspec.Raw = msgspec.Raw()
    attributes: list[WireReportedAttribute] | None = None


class WireMetadataSet(WireMaintainable, gc=False):
    """A metadata set; ``reports`` are those of SDMX-JSON 1.0, which Fusion-JSON does not have."""

    metadataflow: str | None = None
    metadata_provision_agreement: str | None = None
    targets: list[str] | None = None
    attributes: list[WireReportedAttribute] | None = None
    reports: list[msgspec.Raw] | None = None


def read_metadata_set(urn: Urn, wire: WireMetadataSet) -> MetadataSet:
    """Build a MetadataSet. Raises MessageError."""
    if wire.reports:
        raise MessageError(f"reading {urn}: metadata sets of Fusion-JSON have no reports; publish it as SDMX-JSON")
    base = read_maintained(wire)
    is_stub = base["is_external_reference"] and not wire.attributes
    return MetadataSet(
        urn=urn,
        metadataflow=read_reference(wire.metadataflow, urn),
        metadata_provision_agreement=read_reference(wire.metadata_provision_agreement, urn),
        targets=parts_of(urn, wire.targets or (), is_stub=is_stub),
        attributes=parts_of(
            urn, [_read_reported(urn, attribute) for attribute in wire.attributes or ()], is_stub=is_stub
        ),
        **base,
    )


def _read_reported(urn: Urn, wire: WireReportedAttribute) -> ReportedAttribute:
    if wire.id is None:
        raise MessageError(f"reading {urn}: a reported attribute has no id")
    values, texts, is_literal = _read_value(wire.value)
    return ReportedAttribute(
        id=wire.id,
        values=values,
        is_literal=is_literal,
        texts=texts,
        attributes=tuple(_read_reported(urn, attribute) for attribute in wire.attributes or ()),
        annotations=read_identified(wire).get("annotations", ()),
    )


def _read_value(written: msgspec.Raw) -> ReportedValue:
    found = read_reported_value(written)
    try:
        listed = _OBJECTS.decode(written) if found.values else []
    except msgspec.DecodeError:
        return found
    if not listed or not all("locale" in text for text in listed):
        return found
    # Texts are listed by language everywhere in Fusion-JSON.
    read = partial(scalar_text, what="a text of a reported attribute")
    return ReportedValue(
        texts=InternationalString([(read(text["locale"]), read(text.get("value", _EMPTY))) for text in listed])
    )
