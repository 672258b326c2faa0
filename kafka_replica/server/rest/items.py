"""Partial item schemes: item schemes with some of their items.

Source: SDMX REST 2.2.2, doc/structures.md ("Notes about using itemID"): an item of a flat list is returned alone, a
nested item with the items above it, and neither with the items below. The SDMX conformance kit names nested items by
their id alone, so that this form is accepted, too.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from kafka_replica.sdmx import Items, Urn
from kafka_replica.sdmx.lookups.items import item_of
from kafka_replica.sdmx.model import Artefact, HierarchicalCodelist, ItemScheme, ValueList
from kafka_replica.sdmx.urns.urn import own_id


def with_items(artefact: Artefact, paths: Collection[str]) -> tuple[Artefact, list[Urn]] | None:
    """Return a partial copy of an item scheme and the URNs of the selected items; None if it has none of them.

    The items of a value list have no URN, so the URN of the list is returned. SDMX cannot mark a value list as partial.
    """
    if isinstance(artefact, ValueList):
        return _of_values(artefact, set(paths))
    if not isinstance(artefact, ItemScheme) or artefact.items.is_stub:
        return None
    if artefact.children_field is None or not _is_nested(artefact):
        items, urns = _flat(artefact, paths)
    else:
        wanted = [found for path in paths for found in _paths(artefact, path)]
        items, urns = _nested(artefact.items, wanted, artefact.children_field)
    if not urns:
        return None
    return _with(artefact, items), urns


def _with(artefact: ItemScheme, items: Mapping[str, Any]) -> ItemScheme:
    """Return a copy with these items, which is partial; hierarchical codelists have no mark for it, as value lists."""
    is_partial = not isinstance(artefact, HierarchicalCodelist)
    return replace(artefact, **{artefact.items_field: Items(items)}, is_partial=is_partial)


def only_items(artefact: Artefact, paths: Collection[str]) -> Artefact:
    """Return a copy of an item scheme with only these items; the artefact itself if it has no other items."""
    found = with_items(artefact, paths)
    if found is None:
        return artefact if _count(artefact) == 0 else _without_items(artefact)
    partial, _ = found
    return artefact if _count(partial) == _count(artefact) else partial


def _of_values(artefact: ValueList, ids: set[str]) -> tuple[Artefact, list[Urn]] | None:
    if artefact.is_stub:
        return None
    found = tuple(value for value in artefact.values if value.id in ids)
    return (replace(artefact, value_items=found), [artefact.urn]) if found else None


def _is_nested(artefact: ItemScheme) -> bool:
    """Return whether items contain items of their own kind; hierarchical codelists (2.1) contain hierarchies."""
    return artefact.items_field == artefact.children_field


def _flat(artefact: ItemScheme, paths: Collection[str]) -> tuple[dict[str, Any], list[Urn]]:
    # The path of a concept may name the concepts above it.
    found = {own_id(item.urn) for path in paths if (item := item_of(artefact, "", path)) is not None}
    items = {id_: artefact.items[id_] for id_ in artefact.items if id_ in found}
    return items, [item.urn for item in items.values()]


def _paths(artefact: ItemScheme, path: str) -> list[tuple[str, ...]]:
    """Return the path of a nested item; for an id, the paths of all items with that id at any depth."""
    if "." in path or path in artefact.items:
        return [tuple(path.split("."))]
    found: list[tuple[str, ...]] = []
    stack: list[tuple[tuple[str, ...], Any]] = [((id_,), item) for id_, item in artefact.items.items()]
    while stack:
        above, item = stack.pop()
        found += [above] if above[-1] == path else []
        stack += [((*above, id_), child) for id_, child in getattr(item, artefact.children_field or "").items()]
    return found


def _nested(items: Items[Any], paths: Sequence[tuple[str, ...]], field: str) -> tuple[dict[str, Any], list[Urn]]:
    kept: dict[str, Any] = {}
    urns: list[Urn] = []
    wanted = {path[0] for path in paths}
    for id_ in items:
        if id_ not in wanted:
            continue
        own = [path for path in paths if path[0] == id_]
        below, urns_below = _nested(getattr(items[id_], field), [path[1:] for path in own if len(path) > 1], field)
        if below or any(len(path) == 1 for path in own):
            kept[id_] = replace(items[id_], **{field: Items(below)})
            urns += [items[id_].urn, *urns_below]
    return kept, urns


def _count(artefact: Artefact) -> int:
    if isinstance(artefact, ValueList):
        return len(artefact.values)
    if not isinstance(artefact, ItemScheme):
        return 0
    field = artefact.children_field if _is_nested(artefact) else None
    stack, count = list(artefact.items.values()), 0
    while stack:
        item = stack.pop()
        count += 1
        stack += [] if field is None else list(getattr(item, field).values())
    return count


def _without_items(artefact: Artefact) -> Artefact:
    if isinstance(artefact, ValueList):
        return replace(artefact, value_items=())
    assert isinstance(artefact, ItemScheme)  # noqa: S101 - for other classes, _count returns 0
    return _with(artefact, {})
