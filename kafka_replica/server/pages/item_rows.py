"""The items of an artefact in tree order, each item once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property
from threading import Lock
from typing import Any, Final, NamedTuple, TypeVar

from kafka_replica.sdmx.containers import Items
from kafka_replica.sdmx.model import Artefact, ValueList
from kafka_replica.sdmx.model.base import ItemScheme
from kafka_replica.server.pages.folding import folded

T = TypeVar("T")


class ItemRow(NamedTuple):
    """An item, its depth (the number of items above it), and its id; the path for nested items."""

    depth: int
    path: str
    item: Any


def has_item_rows(artefact: Artefact) -> bool:
    """Return whether the content of an artefact is a list or tree of items."""
    return isinstance(artefact, (ItemScheme, ValueList))


def item_rows(artefact: Artefact, words: Sequence[str], start: int, size: int) -> tuple[list[ItemRow], int]:
    """Return a part of the selected items of an item scheme or value list, in tree order, and their total number.

    A stub has no items. The tree order and the texts to search are cached for further parts of the same artefact.

    Args:
        artefact: the artefact.
        words: the folded words that must all occur in the id or names of an item; without words, all are selected.
        start: the number of items to skip.
        size: the maximum number of items to return.
    """
    order = _recent.of(artefact)
    if not words:
        return [order.row_of(node) for node in order.tree[start : start + size]], len(order.tree)
    found = [node for node, text in zip(order.tree, order.texts, strict=True) if all(word in text for word in words)]
    return [order.row_of(node) for node in found[start : start + size]], len(found)


class _Order:
    """The items of an artefact as nodes in tree order, and their texts for the search, which are built on first use."""

    def __init__(self, artefact: Artefact) -> None:
        self.artefact = artefact
        self.tree, self.row_of = _tree(artefact)

    @cached_property
    def texts(self) -> list[str]:
        return [_text_of(self.row_of(node)) for node in self.tree]


class _OrderCache:
    """A cache of the most recently used artefacts' orders, up to a total number of items. Thread-safe."""

    def __init__(self, most_items: int) -> None:
        self._most_items = most_items
        self._lock = Lock()
        self._orders: OrderedDict[int, _Order] = OrderedDict()

    def of(self, artefact: Artefact) -> _Order:
        """Return the order of an artefact."""
        with self._lock:
            found = self._orders.pop(id(artefact), None)
        if found is None or found.artefact is not artefact:
            found = _Order(artefact)
        with self._lock:
            self._orders[id(artefact)] = found  # the order refers to the artefact, so that the id is not reused
            items = sum(len(order.tree) for order in self._orders.values())
            while items > self._most_items and self._orders:
                items -= len(self._orders.popitem(last=False)[1].tree)
        return found


_recent: Final = _OrderCache(200_000)


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
    """Return the depth and id of all items that name their parents, in tree order.

    Items whose parent is missing become roots, and so does one item of each cycle.
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
    """Return the items in and below cycles; these are the items that are not in ``seen``."""

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
                id_ = parents[id_]  # noqa: PLW2901 - ends at an item of the cycle
            seen.add(id_)
            tree += preorder([id_], unseen)
    return tree


def preorder(roots: Iterable[T], children: Callable[[T], Collection[T]]) -> list[tuple[int, T]]:
    """Return the nodes of a tree with their depths, each node before its children; without recursion."""
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


def _text_of(row: ItemRow) -> str:
    """Return the folded id and names of an item."""
    names = getattr(row.item, "names", None)
    texts = () if names is None else (text for _, text in names.texts)
    return folded("\n".join((row.path, *texts)))
