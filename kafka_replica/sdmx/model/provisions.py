"""Provision agreements.

Source: SDMX 3.1 Section 2, "Data Provisioning"; SDMXStructureProvisionAgreement.xsd.
"""

from __future__ import annotations

from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.sdmx.urns.urn import Urn


class ProvisionAgreement(Maintainable, frozen=True, gc=False, kw_only=True):
    """An agreement between a data provider and a flow; both are None in a stub. A metadataflow is possible in 2.1."""

    structure_usage: Urn | None = None
    data_provider: Urn | None = None

    @property
    def dataflow(self) -> Urn | None:
        """The flow, if it is a dataflow."""
        usage = self.structure_usage
        return usage if usage is not None and usage.cls == "Dataflow" else None


class MetadataProvisionAgreement(Maintainable, frozen=True, gc=False, kw_only=True):
    """An agreement between a provider of metadata and a flow (3.x); ``targets`` are URNs, perhaps with wildcards."""

    metadataflow: Urn | None = None
    metadata_provider: Urn | None = None
    targets: tuple[str, ...] = ()
