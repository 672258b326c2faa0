"""Category schemes, categorisations and reporting taxonomies of SDMX-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.formats.json_shared.values import reference, references
from kafka_replica.sdmx.formats.sdmx_json.references import item_scheme, nested
from kafka_replica.sdmx.formats.sdmx_json.values import Context
from kafka_replica.sdmx.formats.sdmx_json.wire import WireMaintainable, WireNameable
from kafka_replica.sdmx.model import Categorisation, Category, CategoryScheme, ReportingCategory, ReportingTaxonomy
from kafka_replica.sdmx.urn import Urn


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


def category_scheme(urn: Urn, wire: WireCategoryScheme, context: Context) -> CategoryScheme:
    """Build a CategoryScheme."""

    def category(own: Urn, one: WireCategory) -> Category:
        below = nested(urn, "Category", one.categories, category, own.item)
        return Category(urn=own, categories=Items(below), **context.named(one))

    found = nested(urn, "Category", wire.categories, category)
    return CategoryScheme(urn=urn, categories=item_scheme(urn, wire, found), **context.maintained(wire))


def categorisation(urn: Urn, wire: WireCategorisation, context: Context) -> Categorisation:
    """Build a Categorisation."""
    return Categorisation(
        urn=urn,
        source=reference(wire.source, urn),
        target=reference(wire.target, urn),
        **context.maintained(wire),
    )


def reporting_taxonomy(urn: Urn, wire: WireReportingTaxonomy, context: Context) -> ReportingTaxonomy:
    """Build a ReportingTaxonomy."""

    def category(own: Urn, one: WireReportingCategory) -> ReportingCategory:
        below = nested(urn, "ReportingCategory", one.reporting_categories, category, own.item)
        return ReportingCategory(
            urn=own,
            reporting_categories=Items(below),
            structural_metadata=references(one.structural_metadata, own),
            provisioning_metadata=references(one.provisioning_metadata, own),
            **context.named(one),
        )

    found = nested(urn, "ReportingCategory", wire.reporting_categories, category)
    return ReportingTaxonomy(urn=urn, reporting_categories=item_scheme(urn, wire, found), **context.maintained(wire))
