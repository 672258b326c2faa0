"""Registrations of the data and metadata that are provided.

Source: SDMX 3.1 Section 2, "Data Provisioning"; SDMXRegistryBase.xsd.
"""

from __future__ import annotations

from kafka_replica.sdmx.model.base import Maintainable
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class QueryableDataSource(ValueObject, frozen=True, gc=False, kw_only=True):
    """A web service that answers queries."""

    data_url: str
    wsdl_url: str | None = None
    wadl_url: str | None = None
    is_rest: bool = False
    is_web_service: bool = False


class Registration(Maintainable, frozen=True, gc=False, kw_only=True):
    """The registration of data or metadata, with its location.

    ``constraints`` are those that a registry returns with the registration in a query result: the content of the data.
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
