"""Provision agreements of SDMX-ML, and data sources."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.containers import parts_of
from kafka_replica.sdmx.formats.ml.reading.child_elements import known, ref, text, texts
from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import Item, boolean
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, parts
from kafka_replica.sdmx.formats.ml.writing.xml import el, flag, leaf
from kafka_replica.sdmx.model import MetadataProvisionAgreement, ProvisionAgreement, QueryableDataSource

# Reading


def read_provision_agreement(item: Item) -> ProvisionAgreement:
    """Read a <ProvisionAgreement>, with a StructureUsage (2.1) or a Dataflow (3.x)."""
    urn, base, rest, names = item.parts
    return ProvisionAgreement(
        urn=urn,
        structure_usage=ref(rest, "StructureUsage", names, "Dataflow") or ref(rest, "Dataflow", names),
        data_provider=ref(rest, "DataProvider", names),
        **base,
    )


def read_metadata_provision_agreement(item: Item) -> MetadataProvisionAgreement:
    """Read a <MetadataProvisionAgreement>."""
    urn, base, rest, names = item.parts
    return MetadataProvisionAgreement(
        urn=urn,
        metadataflow=ref(rest, "Metadataflow", names),
        metadata_provider=ref(rest, "MetadataProvider", names),
        targets=parts_of(urn, texts(rest, "Target"), is_stub=base["is_external_reference"] and not rest),
        **base,
    )


def read_queryable_data_source(element: etree._Element, names: Names) -> QueryableDataSource:
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


# Writing


def write_provision_agreement(provision_agreement: ProvisionAgreement, edition: Edition) -> str:
    """Write a <ProvisionAgreement>, with a StructureUsage (2.1) or a Dataflow (3.x)."""
    usage = "str:StructureUsage" if edition.is_21 else "str:Dataflow"
    is_metadata = (
        provision_agreement.structure_usage is not None and provision_agreement.structure_usage.cls != "Dataflow"
    )
    edition.until_3(is_metadata, "a provision agreement for a metadataflow")
    both = [
        edition.ref(usage, provision_agreement.structure_usage),
        edition.ref("str:DataProvider", provision_agreement.data_provider),
    ]
    return artefact("str:ProvisionAgreement", provision_agreement, edition, both)


def write_metadata_provision_agreement(
    metadata_provision_agreement: MetadataProvisionAgreement, edition: Edition
) -> str:
    """Write a <MetadataProvisionAgreement> (3.x)."""
    content = [
        edition.ref("str:Metadataflow", metadata_provision_agreement.metadataflow),
        edition.ref("str:MetadataProvider", metadata_provision_agreement.metadata_provider),
        write_targets("str:Target", metadata_provision_agreement.targets),
    ]
    return artefact("str:MetadataProvisionAgreement", metadata_provision_agreement, edition, content)


def write_targets(tag: str, found: tuple[str, ...]) -> str:
    """Write texts that may be URNs with wildcards; nothing for a stub."""
    return "".join([leaf(tag, part) for part in parts(found)])


def write_queryable_data_source(tag: str, queryable_data_source: QueryableDataSource) -> str:
    """Write a data source that can be queried."""
    return el(
        tag,
        leaf("com:DataURL", queryable_data_source.data_url),
        leaf("com:WSDLURL", queryable_data_source.wsdl_url),
        leaf("com:WADLURL", queryable_data_source.wadl_url),
        isRESTDatasource=flag(queryable_data_source.is_rest),
        isWebServiceDatasource=flag(queryable_data_source.is_web_service),
    )
