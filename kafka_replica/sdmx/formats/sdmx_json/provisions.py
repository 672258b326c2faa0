"""Provision agreements of SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import stored_parts
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference, write_urn
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import parts
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import WireMaintainable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_maintained
from kafka_replica.sdmx.model import MetadataProvisionAgreement, ProvisionAgreement
from kafka_replica.sdmx.urns.urn import Urn


class WireProvisionAgreement(WireMaintainable, gc=False):
    """A provision agreement; ``structureUsage`` is 1.0."""

    structure_usage: str | None = None
    dataflow: str | None = None
    data_provider: str | None = None


class WireMetadataProvisionAgreement(WireMaintainable, gc=False):
    """A provision agreement for metadata."""

    metadataflow: str | None = None
    metadata_provider: str | None = None
    targets: list[str] | None = None


def read_provision_agreement(urn: Urn, wire: WireProvisionAgreement, context: Context) -> ProvisionAgreement:
    """Build a ProvisionAgreement."""
    return ProvisionAgreement(
        urn=urn,
        structure_usage=read_reference(wire.dataflow or wire.structure_usage, urn),
        data_provider=read_reference(wire.data_provider, urn),
        **context.maintained(wire),
    )


def read_metadata_provision_agreement(
    urn: Urn, wire: WireMetadataProvisionAgreement, context: Context
) -> MetadataProvisionAgreement:
    """Build a MetadataProvisionAgreement."""
    return MetadataProvisionAgreement(
        urn=urn,
        metadataflow=read_reference(wire.metadataflow, urn),
        metadata_provider=read_reference(wire.metadata_provider, urn),
        targets=parts(urn, wire, wire.targets or ()),
        **context.maintained(wire),
    )


def write_provision_agreement(provision_agreement: ProvisionAgreement, edition: Edition) -> Json:
    """Write a provision agreement, with structureUsage (1.0) or dataflow (2.x)."""
    is_metadata = (
        provision_agreement.structure_usage is not None and provision_agreement.structure_usage.cls != "Dataflow"
    )
    edition.until_2(is_metadata, "a provision agreement for a metadataflow")
    usage = {"structureUsage" if edition.is_10 else "dataflow": write_urn(provision_agreement.structure_usage)}
    return obj(
        write_maintained(provision_agreement, edition), usage, dataProvider=write_urn(provision_agreement.data_provider)
    )


def write_metadata_provision_agreement(
    metadata_provision_agreement: MetadataProvisionAgreement, edition: Edition
) -> Json:
    """Write a provision agreement for metadata (2.x)."""
    return obj(
        write_maintained(metadata_provision_agreement, edition),
        metadataflow=write_urn(metadata_provision_agreement.metadataflow),
        metadataProvider=write_urn(metadata_provision_agreement.metadata_provider),
        targets=stored_parts(metadata_provision_agreement.targets),
    )
