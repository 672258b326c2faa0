"""The dataflows that are in a category.

Source: SDMX 3.1 Section 2, "Category Scheme" and "Reporting Taxonomy"; for 2.0 SDMXStructure.xsd, where dataflows name
their categories (``CategoryRef``) and categories their dataflows (``DataflowRef``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import msgspec

from kafka_replica.sdmx.containers import NO_ITEMS
from kafka_replica.sdmx.errors import UrnError
from kafka_replica.sdmx.lookups.artefacts import Reference, urn_of
from kafka_replica.sdmx.lookups.index.relations import VersionRelations
from kafka_replica.sdmx.lookups.items import Item
from kafka_replica.sdmx.lookups.references import references_in
from kafka_replica.sdmx.model import Artefact, Category, ReportingCategory
from kafka_replica.sdmx.model.base import ItemScheme
from kafka_replica.sdmx.urns.urn import Urn

CATEGORY_CLASSES = ("Category", "ReportingCategory", "CategoryScheme", "ReportingTaxonomy")
"""The classes of artefacts and items that can contain dataflows."""

_CATEGORISING = ("Categorisation", "Dataflow")
"""The classes of artefacts that assign dataflows to categories; in 2.0, dataflows themselves."""


def category_urn(reference: Reference) -> Urn:
    """Return the URN of a category or of a scheme of categories: see ``Structures.dataflows_of``.

    Raises UrnError for a URN of another class.
    """
    is_category = isinstance(reference, str) and ")." in reference
    urn = urn_of("Category" if is_category else "CategoryScheme", reference)
    if urn.cls not in CATEGORY_CLASSES:
        raise UrnError(f"finding the dataflows of {urn}: name a category, or a scheme of categories")
    return urn


def dataflows_in(
    relations: VersionRelations, holder: Urn, path: str | None, category: Artefact | Item | None, *, children: bool
) -> set[Urn]:
    """Return the dataflows of a version that are in a category or scheme.

    Args:
        relations: the references of the version.
        holder: the category scheme or reporting taxonomy.
        path: the path of the category; None for the whole scheme.
        category: the category or scheme itself; None if it cannot be read.
        children: whether dataflows in the categories below count, too.
    """
    named = _categorising(relations, holder, lambda item: _is_in(item, path, children=children))
    flows = {*named, *(one for one in _named_by(category, holder, children=children) if one.cls == "Dataflow")}
    return set(relations.meant_by(flows))


def _categorising(relations: VersionRelations, holder: Urn, is_in: Callable[[str | None], bool]) -> Iterator[Urn]:
    """Yield the dataflows that categorisations, or the dataflows themselves, assign to the category."""
    for place in relations.contents.naming((holder.agency, holder.id)):
        if place.artefact.cls not in _CATEGORISING or not relations.counts(place):
            continue
        targets = list(relations.targets(place.artefact))
        if any(
            target.cls in CATEGORY_CLASSES and is_in(target.item) and relations.meant(target) == holder
            for target in targets
        ):
            own = place.artefact
            yield from ([own] if own.cls == "Dataflow" else (target for target in targets if target.cls == "Dataflow"))


def _is_in(item: str | None, path: str | None, *, children: bool) -> bool:
    if path is None:
        return children or item is None
    return item == path or (children and item is not None and item.startswith(f"{path}."))


def _named_by(category: Artefact | Item | None, holder: Urn, *, children: bool) -> Iterable[Urn]:
    """Return the references, of any class, in a category of 2.0 or of a reporting taxonomy."""
    if category is None or (isinstance(category, ItemScheme) and category.is_stub):
        return ()
    if not children and isinstance(category, Category):
        category = msgspec.structs.replace(category, categories=NO_ITEMS)
    elif not children and isinstance(category, ReportingCategory):
        category = msgspec.structs.replace(category, reporting_categories=NO_ITEMS)
    elif not children and isinstance(category, ItemScheme):
        category = msgspec.structs.replace(category, **{category.items_field: NO_ITEMS})
    return references_in(category, holder)
