"""A persistent mapping: each change returns a new mapping, and costs only the difference."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

_BITS: Final = 5
_WIDTH: Final = 1 << _BITS
_MASK: Final = _WIDTH - 1
_MAX_DEPTH: Final = 6
_LEAF: Final = 128  # the maximum number of keys in a leaf
_FILL: Final = 96  # the maximum average number in a new tree, with which few leaves exceed the maximum
_MISSING: Final = object()


class PersistentMap(Generic[K, V]):
    """An immutable mapping. :meth:`set` and :meth:`delete` return a new mapping that shares all unchanged parts.

    The mapping is a tree of tuples of 32, by five bits of the key's hash per level; its leaves are dicts of up to 128
    keys. A change of one key copies one leaf and the tuples above it, so the cost is about the same for a thousand keys
    and for a million.

    Args:
        items: the keys and values.
        build_later: whether to leave the building of the tree to :meth:`build` or to the first change.
    """

    __slots__ = ("_count", "_root")

    def __init__(self, items: Mapping[K, V] | Iterable[tuple[K, V]] = (), *, build_later: bool = False) -> None:
        self._root: Any = dict(items)
        self._count = len(self._root)
        if not build_later:
            self.build()

    def build(self) -> None:
        """Build the tree, in time proportional to the number of keys. Thread-safe."""
        root = self._root
        if root.__class__ is dict and len(root) > _LEAF:
            self._root = _built(root)

    def get(self, key: K, default: V | None = None) -> V | None:
        """Return the value of a key, or the default."""
        node, bits = self._root, hash(key)
        while node.__class__ is tuple:
            node, bits = node[bits & _MASK], bits >> _BITS
        found: V | None = node.get(key, default)
        return found

    def __contains__(self, key: K) -> bool:
        return self.get(key, _MISSING) is not _MISSING  # type: ignore[arg-type]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[K]:
        """Iterate over the keys, in no particular order."""
        for leaf in _leaves(self._root):
            yield from leaf

    def items(self) -> Iterator[tuple[K, V]]:
        """Yield the keys with their values."""
        for leaf in _leaves(self._root):
            yield from leaf.items()

    def values(self) -> Iterator[V]:
        """Yield the values."""
        for leaf in _leaves(self._root):
            yield from leaf.values()

    def set(self, key: K, value: V) -> PersistentMap[K, V]:
        """Return a mapping with this key and value."""
        self.build()
        return self._with(_put(self._root, hash(key), 0, key, value), self._count + (key not in self))

    def delete(self, key: K) -> PersistentMap[K, V]:
        """Return a mapping without this key."""
        if key not in self:
            return self
        self.build()
        return self._with(_dropped(self._root, hash(key), key), self._count - 1)

    def set_all(self, keys: Iterable[K], value: V) -> PersistentMap[K, V]:
        """Return a mapping with all these keys, each with the same value."""
        found = self
        for key in keys:
            found = found.set(key, value)
        return found

    def _with(self, root: Any, count: int) -> PersistentMap[K, V]:
        made: PersistentMap[K, V] = PersistentMap.__new__(PersistentMap)
        made._root, made._count = root if count else {}, count
        return made


def _built(held: dict[Any, Any]) -> Any:
    """Return a tree, with all its leaves filled in one pass over the keys."""
    if len(held) <= _LEAF:
        return held
    depth = 1
    while len(held) > _FILL << depth * _BITS:
        depth += 1
    leaves: list[dict[Any, Any]] = [{} for _ in range(1 << depth * _BITS)]
    mask = len(leaves) - 1
    for key, value in held.items():
        leaves[hash(key) & mask][key] = value
    nodes = [_divided(leaf, depth) for leaf in leaves]
    while depth:
        depth -= 1
        step = 1 << depth * _BITS  # the children of a node differ in the bits of its level
        nodes = [tuple(nodes[at::step]) for at in range(step)]
    return nodes[0]


def _divided(leaf: dict[Any, Any], depth: int) -> Any:
    """Return a leaf, or a tree that replaces it if it has too many keys."""
    if len(leaf) <= _LEAF or depth == _MAX_DEPTH:
        return leaf
    parts: list[dict[Any, Any]] = [{} for _ in range(_WIDTH)]
    shift = depth * _BITS
    for key, value in leaf.items():
        parts[hash(key) >> shift & _MASK][key] = value
    return tuple(_divided(part, depth + 1) for part in parts)


def _put(node: Any, bits: int, depth: int, key: Any, value: Any) -> Any:
    if node.__class__ is tuple:
        at = bits & _MASK
        nodes = list(node)
        nodes[at] = _put(node[at], bits >> _BITS, depth + 1, key, value)
        return tuple(nodes)
    leaf = node.copy()
    leaf[key] = value
    return _divided(leaf, depth)


def _dropped(node: Any, bits: int, key: Any) -> Any:
    if node.__class__ is tuple:
        at = bits & _MASK
        nodes = list(node)
        nodes[at] = _dropped(node[at], bits >> _BITS, key)
        return tuple(nodes)
    left = node.copy()
    del left[key]
    return left


def _leaves(node: Any) -> Iterator[dict[Any, Any]]:
    if node.__class__ is tuple:
        for child in node:
            yield from _leaves(child)
    else:
        yield node
