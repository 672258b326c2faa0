"""Organisation schemes, category schemes, reporting taxonomies and provisions as SDMX-JSON."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.model import (
    Categorisation,
    Category,
    CategoryScheme,
    Contact,
    MetadataProvisionAgreement,
    Organisation,
    OrganisationScheme,
    OrganisationUnit,
    ProvisionAgreement,
    ReportingCategory,
    ReportingTaxonomy,
)
from kafka_replica.sdmx.urn import Urn
from kafka_replica.sdmx.writers.json_parts import Json, obj, parts, urn, urns
from kafka_replica.sdmx.writers.sdmx_json.items import items_of, local
from kafka_replica.sdmx.writers.sdmx_json.values import Edition, maintained, named, texts

_ORGANISATIONS: Final = {
    "AgencyScheme": "agencies",
    "DataProviderScheme": "dataProviders",
    "DataConsumerScheme": "dataConsumers",
    "MetadataProviderScheme": "metadataProviders",
    "OrganisationUnitScheme": "organisationUnits",
}


def organisation_scheme(one: OrganisationScheme, edition: Edition) -> Json:
    """Write a scheme of any kind of organisation."""
    found = [_organisation(one.urn, each, edition) for each in items_of(one.organisations)]
    return obj(maintained(one, edition), {_ORGANISATIONS[one.urn.cls]: found})


def _organisation(scheme: Urn, one: Organisation, edition: Edition) -> Json:
    parent = local(scheme, one.urn.cls, one.parent, edition)
    if edition.is_21 and not isinstance(one, OrganisationUnit):
        parent = None  # the schema allows parents only for units; the comparison after reading back reports the loss
    return obj(named(one, edition), contacts=[_contact(each, edition) for each in one.contacts], parent=parent)


def _contact(one: Contact, edition: Edition) -> Json:
    edition.since_2(one.id is not None, "the id of a contact")
    return obj(
        texts("name", "names", one.names),
        texts("department", "departments", one.departments),
        texts("role", "roles", one.roles),
        id=one.id,
        telephones=list(one.telephones),
        faxes=list(one.faxes),
        x400s=list(one.x400s),
        uris=list(one.uris),
        emails=list(one.emails),
    )


def category_scheme(one: CategoryScheme, edition: Edition) -> Json:
    """Write a category scheme."""
    return obj(maintained(one, edition), categories=[_category(each, edition) for each in items_of(one.categories)])


def _category(one: Category, edition: Edition) -> Json:
    return obj(named(one, edition), categories=[_category(each, edition) for each in one.categories.values()])


def categorisation(one: Categorisation, edition: Edition) -> Json:
    """Write a categorisation."""
    return obj(maintained(one, edition), source=urn(one.source), target=urn(one.target))


def reporting_taxonomy(one: ReportingTaxonomy, edition: Edition) -> Json:
    """Write a reporting taxonomy."""
    found = [_reporting_category(each, edition) for each in items_of(one.reporting_categories)]
    return obj(maintained(one, edition), reportingCategories=found)


def _reporting_category(one: ReportingCategory, edition: Edition) -> Json:
    return obj(
        named(one, edition),
        reportingCategories=[_reporting_category(each, edition) for each in one.reporting_categories.values()],
        structuralMetadata=urns(one.structural_metadata),
        provisioningMetadata=urns(one.provisioning_metadata),
    )


def provision_agreement(one: ProvisionAgreement, edition: Edition) -> Json:
    """Write a provision agreement, with structureUsage (1.0) or dataflow (2.x)."""
    is_metadata = one.structure_usage is not None and one.structure_usage.cls != "Dataflow"
    edition.until_2(is_metadata, "a provision agreement for a metadataflow")
    usage = {"structureUsage" if edition.is_10 else "dataflow": urn(one.structure_usage)}
    return obj(maintained(one, edition), usage, dataProvider=urn(one.data_provider))


def metadata_provision_agreement(one: MetadataProvisionAgreement, edition: Edition) -> Json:
    """Write a provision agreement for metadata (2.x)."""
    return obj(
        maintained(one, edition),
        metadataflow=urn(one.metadataflow),
        metadataProvider=urn(one.metadata_provider),
        targets=parts(one.targets),
    )
