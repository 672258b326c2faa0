"""Provision agreements of SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.formats.json_shared.values import reference
from kafka_replica.sdmx.formats.sdmx_json.references import parts
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import WireMaintainable
from kafka_replica.sdmx.model import MetadataProvisionAgreement, ProvisionAgreement
from kafka_replica.sdmx.urn import Urn


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


def provision_agreement(urn: Urn, wire: WireProvisionAgreement, context: Context) -> ProvisionAgreement:
    """Build a ProvisionAgreement."""
    return ProvisionAgreement(
        urn=urn,
        structure_usage=reference(wire.dataflow or wire.structure_usage, urn),
        data_provider=reference(wire.data_provider, urn),
        **context.maintained(wire),
    )


def metadata_provision_agreement(
    urn: Urn, wire: WireMetadataProvisionAgreement, context: Context
) -> MetadataProvisionAgreement:
    """Build a MetadataProvisionAgreement."""
    return MetadataProvisionAgreement(
        urn=urn,
        metadataflow=reference(wire.metadataflow, urn),
        metadata_provider=reference(wire.metadata_provider, urn),
        targets=parts(urn, wire, wire.targets or ()),
        **context.maintained(wire),
    )
