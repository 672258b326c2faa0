"""The small containers of the model: items by id in document order, items created on first access, stubs.

Texts in several languages are among them. This package may import only values of ``sdmx`` such as URNs. Read ``items``
first.
"""

from __future__ import annotations

from kafka_replica.sdmx.containers.items import NO_ITEMS, Items, are_one_kind, children_by_parent, is_compound
from kafka_replica.sdmx.containers.lazy_items import LazyItems, numbered, with_ids
from kafka_replica.sdmx.containers.stubs import (
    StubItems,
    StubTuple,
    items_of,
    parts_of,
    stored_items,
    stored_parts,
    stub_error,
)
from kafka_replica.sdmx.containers.texts import NO_TEXT, InternationalString, international, written_texts

__all__ = [
    "NO_ITEMS",
    "NO_TEXT",
    "InternationalString",
    "Items",
    "LazyItems",
    "StubItems",
    "StubTuple",
    "are_one_kind",
    "children_by_parent",
    "international",
    "is_compound",
    "items_of",
    "numbered",
    "parts_of",
    "stored_items",
    "stored_parts",
    "stub_error",
    "with_ids",
    "written_texts",
]
