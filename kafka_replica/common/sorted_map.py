"""A persistent sorted mapping: a change returns a new mapping, in logarithmic time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_WIDTH: Final = 32  # entries of a full leaf, and children of a full branch


class _Leaf:
    """Keys in ascending order, and their values."""

    __slots__ = ("keys", "values")

    def __init__(self, keys: list[Any], values: list[Any]) -> None:
        self.keys, self.values = keys, values


class _Branch:
    """Children in ascending order, and the first key of each child."""

    __slots__ = ("children", "keys")

    def __init__(self, keys: list[Any], children: list[Any]) -> None:
        self.keys, self.children = keys, children


class SortedMap(Generic[K, V]):
    """An immutable mapping sorted by key. ``set`` and ``delete`` return a new mapping.

    The mapping is a B+ tree whose nodes are never changed: a change copies one leaf and the branches above it. All keys
    must be comparable with each other.
    """

    __slots__ = ("_count", "_root")

    def __init__(self, items: Iterable[tuple[K, V]] = ()) -> None:
        """Create a mapping of items; of several items with the same key, the last counts."""
        held = dict(items)
        ordered = sorted(held)  # type: ignore[type-var]
        self._count = len(ordered)
        self._root: _Leaf | _Branch = _built(ordered, [held[key] for key in ordered])

    def __len__(self) -> int:
        return self._count

    def __contains__(self, key: K) -> bool:
        leaf = self._leaf(key)
        at = bisect_left(leaf.keys, key)
        return at < len(leaf.keys) and leaf.keys[at] == key

    @property
    def first(self) -> K | None:
        """The smallest key, in O(1); None if there is none."""
        keys: list[K] = self._root.keys
        return keys[0] if keys else None

    def items(self, first: K | None = None) -> Iterator[tuple[K, V]]:
        """Yield keys and values in ascending order, from the key ``first`` on; None starts at the smallest key."""
        return _items(self._root, first)

    def set(self, key: K, value: V) -> SortedMap[K, V]:
        """Return a mapping with this key and value."""
        nodes = _put(self._root, key, value)
        root = nodes[0] if len(nodes) == 1 else _branch(nodes)
        return self._with(root, self._count + (key not in self))

    def delete(self, key: K) -> SortedMap[K, V]:
        """Return a mapping without this key."""
        if key not in self:
            return self
        root = _dropped(self._root, key)
        while isinstance(root, _Branch) and len(root.children) == 1:
            root = root.children[0]
        return self._with(_Leaf([], []) if root is None else root, self._count - 1)

    def _leaf(self, key: K) -> _Leaf:
        node = self._root
        while isinstance(node, _Branch):
            node = node.children[_at(node, key)]
        return node

    def _with(self, root: _Leaf | _Branch, count: int) -> SortedMap[K, V]:
        made: SortedMap[K, V] = SortedMap.__new__(SortedMap)
        made._root, made._count = root, count
        return made


def _built(keys: list[Any], values: list[Any]) -> _Leaf | _Branch:
    """Return a tree of half-full leaves, so that the first insertions split none of them."""
    if len(keys) <= _WIDTH:
        return _Leaf(keys, values)
    step = _WIDTH // 2
    nodes: list[Any] = [_Leaf(keys[at : at + step], values[at : at + step]) for at in range(0, len(keys), step)]
    while len(nodes) > 1:
        groups = [nodes[at : at + step] for at in range(0, len(nodes), step)]
        nodes = [_branch(group) for group in groups]
    root: _Leaf | _Branch = nodes[0]
    return root


def _branch(nodes: list[Any]) -> _Branch:
    return _Branch([node.keys[0] for node in nodes], nodes)


def _at(branch: _Branch, key: Any) -> int:
    return max(0, bisect_right(branch.keys, key) - 1)


def _put(node: Any, key: Any, value: Any) -> list[Any]:
    """Return the node with a key, or the two nodes into which it was split."""
    if isinstance(node, _Leaf):
        at = bisect_left(node.keys, key)
        end = at + 1 if at < len(node.keys) and node.keys[at] == key else at
        keys, values = node.keys.copy(), node.values.copy()
        keys[at:end], values[at:end] = [key], [value]
        return _split(_Leaf(keys, values))
    at = _at(node, key)
    return _split(_replaced(node, at, _put(node.children[at], key, value)))


def _split(node: Any) -> list[Any]:
    if len(node.keys) <= _WIDTH:
        return [node]
    half = len(node.keys) // 2
    if isinstance(node, _Leaf):
        return [_Leaf(node.keys[:half], node.values[:half]), _Leaf(node.keys[half:], node.values[half:])]
    return [_Branch(node.keys[:half], node.children[:half]), _Branch(node.keys[half:], node.children[half:])]


def _dropped(node: Any, key: Any) -> Any:
    """Return the node without an existing key; None if no key is left."""
    if isinstance(node, _Leaf):
        at = bisect_left(node.keys, key)
        keys, values = node.keys.copy(), node.values.copy()
        del keys[at], values[at]
        return _Leaf(keys, values) if keys else None
    at = _at(node, key)
    left = _dropped(node.children[at], key)
    branch = _replaced(node, at, [] if left is None else [left])
    if not branch.children:
        return None
    _join(branch, at)
    return branch


def _replaced(branch: _Branch, at: int, nodes: list[Any]) -> _Branch:
    """Return the branch with nodes instead of one child."""
    keys, children = branch.keys.copy(), branch.children.copy()
    keys[at : at + 1] = [node.keys[0] for node in nodes]
    children[at : at + 1] = nodes
    return _Branch(keys, children)


def _join(branch: _Branch, at: int) -> None:
    """Merge the child at ``at`` of a new branch, which has shrunk, with a neighbour if both fit into half a node."""
    children = branch.children
    for first in (at - 1, at):
        if first >= 0 and first + 1 < len(children):
            left, right = children[first], children[first + 1]
            if type(left) is type(right) and len(left.keys) + len(right.keys) <= _WIDTH // 2:
                keys = left.keys + right.keys
                both = (
                    _Leaf(keys, left.values + right.values)
                    if isinstance(left, _Leaf)
                    else _Branch(keys, left.children + right.children)
                )
                children[first : first + 2] = [both]
                del branch.keys[first + 1]
                return


def _items(node: Any, first: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(node, _Leaf):
        at = 0 if first is None else bisect_left(node.keys, first)
        yield from zip(node.keys[at:], node.values[at:], strict=True)
        return
    at = 0 if first is None else _at(node, first)
    for child in node.children[at:]:
        yield from _items(child, first)
        first = None
