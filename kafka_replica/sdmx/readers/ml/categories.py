"""Category schemes, categorisations and reporting taxonomies of SDMX-ML."""

from __future__ import annotations

from kafka_replica.sdmx.model import (
    Categorisation,
    Category,
    CategoryScheme,
    ReportingCategory,
    ReportingTaxonomy,
)
from kafka_replica.sdmx.readers.ml.parts import nested, pick, ref, refs, scheme_items
from kafka_replica.sdmx.readers.ml.values import Item


def category_scheme(item: Item) -> CategoryScheme:
    """Read a <CategoryScheme>."""
    urn, base, rest, names = item.parts
    elements = pick(rest, "Category")
    return CategoryScheme(urn=urn, categories=scheme_items(urn, base, "Category", elements, names, _category), **base)


def _category(item: Item) -> Category:
    return Category(urn=item.urn, categories=nested(item, "Category", _category), **item.arguments)


def categorisation(item: Item) -> Categorisation:
    """Read a <Categorisation>."""
    urn, base, rest, names = item.parts
    return Categorisation(
        urn=urn, source=ref(rest, "Source", names, "Dataflow"), target=ref(rest, "Target", names, "Category"), **base
    )


def reporting_taxonomy(item: Item) -> ReportingTaxonomy:
    """Read a <ReportingTaxonomy>."""
    urn, base, rest, names = item.parts
    elements = pick(rest, "ReportingCategory")
    return ReportingTaxonomy(
        urn=urn,
        reporting_categories=scheme_items(urn, base, "ReportingCategory", elements, names, _reporting_category),
        **base,
    )


def _reporting_category(item: Item) -> ReportingCategory:
    return ReportingCategory(
        urn=item.urn,
        reporting_categories=nested(item, "ReportingCategory", _reporting_category),
        structural_metadata=refs(item.rest, "StructuralMetadata", item.names, "DataStructure"),
        provisioning_metadata=refs(item.rest, "ProvisioningMetadata", item.names, "Dataflow"),
        **item.arguments,
    )
