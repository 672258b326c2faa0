"""Metadata structures and metadataflows of Fusion-JSON."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.containers import Items, items_of, parts_of, stored_items, stored_parts
from kafka_replica.sdmx.formats.fusion.values import (
    WireMaintainable,
    WireNameable,
    WireRepresentation,
    read_identified,
    read_maintained,
    read_representation,
    write_identified,
    write_maintained,
    write_representation,
)
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, occurs, read_reference, true, write_urn
from kafka_replica.sdmx.model import MetadataAttribute, Metadataflow, MetadataStructure
from kafka_replica.sdmx.model.representation import Occurs
from kafka_replica.sdmx.urns.urn import Urn

_UNBOUNDED: Final = (None, -1, "-1")


class WireMetadataAttribute(WireNameable, gc=False):
    """A metadata attribute; without maxOccurs, or with -1, it is unbounded."""

    concept: str | None = None
    representation: WireRepresentation | None = None
    min_occurs: int | None = None
    max_occurs: int | str | None = None
    presentational: bool | None = None
    metadata_attributes: list[WireMetadataAttribute] | None = None


class WireMetadataStructure(WireMaintainable, gc=False):
    """A metadata structure."""

    metadata_attributes: list[WireMetadataAttribute] | None = None


class WireMetadataflow(WireMaintainable, gc=False):
    """A metadataflow."""

    metadata_structure_ref: str | None = None
    targets: list[str] | None = None


def read_metadata_structure(urn: Urn, wire: WireMetadataStructure) -> MetadataStructure:
    """Build a MetadataStructure."""
    base = read_maintained(wire)
    found = read_items(urn, "MetadataAttribute", wire.metadata_attributes, _read_attribute)
    stub = base["is_external_reference"] and not found
    return MetadataStructure(
        urn=urn,
        metadata_attributes=items_of(urn, found, is_stub=stub),
        metadata_targets=items_of(urn, {}, is_stub=stub),
        report_structures=items_of(urn, {}, is_stub=stub),
        **base,
    )


def _read_attribute(own: Urn, wire: WireMetadataAttribute) -> MetadataAttribute:
    most: Occurs | None = "unbounded" if wire.max_occurs in _UNBOUNDED else occurs(wire.max_occurs, own)
    below = read_items(own, "MetadataAttribute", wire.metadata_attributes, _read_attribute, own.item)
    return MetadataAttribute(
        urn=own,
        concept=read_reference(wire.concept, own),
        representation=read_representation(wire.representation, own),
        min_occurs=wire.min_occurs,
        max_occurs=most,
        is_presentational=bool(wire.presentational),
        metadata_attributes=Items(below),
        **read_identified(wire),
    )


def read_metadataflow(urn: Urn, wire: WireMetadataflow) -> Metadataflow:
    """Build a Metadataflow."""
    base = read_maintained(wire)
    structure = read_reference(wire.metadata_structure_ref, urn)
    stub = base["is_external_reference"] and structure is None
    return Metadataflow(
        urn=urn, structure_reference=structure, targets=parts_of(urn, wire.targets or (), is_stub=stub), **base
    )


def write_metadataflow(metadataflow: Metadataflow) -> Json:
    """Write a metadataflow."""
    return obj(
        write_maintained(metadataflow),
        metadataStructureRef=write_urn(metadataflow.structure_reference),
        targets=stored_parts(metadataflow.targets),
    )


def write_metadata_structure(metadata_structure: MetadataStructure) -> Json:
    """Write a metadata structure."""
    found = [_write_metadata_attribute(each) for each in stored_items(metadata_structure.metadata_attributes)]
    return obj(write_maintained(metadata_structure), metadataAttributes=found)


def _write_metadata_attribute(metadata_attribute: MetadataAttribute) -> Json:
    # A missing maxOccurs is unbounded there.
    most = (
        None
        if metadata_attribute.max_occurs == "unbounded"
        else 1
        if metadata_attribute.max_occurs is None
        else metadata_attribute.max_occurs
    )
    return obj(
        write_identified(metadata_attribute),
        concept=write_urn(metadata_attribute.concept),
        representation=write_representation(metadata_attribute.representation),
        minOccurs=metadata_attribute.min_occurs,
        maxOccurs=most,
        presentational=true(metadata_attribute.is_presentational),
        metadataAttributes=[
            _write_metadata_attribute(each) for each in metadata_attribute.metadata_attributes.values()
        ],
    )
