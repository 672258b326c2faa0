"""Metadata sets of Fusion-JSON: their structs, and their conversion to the model.

Metadata sets come in separate messages: in an object ``data``, as in SDMX-JSON, in the list ``metadatasets``.
"""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import InternationalString, parts_of
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.fusion.common import identified, maintained
from kafka_replica.sdmx.formats.fusion.wire import WireIdentifiable, WireMaintainable
from kafka_replica.sdmx.formats.json_shared.values import reference
from kafka_replica.sdmx.formats.sdmx_json.metadata_sets import reported_value
from kafka_replica.sdmx.model import MetadataSet, ReportedAttribute
from kafka_replica.sdmx.urn import Urn


class WireReported(WireIdentifiable, gc=False):
    """A reported attribute; an attribute with several values is repeated."""

    value: Any = None
    attributes: list[WireReported] | None = None


class WireMetadataSet(WireMaintainable, gc=False):
    """A metadata set."""

    metadataflow: str | None = None
    metadata_provision_agreement: str | None = None
    targets: list[str] | None = None
    attributes: list[WireReported] | None = None


def metadata_set(urn: Urn, wire: WireMetadataSet) -> MetadataSet:
    """Build a MetadataSet."""
    base = maintained(wire)
    is_stub = base["is_external_reference"] and not wire.attributes
    return MetadataSet(
        urn=urn,
        metadataflow=reference(wire.metadataflow, urn),
        metadata_provision_agreement=reference(wire.metadata_provision_agreement, urn),
        targets=parts_of(urn, wire.targets or (), is_stub=is_stub),
        attributes=parts_of(urn, [_reported(urn, one) for one in wire.attributes or ()], is_stub=is_stub),
        **base,
    )


def _reported(urn: Urn, wire: WireReported) -> ReportedAttribute:
    if wire.id is None:
        raise MessageError(f"reading {urn}: an attribute that it reports has no id")
    value = wire.value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "locale" in one for one in value):
        # Texts are listed by language everywhere in Fusion-JSON.
        texts = InternationalString([(str(one["locale"]), str(one.get("value", ""))) for one in value])
        values: tuple[str, ...] = ()
    else:
        values, texts = reported_value(value)
    return ReportedAttribute(
        id=wire.id,
        values=values,
        texts=texts,
        attributes=tuple(_reported(urn, one) for one in wire.attributes or ()),
        annotations=identified(wire).get("annotations", ()),
    )
