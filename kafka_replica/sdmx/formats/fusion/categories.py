"""Category schemes and categorisations of Fusion-JSON."""

from __future__ import annotations

from kafka_replica.sdmx.containers import Items, items_of, stored_items
from kafka_replica.sdmx.formats.fusion.values import (
    WireMaintainable,
    WireNameable,
    read_maintained,
    read_named,
    write_maintained,
    write_named,
)
from kafka_replica.sdmx.formats.json_shared.items import read_items
from kafka_replica.sdmx.formats.json_shared.values import Json, obj, read_reference, write_urn
from kafka_replica.sdmx.model import Categorisation, Category, CategoryScheme
from kafka_replica.sdmx.urns.urn import Urn


class WireCategory(WireNameable, gc=False):
    """A category."""

    items: list[WireCategory] | None = None


class WireCategoryScheme(WireMaintainable, gc=False):
    """A category scheme."""

    items: list[WireCategory] | None = None


class WireCategorisation(WireMaintainable, gc=False):
    """A categorisation."""

    structure_reference: str | None = None
    category_reference: str | None = None


def read_category_scheme(urn: Urn, wire: WireCategoryScheme) -> CategoryScheme:
    """Build a CategoryScheme."""
    base = read_maintained(wire)
    found = read_items(urn, "Category", wire.items, _read_category)
    return CategoryScheme(urn=urn, categories=items_of(urn, found, is_stub=base["is_external_reference"]), **base)


def _read_category(own: Urn, wire: WireCategory) -> Category:
    below = read_items(own, "Category", wire.items, _read_category, own.item)
    return Category(urn=own, categories=Items(below), **read_named(wire))


def read_categorisation(urn: Urn, wire: WireCategorisation) -> Categorisation:
    """Build a Categorisation."""
    return Categorisation(
        urn=urn,
        source=read_reference(wire.structure_reference, urn),
        target=read_reference(wire.category_reference, urn),
        **read_maintained(wire),
    )


def write_category_scheme(category_scheme: CategoryScheme) -> Json:
    """Write a category scheme."""
    return obj(
        write_maintained(category_scheme),
        items=[_write_category(each) for each in stored_items(category_scheme.categories)],
    )


def _write_category(category: Category) -> Json:
    return obj(write_named(category), items=[_write_category(each) for each in category.categories.values()])


def write_categorisation(categorisation: Categorisation) -> Json:
    """Write a categorisation."""
    return obj(
        write_maintained(categorisation),
        structureReference=write_urn(categorisation.source),
        categoryReference=write_urn(categorisation.target),
    )
