"""Provision agreements, and registrations of what was provided.

Source: SDMX 3.1 Section 2, "Data Provisioning"; SDMXStructureProvisionAgreement.xsd, SDMXRegistryBase.xsd.
"""

from __future__ import annotations

from kafka_replica.sdmx.base import Maintainable
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.value_object import ValueObject


class ProvisionAgreement(Maintainable, frozen=True, gc=False, kw_only=True):
    """Who provides data for which flow; both None in a stub. A metadataflow is possible in 2.1."""

    structure_usage: Urn | None = None
    data_provider: Urn | None = None

    @property
    def dataflow(self) -> Urn | None:
        """The dataflow, if it is one."""
        usage = self.structure_usage
        return usage if usage is not None and usage.cls == "Dataflow" else None


class MetadataProvisionAgreement(Maintainable, frozen=True, gc=False, kw_only=True):
    """Who provides metadata for which flow (3.x); ``targets`` are URNs that may hold wildcards, as written."""

    metadataflow: Urn | None = None
    metadata_provider: Urn | None = None
    targets: tuple[str, ...] = ()


class QueryableDataSource(ValueObject, frozen=True, gc=False, kw_only=True):
    """A web service that answers queries."""

    data_url: str
    wsdl_url: str | None = None
    wadl_url: str | None = None
    is_rest: bool = False
    is_web_service: bool = False


class Registration(Maintainable, frozen=True, gc=False, kw_only=True):
    """Data or metadata that was provided, and where it is.

    ``constraints`` are those that a registry names beside it in the answer to a query: what is in the data.
    """

    provision_agreement: Urn | None = None
    simple_data_sources: tuple[str, ...] = ()
    queryable_data_sources: tuple[QueryableDataSource, ...] = ()
    last_updated: str | None = None
    index_time_series: bool = False
    index_data_set: bool = False
    index_attributes: bool = False
    index_reporting_period: bool = False
    constraints: tuple[Urn, ...] = ()
