"""Category schemes, categorisations, reporting taxonomies.

Source: SDMX 3.1 Section 2, "Category Scheme" and "Reporting Taxonomy"; SDMXStructureCategory.xsd,
SDMXStructureCategorisation.xsd, SDMXStructureReportingTaxonomy.xsd.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from kafka_replica.sdmx.containers import NO_ITEMS, Items
from kafka_replica.sdmx.model.base import ItemScheme, Maintainable, Nameable
from kafka_replica.sdmx.urns.urn import Urn


class Category(Nameable, frozen=True, gc=False, kw_only=True):
    """A category and the categories below it; its URN has the whole path."""

    categories: Items[Category] = NO_ITEMS

    def walk(self) -> Iterator[Category]:
        """Yield this category and all categories below it, parents first."""
        stack: list[Category] = [self]
        while stack:
            category = stack.pop()
            yield category
            stack.extend(reversed(list(category.categories.values())))


class CategoryScheme(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A category scheme: the categories of the first level by id; each category holds the categories below it."""

    items_field: ClassVar[str] = "categories"
    children_field: ClassVar[str] = "categories"

    categories: Items[Category]


class Categorisation(Maintainable, frozen=True, gc=False, kw_only=True):
    """The assignment of an artefact (``source``) to a category (``target``); both are None in a stub."""

    source: Urn | None = None
    target: Urn | None = None


class ReportingCategory(Nameable, frozen=True, gc=False, kw_only=True):
    """A part of a report, the parts below it, and the structures or flows it is based on."""

    reporting_categories: Items[ReportingCategory] = NO_ITEMS
    structural_metadata: tuple[Urn, ...] = ()
    provisioning_metadata: tuple[Urn, ...] = ()


class ReportingTaxonomy(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A reporting taxonomy: the categories of the first level by id; each category holds the categories below it."""

    items_field: ClassVar[str] = "reporting_categories"
    children_field: ClassVar[str] = "reporting_categories"

    reporting_categories: Items[ReportingCategory]
