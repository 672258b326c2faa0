"""Category schemes, categorisations and reporting taxonomies of SDMX-ML."""

from __future__ import annotations

from kafka_replica.sdmx.formats.ml.reading.parts import nested, pick, ref, refs, scheme_items
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


def write_category_scheme(one: CategoryScheme, edition: Edition) -> str:
    """Write a <CategoryScheme>."""
    found = [] if one.categories.is_stub else one.categories.values()
    return artefact("str:CategoryScheme", one, edition, [_write_category(each, edition) for each in found])


def _write_category(one: Category, edition: Edition) -> str:
    return item("str:Category", one, edition, *[_write_category(each, edition) for each in one.categories.values()])


def write_categorisation(one: Categorisation, edition: Edition) -> str:
    """Write a <Categorisation>."""
    ends = [edition.ref("str:Source", one.source), edition.ref("str:Target", one.target)]
    return artefact("str:Categorisation", one, edition, ends)


def write_reporting_taxonomy(one: ReportingTaxonomy, edition: Edition) -> str:
    """Write a <ReportingTaxonomy>."""
    found = [] if one.reporting_categories.is_stub else one.reporting_categories.values()
    return artefact("str:ReportingTaxonomy", one, edition, [_write_reporting_category(each, edition) for each in found])


def _write_reporting_category(one: ReportingCategory, edition: Edition) -> str:
    return item(
        "str:ReportingCategory",
        one,
        edition,
        *[_write_reporting_category(each, edition) for each in one.reporting_categories.values()],
        edition.refs("str:StructuralMetadata", one.structural_metadata),
        edition.refs("str:ProvisioningMetadata", one.provisioning_metadata),
    )
