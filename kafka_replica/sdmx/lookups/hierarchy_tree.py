"""Traversal of a hierarchy: parents, children, levels, leaves, and the code of each node."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeAlias, TypeVar

from kafka_replica.sdmx.errors import ArtefactNotFoundError, UrnError
from kafka_replica.sdmx.lookups.references import late_bound
from kafka_replica.sdmx.model import Code, HierarchicalCode, Hierarchy, HierarchyOfCodelist, Level
from kafka_replica.sdmx.urns.urn import Urn

AnyHierarchy: TypeAlias = Hierarchy | HierarchyOfCodelist
"""A hierarchy of 3.x, or a hierarchy within a hierarchical codelist of 2.1."""

K = TypeVar("K")

LookUp: TypeAlias = "Callable[[Urn], object]"
"""A function that returns the artefact or item of a URN; raises SdmxError."""


class HierarchyNode:
    """A node of a hierarchy. ``depth`` counts from 1; ``parent`` is None for nodes of the first level."""

    def __init__(self, tree: HierarchyTree, hierarchical_code: HierarchicalCode, parent: HierarchyNode | None) -> None:
        self._tree = tree
        self.hierarchical_code = hierarchical_code
        self.parent = parent
        self.depth: int = 1 if parent is None else parent.depth + 1

    def __repr__(self) -> str:
        return f"<{self.path} in {self._tree.urn.reference}>"

    @property
    def id(self) -> str:
        """The id of the hierarchical code."""
        return self.hierarchical_code.id

    @property
    def path(self) -> str:
        """The ids from the first level down to this node, ``EU.DE``."""
        return ".".join(reversed([self.id, *(ancestor.id for ancestor in self.ancestors())]))

    @property
    def code_urn(self) -> Urn | None:
        """The URN of the node's code, as written; None if 2.1's alias of the codelist is unknown."""
        return self.hierarchical_code.code

    @cached_property
    def code(self) -> Code:
        """The code of the node.

        Raises ArtefactNotFoundError if the code, or its codelist, is not in this version.
        """
        return self._tree.code_of(self)

    @property
    def level(self) -> Level | None:
        """The level that the hierarchical code names; otherwise the level at the node's depth, if there is one."""
        return self._tree.level_of(self)

    @cached_property
    def children(self) -> tuple[HierarchyNode, ...]:
        """The child nodes, in order."""
        return tuple(HierarchyNode(self._tree, code, self) for code in self.hierarchical_code.codes.values())

    @property
    def is_leaf(self) -> bool:
        """True if the node has no children."""
        return not self.children

    def ancestors(self) -> Iterator[HierarchyNode]:
        """Yield the ancestors, nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def walk(self) -> Iterator[HierarchyNode]:
        """Yield this node and all descendants, parents first."""
        return _walk((self,))

    def leaves(self) -> Iterator[HierarchyNode]:
        """Yield the leaves below this node, or the node itself if it is a leaf."""
        return (one for one in self.walk() if one.is_leaf)


class HierarchyTree:
    """A hierarchy to traverse. Immutable; codes are looked up on demand."""

    def __init__(self, hierarchy: AnyHierarchy, look_up: LookUp) -> None:
        """Create the tree of a hierarchy; ``look_up`` finds codes by URN."""
        self.hierarchy = hierarchy
        self._look_up = look_up

    @property
    def urn(self) -> Urn:
        """The URN of the hierarchy."""
        return self.hierarchy.urn

    def __repr__(self) -> str:
        return f"<HierarchyTree {self.urn.reference}>"

    @cached_property
    def roots(self) -> tuple[HierarchyNode, ...]:
        """The nodes of the first level, in order. Raises UnreadableContentError for a stub."""
        return tuple(HierarchyNode(self, code, None) for code in self.hierarchy.codes.values())

    @cached_property
    def levels(self) -> tuple[Level, ...]:
        """The levels, the highest first; empty if the hierarchy has none."""
        found, level = [], self.hierarchy.level
        while level is not None:
            found.append(level)
            level = level.level
        return tuple(found)

    def walk(self) -> Iterator[HierarchyNode]:
        """Yield all nodes, parents first."""
        return _walk(self.roots)

    def leaves(self) -> Iterator[HierarchyNode]:
        """Yield all leaves."""
        return (one for one in self.walk() if one.is_leaf)

    def at(self, path: str) -> HierarchyNode:
        """Return the node of a path of ids, ``EU.DE``. Raises ArtefactNotFoundError."""
        level: tuple[HierarchyNode, ...] = self.roots
        found: HierarchyNode | None = None
        for id_ in path.split("."):
            found = next((one for one in level if one.id == id_), None)
            if found is None:
                raise ArtefactNotFoundError(f"looking for {path!r} in {self.urn}: there is no {id_!r} at that location")
            level = found.children
        assert found is not None  # noqa: S101 - a path has a part
        return found

    def places_of(self, code: Urn | str) -> tuple[HierarchyNode, ...]:
        """Return all nodes of a code, given by its URN as the hierarchy writes it, or by its id in any list."""
        if isinstance(code, str) and not code.startswith("urn:"):
            return self._by_code_id.get(code, ())
        return self._by_code_urn.get(Urn.parse(code) if isinstance(code, str) else code, ())

    def children_of(self, code: Urn | str) -> tuple[HierarchyNode, ...]:
        """Return the children of all nodes of a code; the code is given as for :meth:`places_of`."""
        return tuple(child for place in self.places_of(code) for child in place.children)

    def descendants_of(self, code: Urn | str) -> tuple[HierarchyNode, ...]:
        """Return all descendants of the nodes of a code, each once, parents first."""
        found = (one for place in self.places_of(code) for child in place.children for one in child.walk())
        return tuple(dict.fromkeys(found))

    def ancestors_of(self, code: Urn | str) -> tuple[HierarchyNode, ...]:
        """Return the ancestors of the nodes of a code, each once, nearest first for each node."""
        return tuple(dict.fromkeys(ancestor for place in self.places_of(code) for ancestor in place.ancestors()))

    def level_of(self, node: HierarchyNode) -> Level | None:
        """Return the level of a node: see ``HierarchyNode.level``."""
        named = node.hierarchical_code.level
        if named is not None:
            # The level's id; in 2.1 its path of ids, with or without the hierarchy's id before it.
            last = named.rpartition(".")[2]
            return next((level for level in self.levels if level.id == last), None)
        return self.levels[node.depth - 1] if node.depth <= len(self.levels) else None

    def code_of(self, node: HierarchyNode) -> Code:
        """Return the code of a node: see ``HierarchyNode.code``."""
        urn = node.code_urn
        if urn is None:
            alias = node.hierarchical_code.codelist_alias
            raise ArtefactNotFoundError(
                f"looking up the code of {node.path} in {self.urn}: no included codelist is called {alias!r}"
            )
        found = self._look_up(late_bound(urn, self.urn))
        if not isinstance(found, Code):
            raise UrnError(f"looking up the code of {node.path} in {self.urn}: {urn} is not a code")
        return found

    @cached_property
    def _by_code_urn(self) -> dict[Urn, tuple[HierarchyNode, ...]]:
        return _grouped((one.code_urn, one) for one in self.walk() if one.code_urn is not None)

    @cached_property
    def _by_code_id(self) -> dict[str, tuple[HierarchyNode, ...]]:
        return _grouped((_code_id(one), one) for one in self.walk())


def _code_id(node: HierarchyNode) -> str:
    urn = node.code_urn
    return (urn.item if urn is not None else node.hierarchical_code.code_id) or node.id


def _grouped(pairs: Iterable[tuple[K, HierarchyNode]]) -> dict[K, tuple[HierarchyNode, ...]]:
    found: dict[K, list[HierarchyNode]] = {}
    for key, node in pairs:
        found.setdefault(key, []).append(node)
    return {key: tuple(nodes) for key, nodes in found.items()}


def _walk(start: Iterable[HierarchyNode]) -> Iterator[HierarchyNode]:
    stack = list(start)[::-1]
    while stack:
        node = stack.pop()
        yield node
        stack += reversed(node.children)
