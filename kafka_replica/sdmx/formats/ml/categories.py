"""Category schemes, categorisations and reporting taxonomies of SDMX-ML."""

from __future__ import annotations

from kafka_replica.sdmx.formats.ml.reading.child_elements import nested, pick, ref, refs, scheme_items
from kafka_replica.sdmx.formats.ml.reading.values import Item
from kafka_replica.sdmx.formats.ml.writing.edition import Edition
from kafka_replica.sdmx.formats.ml.writing.values import artefact, item
from kafka_replica.sdmx.model import Categorisation, Category, CategoryScheme, ReportingCategory, ReportingTaxonomy

# Reading


def read_category_scheme(item: Item) -> CategoryScheme:
    """Read a <CategoryScheme>."""
    urn, base, rest, names = item.parts
    elements = pick(rest, "Category")
    return CategoryScheme(
        urn=urn, categories=scheme_items(urn, base, "Category", elements, names, _read_category), **base
    )


def _read_category(item: Item) -> Category:
    return Category(urn=item.urn, categories=nested(item, "Category", _read_category), **item.arguments)


def read_categorisation(item: Item) -> Categorisation:
    """Read a <Categorisation>."""
    urn, base, rest, names = item.parts
    return Categorisation(
        urn=urn, source=ref(rest, "Source", names, "Dataflow"), target=ref(rest, "Target", names, "Category"), **base
    )


def read_reporting_taxonomy(item: Item) -> ReportingTaxonomy:
    """Read a <ReportingTaxonomy>."""
    urn, base, rest, names = item.parts
    elements = pick(rest, "ReportingCategory")
    return ReportingTaxonomy(
        urn=urn,
        reporting_categories=scheme_items(urn, base, "ReportingCategory", elements, names, _read_reporting_category),
        **base,
    )


def _read_reporting_category(item: Item) -> ReportingCategory:
    return ReportingCategory(
        urn=item.urn,
        reporting_categories=nested(item, "ReportingCategory", _read_reporting_category),
        structural_metadata=refs(item.rest, "StructuralMetadata", item.names, "DataStructure"),
        provisioning_metadata=refs(item.rest, "ProvisioningMetadata", item.names, "Dataflow"),
        **item.arguments,
    )


# Writing


def write_category_scheme(category_scheme: CategoryScheme, edition: Edition) -> str:
    """Write a <CategoryScheme>."""
    found = [] if category_scheme.categories.is_stub else category_scheme.categories.values()
    return artefact("str:CategoryScheme", category_scheme, edition, [_write_category(each, edition) for each in found])


def _write_category(category: Category, edition: Edition) -> str:
    return item(
        "str:Category", category, edition, *[_write_category(each, edition) for each in category.categories.values()]
    )


def write_categorisation(categorisation: Categorisation, edition: Edition) -> str:
    """Write a <Categorisation>."""
    ends = [edition.ref("str:Source", categorisation.source), edition.ref("str:Target", categorisation.target)]
    return artefact("str:Categorisation", categorisation, edition, ends)


def write_reporting_taxonomy(reporting_taxonomy: ReportingTaxonomy, edition: Edition) -> str:
    """Write a <ReportingTaxonomy>."""
    found = [] if reporting_taxonomy.reporting_categories.is_stub else reporting_taxonomy.reporting_categories.values()
    return artefact(
        "str:ReportingTaxonomy",
        reporting_taxonomy,
        edition,
        [_write_reporting_category(each, edition) for each in found],
    )


def _write_reporting_category(reporting_category: ReportingCategory, edition: Edition) -> str:
    return item(
        "str:ReportingCategory",
        reporting_category,
        edition,
        *[_write_reporting_category(each, edition) for each in reporting_category.reporting_categories.values()],
        edition.refs("str:StructuralMetadata", reporting_category.structural_metadata),
        edition.refs("str:ProvisioningMetadata", reporting_category.provisioning_metadata),
    )
