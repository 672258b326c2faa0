"""Category schemes, categorisations and reporting taxonomies of SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import Items, stored_items
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.values import (
    Json,
    obj,
    read_reference,
    read_references,
    write_urn,
    write_urns,
)
from kafka_replica.sdmx.formats.sdmx_json.edition import Edition
from kafka_replica.sdmx.formats.sdmx_json.items import item_scheme
from kafka_replica.sdmx.formats.sdmx_json.values.reading import Context
from kafka_replica.sdmx.formats.sdmx_json.values.wire import WireMaintainable, WireNameable
from kafka_replica.sdmx.formats.sdmx_json.values.writing import write_maintained, write_named
from kafka_replica.sdmx.model import Categorisation, Category, CategoryScheme, ReportingCategory, ReportingTaxonomy
from kafka_replica.sdmx.urns.urn import Urn


class WireCategory(WireNameable, gc=False):
    """A category."""

    categories: list[WireCategory] | None = None


class WireCategoryScheme(WireMaintainable, gc=False):
    """A category scheme."""

    categories: list[WireCategory] | None = None


class WireCategorisation(WireMaintainable, gc=False):
    """A categorisation."""

    source: str | None = None
    target: str | None = None


class WireReportingCategory(WireNameable, gc=False):
    """A reporting category."""

    reporting_categories: list[WireReportingCategory] | None = None
    structural_metadata: list[str] | None = None
    provisioning_metadata: list[str] | None = None


class WireReportingTaxonomy(WireMaintainable, gc=False):
    """A reporting taxonomy."""

    reporting_categories: list[WireReportingCategory] | None = None


def read_category_scheme(urn: Urn, wire: WireCategoryScheme, context: Context) -> CategoryScheme:
    """Build a CategoryScheme."""

    def category(own: Urn, one: WireCategory) -> Category:
        below = read_items(urn, "Category", one.categories, category, own.item)
        return Category(urn=own, categories=Items(below), **context.named(one))

    found = read_items(urn, "Category", wire.categories, category)
    return CategoryScheme(urn=urn, categories=item_scheme(urn, wire, found), **context.maintained(wire))


def read_categorisation(urn: Urn, wire: WireCategorisation, context: Context) -> Categorisation:
    """Build a Categorisation."""
    return Categorisation(
        urn=urn,
        source=read_reference(wire.source, urn),
        target=read_reference(wire.target, urn),
        **context.maintained(wire),
    )


def read_reporting_taxonomy(urn: Urn, wire: WireReportingTaxonomy, context: Context) -> ReportingTaxonomy:
    """Build a ReportingTaxonomy."""

    def category(own: Urn, reporting_category: WireReportingCategory) -> ReportingCategory:
        below = read_items(urn, "ReportingCategory", reporting_category.reporting_categories, category, own.item)
        return ReportingCategory(
            urn=own,
            reporting_categories=Items(below),
            structural_metadata=read_references(reporting_category.structural_metadata, own),
            provisioning_metadata=read_references(reporting_category.provisioning_metadata, own),
            **context.named(reporting_category),
        )

    found = read_items(urn, "ReportingCategory", wire.reporting_categories, category)
    return ReportingTaxonomy(urn=urn, reporting_categories=item_scheme(urn, wire, found), **context.maintained(wire))


def write_category_scheme(category_scheme: CategoryScheme, edition: Edition) -> Json:
    """Write a category scheme."""
    return obj(
        write_maintained(category_scheme, edition),
        categories=[_write_category(each, edition) for each in stored_items(category_scheme.categories)],
    )


def _write_category(category: Category, edition: Edition) -> Json:
    return obj(
        write_named(category, edition),
        categories=[_write_category(each, edition) for each in category.categories.values()],
    )


def write_categorisation(categorisation: Categorisation, edition: Edition) -> Json:
    """Write a categorisation."""
    return obj(
        write_maintained(categorisation, edition),
        source=write_urn(categorisation.source),
        target=write_urn(categorisation.target),
    )


def write_reporting_taxonomy(reporting_taxonomy: ReportingTaxonomy, edition: Edition) -> Json:
    """Write a reporting taxonomy."""
    found = [_write_reporting_category(each, edition) for each in stored_items(reporting_taxonomy.reporting_categories)]
    return obj(write_maintained(reporting_taxonomy, edition), reportingCategories=found)


def _write_reporting_category(reporting_category: ReportingCategory, edition: Edition) -> Json:
    return obj(
        write_named(reporting_category, edition),
        reportingCategories=[
            _write_reporting_category(each, edition) for each in reporting_category.reporting_categories.values()
        ],
        structuralMetadata=write_urns(reporting_category.structural_metadata),
        provisioningMetadata=write_urns(reporting_category.provisioning_metadata),
    )
