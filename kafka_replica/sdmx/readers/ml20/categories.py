"""Category schemes and reporting taxonomies of SDMX-ML 2.0."""

from __future__ import annotations

from lxml import etree

from kafka_replica.sdmx.earlier import CategoryOfFlows, TaxonomyOfFlows, VersionedReportingCategory
from kafka_replica.sdmx.formats.ml.reading.parts import nested, pick, scheme_items
from kafka_replica.sdmx.formats.ml.reading.values import Child, Item
from kafka_replica.sdmx.formats.shared.reading.identity import DEFAULT_VERSION
from kafka_replica.sdmx.model import Category, CategoryScheme, ReportingCategory, ReportingTaxonomy
from kafka_replica.sdmx.readers.ml20.edition import Source
from kafka_replica.sdmx.readers.ml20.references import reference
from kafka_replica.sdmx.readers.ml20.values import maintained
from kafka_replica.sdmx.urn import Urn


def category_scheme(urn: Urn, elements: list[etree._Element], source: Source) -> CategoryScheme:
    """Read a <CategoryScheme>."""
    base, rest = maintained(elements[0], source)

    def make(item: Item) -> Category:
        below = nested(item, "Category", make)
        flows = _flows(item.rest, source, urn.agency)
        version = _own_version(item)
        if flows or version:
            return CategoryOfFlows(urn=item.urn, categories=below, flows=flows, version=version, **item.arguments)
        return Category(urn=item.urn, categories=below, **item.arguments)

    categories = scheme_items(urn, base, "Category", pick(rest, "Category"), source.names, make)
    return CategoryScheme(urn=urn, categories=categories, **base)


def reporting_taxonomy(urn: Urn, elements: list[etree._Element], source: Source) -> ReportingTaxonomy:
    """Read a <ReportingTaxonomy>."""
    base, rest = maintained(elements[0], source)

    def make(item: Item) -> ReportingCategory:
        parts = {
            "urn": item.urn,
            "reporting_categories": nested(item, "Category", make),
            "provisioning_metadata": _flows(item.rest, source, urn.agency),
            **item.arguments,
        }
        version = _own_version(item)
        return VersionedReportingCategory(version=version, **parts) if version else ReportingCategory(**parts)

    categories = scheme_items(urn, base, "ReportingCategory", pick(rest, "Category"), source.names, make)
    flows = _flows(rest, source, urn.agency)
    if flows:
        return TaxonomyOfFlows(urn=urn, reporting_categories=categories, flows=flows, **base)
    return ReportingTaxonomy(urn=urn, reporting_categories=categories, **base)


def _own_version(item: Item) -> str | None:
    version = item.element.get("version", "").strip()
    return version if version != DEFAULT_VERSION else None


def _flows(rest: list[Child], source: Source, agency: str) -> tuple[Urn, ...]:
    return tuple(
        reference(element, source, kind.removesuffix("Ref"), agency)
        for kind, element in rest
        if kind in {"DataflowRef", "MetadataflowRef"}
    )
