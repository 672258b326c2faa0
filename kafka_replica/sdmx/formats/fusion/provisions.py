"""Provision agreements of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import parts_of, stored_parts
from kafka_replica.sdmx.formats.fusion.values import WireMaintainable, read_maintained, write_maintained
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference, write_urn
from kafka_replica.sdmx.model import MetadataProvisionAgreement, ProvisionAgreement
from kafka_replica.sdmx.urns.urn import Urn


class WireProvision(WireMaintainable, gc=False):
    """A provision agreement; registries write the key of the provider in lower case."""

    structure_usage: str | None = None
    dataprovider_ref: str | None = None


class WireMetadataProvision(WireMaintainable, gc=False):
    """A provision agreement for metadata."""

    metadataflow_ref: str | None = None
    metadataprovider_ref: str | None = None
    targets: list[str] | None = None


def read_provision_agreement(urn: Urn, wire: WireProvision) -> ProvisionAgreement:
    """Build a ProvisionAgreement."""
    return ProvisionAgreement(
        urn=urn,
        structure_usage=read_reference(wire.structure_usage, urn),
        data_provider=read_reference(wire.dataprovider_ref, urn),
        **read_maintained(wire),
    )


def read_metadata_provision_agreement(urn: Urn, wire: WireMetadataProvision) -> MetadataProvisionAgreement:
    """Build a MetadataProvisionAgreement."""
    base = read_maintained(wire)
    flow = read_reference(wire.metadataflow_ref, urn)
    return MetadataProvisionAgreement(
        urn=urn,
        metadataflow=flow,
        metadata_provider=read_reference(wire.metadataprovider_ref, urn),
        targets=parts_of(urn, wire.targets or (), is_stub=base["is_external_reference"] and flow is None),
        **base,
    )


def write_provision_agreement(provision_agreement: ProvisionAgreement) -> Json:
    """Write a provision agreement."""
    return obj(
        write_maintained(provision_agreement),
        structureUsage=write_urn(provision_agreement.structure_usage),
        dataproviderRef=write_urn(provision_agreement.data_provider),
    )


def write_metadata_provision_agreement(metadata_provision_agreement: MetadataProvisionAgreement) -> Json:
    """Write a provision agreement for metadata."""
    return obj(
        write_maintained(metadata_provision_agreement),
        metadataflowRef=write_urn(metadata_provision_agreement.metadataflow),
        metadataproviderRef=write_urn(metadata_provision_agreement.metadata_provider),
        targets=stored_parts(metadata_provision_agreement.targets),
    )
