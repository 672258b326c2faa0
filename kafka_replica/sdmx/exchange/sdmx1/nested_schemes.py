"""Schemes with nested items (categories, reporting categories), and value lists, in both directions."""

from __future__ import annotations

from typing import Any

from kafka_replica.sdmx.containers import Items, items_of, parts_of
from kafka_replica.sdmx.exchange.sdmx1.library import sdmx1
from kafka_replica.sdmx.exchange.sdmx1.shared_parts import (
    Edition,
    annotations_from,
    annotations_to,
    class_named,
    maintained,
    maintenance,
    named,
    naming,
    texts_from,
    urn_of,
)
from kafka_replica.sdmx.model import (
    Category,
    CategoryScheme,
    ItemScheme,
    ReportingCategory,
    ReportingTaxonomy,
    ValueItem,
    ValueList,
)
from kafka_replica.sdmx.urns.urn import Urn


def tree_to(artefact: ItemScheme, edition: Edition) -> Any:
    """Convert a scheme with all its items; as in sdmx1's own reader, every item is in ``items``, parents first.

    The key of a nested item in ``items`` is its hierarchical id, such as ``A.B``; ``child`` of its parent has it too.
    """
    scheme = class_named(artefact.urn.cls, edition)(**maintained(artefact, partial=True))
    if not artefact.items.is_stub:
        for item in artefact.items.values():
            _add(scheme, item, artefact.children_field or "", scheme, edition)
    return scheme


def _add(scheme: Any, item: Any, children: str, parent: Any, edition: Edition) -> None:
    own = class_named(item.urn.cls, edition)(**named(item))
    own.parent = parent
    if parent is not scheme:
        parent.child.append(own)
    scheme.items.setdefault(own.id if parent is scheme else own.hierarchical_id, own)
    for child in getattr(item, children).values():
        _add(scheme, child, children, own, edition)


def tree_from(obj: Any) -> ItemScheme:
    """Build a scheme; nested items are found by ``child`` of their parents."""
    urn = urn_of(obj)
    class_ = "Category" if urn.cls == "CategoryScheme" else "ReportingCategory"
    tops = [item for item in obj.items.values() if not isinstance(item.parent, sdmx1().common.Item)]
    items = {item.id: _tree_item(item, urn, class_, item.id) for item in tops}
    base = maintenance(obj, urn)
    found: Items[Any] = items_of(urn, items, is_stub=base["is_external_reference"])
    if urn.cls == "CategoryScheme":
        return CategoryScheme(**base, categories=found)
    return ReportingTaxonomy(**base, reporting_categories=found)


def _tree_item(item: Any, urn: Urn, class_: str, path: str) -> Any:
    base = naming(item, urn.with_item(class_, path))
    below: Items[Any] = Items({child.id: _tree_item(child, urn, class_, f"{path}.{child.id}") for child in item.child})
    if class_ == "Category":
        return Category(**base, categories=below)
    return ReportingCategory(**base, reporting_categories=below)


def value_list_to(artefact: ValueList, _: Edition) -> Any:
    """Convert a value list."""
    v30 = sdmx1().v30
    made = v30.ValueList(**maintained(artefact))
    if not artefact.is_stub:
        made.items = [
            v30.ValueItem(
                id=value.id,
                name=dict(value.names),
                description=dict(value.descriptions),
                annotations=annotations_to(value.annotations),
            )
            for value in artefact.values
        ]
    return made


def value_list_from(obj: Any) -> ValueList:
    """Build a value list."""
    urn = urn_of(obj)
    base = maintenance(obj, urn)
    values = [
        ValueItem(
            id=item.id,
            names=texts_from(item.name),
            descriptions=texts_from(item.description),
            annotations=annotations_from(item.annotations),
        )
        for item in obj.items
    ]
    return ValueList(**base, value_items=parts_of(urn, values, is_stub=base["is_external_reference"]))
