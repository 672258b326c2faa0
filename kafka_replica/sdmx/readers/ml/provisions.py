"""Provision agreements of SDMX-ML, and data sources."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.model import MetadataProvisionAgreement, ProvisionAgreement, QueryableDataSource
from kafka_replica.sdmx.readers.ml.parts import known, ref, text, texts
from kafka_replica.sdmx.readers.ml.tree import Names
from kafka_replica.sdmx.readers.ml.values import Item, boolean


def provision_agreement(item: Item) -> ProvisionAgreement:
    """Read a <ProvisionAgreement>, with a StructureUsage (2.1) or a Dataflow (3.x)."""
    urn, base, rest, names = item.parts
    return ProvisionAgreement(
        urn=urn,
        structure_usage=ref(rest, "StructureUsage", names, "Dataflow") or ref(rest, "Dataflow", names),
        data_provider=ref(rest, "DataProvider", names),
        **base,
    )


def metadata_provision_agreement(item: Item) -> MetadataProvisionAgreement:
    """Read a <MetadataProvisionAgreement>."""
    urn, base, rest, names = item.parts
    return MetadataProvisionAgreement(
        urn=urn,
        metadataflow=ref(rest, "Metadataflow", names),
        metadata_provider=ref(rest, "MetadataProvider", names),
        targets=parts_of(urn, texts(rest, "Target"), is_stub=base["is_external_reference"] and not rest),
        **base,
    )


def queryable_data_source(element: etree._Element, names: Names) -> QueryableDataSource:
    """Read a <QueryableDataSource>."""
    rest = known(element, names)
    wsdl, wadl = text(rest, "WSDLURL"), text(rest, "WADLURL")
    return QueryableDataSource(
        data_url=(text(rest, "DataURL") or "").strip(),
        wsdl_url=wsdl.strip() if wsdl else None,
        wadl_url=wadl.strip() if wadl else None,
        is_rest=boolean(element, "isRESTDatasource") or False,
        is_web_service=boolean(element, "isWebServiceDatasource") or False,
    )
