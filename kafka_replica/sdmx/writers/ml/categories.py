"""Category schemes, categorisations, reporting taxonomies and provision agreements as SDMX-ML."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    Categorisation,
    Category,
    CategoryScheme,
    MetadataProvisionAgreement,
    ProvisionAgreement,
    ReportingCategory,
    ReportingTaxonomy,
)
from kafka_replica.sdmx.writers.ml.edition import Edition
from kafka_replica.sdmx.writers.ml.values import artefact, item, parts
from kafka_replica.sdmx.writers.ml.xml import leaf


def category_scheme(one: CategoryScheme, edition: Edition) -> str:
    """Write a <CategoryScheme>."""
    found = [] if one.categories.is_stub else one.categories.values()
    return artefact("str:CategoryScheme", one, edition, [_category(each, edition) for each in found])


def _category(one: Category, edition: Edition) -> str:
    return item("str:Category", one, edition, *[_category(each, edition) for each in one.categories.values()])


def categorisation(one: Categorisation, edition: Edition) -> str:
    """Write a <Categorisation>."""
    ends = [edition.ref("str:Source", one.source), edition.ref("str:Target", one.target)]
    return artefact("str:Categorisation", one, edition, ends)


def reporting_taxonomy(one: ReportingTaxonomy, edition: Edition) -> str:
    """Write a <ReportingTaxonomy>."""
    found = [] if one.reporting_categories.is_stub else one.reporting_categories.values()
    return artefact("str:ReportingTaxonomy", one, edition, [_reporting_category(each, edition) for each in found])


def _reporting_category(one: ReportingCategory, edition: Edition) -> str:
    return item(
        "str:ReportingCategory",
        one,
        edition,
        *[_reporting_category(each, edition) for each in one.reporting_categories.values()],
        edition.refs("str:StructuralMetadata", one.structural_metadata),
        edition.refs("str:ProvisioningMetadata", one.provisioning_metadata),
    )


def provision_agreement(one: ProvisionAgreement, edition: Edition) -> str:
    """Write a <ProvisionAgreement>, with a StructureUsage (2.1) or a Dataflow (3.x)."""
    usage = "str:StructureUsage" if edition.is_21 else "str:Dataflow"
    is_metadata = one.structure_usage is not None and one.structure_usage.cls != "Dataflow"
    edition.until_3(is_metadata, "a provision agreement for a metadataflow")
    both = [edition.ref(usage, one.structure_usage), edition.ref("str:DataProvider", one.data_provider)]
    return artefact("str:ProvisionAgreement", one, edition, both)


def metadata_provision_agreement(one: MetadataProvisionAgreement, edition: Edition) -> str:
    """Write a <MetadataProvisionAgreement> (3.x)."""
    content = [
        edition.ref("str:Metadataflow", one.metadataflow),
        edition.ref("str:MetadataProvider", one.metadata_provider),
        targets("str:Target", one.targets),
    ]
    return artefact("str:MetadataProvisionAgreement", one, edition, content)


def targets(tag: str, found: tuple[str, ...]) -> str:
    """Write texts that may be URNs with wildcards; nothing for a stub."""
    return "".join([leaf(tag, one) for one in parts(found)])
