"""The items of an artefact in the order of their tree, each once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

from kafka_replica.sdmx.base import ItemScheme
from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model import Artefact, ValueList
from kafka_replica.server.pages.folding import folded

T = TypeVar("T")


class ItemRow(NamedTuple):
    """An item, the number of items above it, and its id: for nested items, its path."""

    depth: int
    path: str
    item: Any


def has_item_rows(artefact: Artefact) -> bool:
    """Return whether the content of an artefact is a list or tree of items."""
    return isinstance(artefact, (ItemScheme, ValueList))


def item_rows(artefact: Artefact, words: Sequence[str], start: int, size: int) -> tuple[list[ItemRow], int]:
    """Return a part of the items of an item scheme or value list, each before the items below it, and their number.

    The items of a stub are elsewhere, and left out.

    Args:
        artefact: the artefact.
        words: select items in whose id or names all these words occur; without words, all are selected.
        start: the number of items at the beginning to leave out.
        size: the number of items to return.
    """
    tree, row_of = _tree(artefact)
    if words:
        rows = [row for row in map(row_of, tree) if _has(row, words)]
        return rows[start : start + size], len(rows)
    return [row_of(node) for node in tree[start : start + size]], len(tree)


def _tree(artefact: Artefact) -> tuple[list[tuple[int, Any]], Callable[[tuple[int, Any]], ItemRow]]:
    """Return the nodes of an artefact, and a function that returns the row of a node."""
    if artefact.is_stub:
        return [], _nested_row
    if isinstance(artefact, ValueList):
        return [(0, value) for value in artefact.values], lambda node: ItemRow(node[0], node[1].id, node[1])
    if not isinstance(artefact, ItemScheme):
        return [], _nested_row
    items, field = artefact.items, artefact.children_field
    if field is not None:
        return preorder(items.values(), lambda item: getattr(item, field, _NONE).values()), _nested_row
    return parent_tree(items), lambda node: ItemRow(node[0], node[1], items[node[1]])


def _nested_row(node: tuple[int, Any]) -> ItemRow:
    depth, item = node
    return ItemRow(depth, item.urn.item or item.id, item)


def parent_tree(items: Items[Any]) -> list[tuple[int, str]]:
    """Return the depth and id of all items that name their parents, in the order of the tree.

    Items whose parent is missing have no parent; of those that are below each other in a cycle, one has none.
    """
    below = items.child_ids
    if not below:
        return [(0, id_) for id_ in items]
    parents = {child: parent for parent, ids in below.items() for child in ids}
    tree = preorder([id_ for id_ in items if id_ not in parents], lambda id_: below.get(id_, ()))
    if len(tree) < len(items):
        tree += _cycles(items, below, parents, {id_ for _, id_ in tree})
    return tree


def _cycles(
    items: Iterable[str], below: Mapping[str, Sequence[str]], parents: Mapping[str, str], seen: set[str]
) -> list[tuple[int, str]]:
    """Return the items that are in cycles, or below them, which are those that were not seen."""

    def unseen(id_: str) -> list[str]:
        found = [child for child in below.get(id_, ()) if child not in seen]
        seen.update(found)
        return found

    tree = []
    for id_ in items:
        if id_ not in seen:
            above: set[str] = set()
            while id_ not in above:
                above.add(id_)
                id_ = parents[id_]  # noqa: PLW2901 - at the end it is in the cycle
            seen.add(id_)
            tree += preorder([id_], unseen)
    return tree


def preorder(roots: Iterable[T], children: Callable[[T], Collection[T]]) -> list[tuple[int, T]]:
    """Return each node before its children, with its depth; nesting may have any depth."""
    found = []
    stack = [(0, root) for root in reversed(list(roots))]
    while stack:
        depth, node = stack.pop()
        found.append((depth, node))
        below = children(node)
        if below:
            stack += [(depth + 1, child) for child in reversed(list(below))]
    return found


_NONE: Final[Items[Any]] = Items()


def _has(row: ItemRow, words: Sequence[str]) -> bool:
    names = getattr(row.item, "names", None)
    texts = () if names is None else (text for _, text in names.texts)
    found = folded("\n".join((row.path, *texts)))
    return all(word in found for word in words)
