"""Category schemes and reporting taxonomies of SDMX-ML 2.0."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.child_elements import nested, pick, scheme_items
from kafka_replica.sdmx.formats.ml.reading.values import Child, Item
from kafka_replica.sdmx.formats.ml.writing.values import write_texts
from kafka_replica.sdmx.formats.ml.writing.xml import el
from kafka_replica.sdmx.formats.ml20.reading.message_context import MessageContext
from kafka_replica.sdmx.formats.ml20.reading.references import read_reference
from kafka_replica.sdmx.formats.ml20.reading.values import read_maintained
from kafka_replica.sdmx.formats.ml20.writing.references import write_reference
from kafka_replica.sdmx.formats.ml20.writing.values import Edition, write_annotations, write_maintained
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.model import Category, CategoryScheme, ReportingCategory, ReportingTaxonomy
from kafka_replica.sdmx.model.earlier_editions import CategoryOfFlows, TaxonomyOfFlows, VersionedReportingCategory
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_category_scheme(urn: Urn, elements: list[etree._Element], context: MessageContext) -> CategoryScheme:
    """Read a <CategoryScheme>."""
    base, rest = read_maintained(elements[0], context)

    def make(item: Item) -> Category:
        below = nested(item, "Category", make)
        flows = _read_flows(item.rest, context, urn.agency)
        version = _own_version(item)
        if flows or version:
            return CategoryOfFlows(urn=item.urn, categories=below, flows=flows, version=version, **item.arguments)
        return Category(urn=item.urn, categories=below, **item.arguments)

    categories = scheme_items(urn, base, "Category", pick(rest, "Category"), context.names, make)
    return CategoryScheme(urn=urn, categories=categories, **base)


def read_reporting_taxonomy(urn: Urn, elements: list[etree._Element], context: MessageContext) -> ReportingTaxonomy:
    """Read a <ReportingTaxonomy>."""
    base, rest = read_maintained(elements[0], context)

    def make(item: Item) -> ReportingCategory:
        parts = {
            "urn": item.urn,
            "reporting_categories": nested(item, "Category", make),
            "provisioning_metadata": _read_flows(item.rest, context, urn.agency),
            **item.arguments,
        }
        version = _own_version(item)
        return VersionedReportingCategory(version=version, **parts) if version else ReportingCategory(**parts)

    categories = scheme_items(urn, base, "ReportingCategory", pick(rest, "Category"), context.names, make)
    flows = _read_flows(rest, context, urn.agency)
    if flows:
        return TaxonomyOfFlows(urn=urn, reporting_categories=categories, flows=flows, **base)
    return ReportingTaxonomy(urn=urn, reporting_categories=categories, **base)


def _own_version(item: Item) -> str | None:
    version = item.element.get("version", "").strip()
    return version if version != DEFAULT_VERSION else None


def _read_flows(rest: list[Child], context: MessageContext, agency: str) -> tuple[Urn, ...]:
    return tuple(
        read_reference(element, context, kind.removesuffix("Ref"), agency)
        for kind, element in rest
        if kind in {"DataflowRef", "MetadataflowRef"}
    )


# Writing


def write_category_scheme(category_scheme: CategoryScheme, edition: Edition) -> str:
    """Write a <CategoryScheme>."""
    found = [] if category_scheme.categories.is_stub else category_scheme.categories.values()
    return write_maintained("str:CategoryScheme", category_scheme, edition, *[_category(each) for each in found])


def _category(category: Category | ReportingCategory) -> str:
    if isinstance(category, ReportingCategory):
        flows, below = category.provisioning_metadata, list(map(_category, category.reporting_categories.values()))
    else:
        flows = category.flows if isinstance(category, CategoryOfFlows) else ()
        below = list(map(_category, category.categories.values()))
    return el(
        "str:Category",
        write_texts("str:Name", category.names),
        write_texts("str:Description", category.descriptions),
        *_write_flows(flows),
        *below,
        write_annotations(category.annotations),
        id=category.id,
        uri=category.uri,
        version=category.version if isinstance(category, (CategoryOfFlows, VersionedReportingCategory)) else None,
    )


def _write_flows(flows: tuple[Urn, ...]) -> list[str]:
    # The schema demands the dataflows first.
    return [
        write_reference(f"str:{flow.cls}Ref", flow) for flow in sorted(flows, key=lambda flow: flow.cls != "Dataflow")
    ]


def write_reporting_taxonomy(reporting_taxonomy: ReportingTaxonomy, edition: Edition) -> str:
    """Write a <ReportingTaxonomy>."""
    found = [] if reporting_taxonomy.reporting_categories.is_stub else reporting_taxonomy.reporting_categories.values()
    flows = reporting_taxonomy.flows if isinstance(reporting_taxonomy, TaxonomyOfFlows) else ()
    return write_maintained(
        "str:ReportingTaxonomy", reporting_taxonomy, edition, *_write_flows(flows), *[_category(each) for each in found]
    )
