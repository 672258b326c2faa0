"""Hierarchies of codes.

Source: SDMX 3.1 Section 2, "Hierarchy"; SDMX 2.1 Section 2, "Hierarchical Codelist";
SDMXStructureHierarchicalCodelist.xsd of both.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from kafka_replica.sdmx.containers import NO_ITEMS, Items
from kafka_replica.sdmx.model.base import Identifiable, ItemScheme, Maintainable, Nameable
from kafka_replica.sdmx.model.representation import TextFormat
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class Level(Nameable, frozen=True, gc=False, kw_only=True):
    """A level of a hierarchy, and the next lower level."""

    coding_format: TextFormat | None = None
    level: Level | None = None


class HierarchicalCode(Identifiable, frozen=True, gc=False, kw_only=True):
    """A code of some codelist at its position in a hierarchy, and the codes below it.

    ``level`` is the id (2.1: the path) of its level. In 2.1 the code may be named by ``codelist_alias``
    (see ``IncludedCodelist``) and ``code_id``; they determine ``code`` if the alias is known.
    """

    code: Urn | None = None
    codes: Items[HierarchicalCode] = NO_ITEMS
    level: str | None = None
    valid_from: str | None = None
    valid_to: str | None = None
    codelist_alias: str | None = None
    code_id: str | None = None
    version: str | None = None

    def walk(self) -> Iterator[HierarchicalCode]:
        """Yield this code and all codes below it, parents first."""
        stack: list[HierarchicalCode] = [self]
        while stack:
            code = stack.pop()
            yield code
            stack.extend(reversed(list(code.codes.values())))


class Hierarchy(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A hierarchy (3.x): its codes of the first level by id; each code holds the codes below it."""

    items_field: ClassVar[str] = "codes"
    children_field: ClassVar[str] = "codes"

    codes: Items[HierarchicalCode]
    level: Level | None = None
    has_formal_levels: bool = False

    def walk(self) -> Iterator[HierarchicalCode]:
        """Yield all codes of the hierarchy, parents first."""
        for code in self.codes.values():
            yield from code.walk()


class IncludedCodelist(ValueObject, frozen=True, gc=False, kw_only=True):
    """A codelist that a hierarchical codelist uses, and its alias there (2.1)."""

    alias: str
    codelist: Urn


class HierarchyOfCodelist(Nameable, frozen=True, gc=False, kw_only=True):
    """A hierarchy within a hierarchical codelist (2.1; class Hierarchy)."""

    codes: Items[HierarchicalCode] = NO_ITEMS
    level: Level | None = None
    has_formal_levels: bool = False

    def walk(self) -> Iterator[HierarchicalCode]:
        """Yield all codes of the hierarchy, parents first."""
        for code in self.codes.values():
            yield from code.walk()


class HierarchicalCodelist(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A hierarchical codelist (2.1, 2.0): its hierarchies by id."""

    items_field: ClassVar[str] = "hierarchies"
    children_field: ClassVar[str] = "codes"

    hierarchies: Items[HierarchyOfCodelist]
    included_codelists: tuple[IncludedCodelist, ...] = ()


class HierarchyAssociation(Maintainable, frozen=True, gc=False, kw_only=True):
    """An association of a hierarchy with an object, in a context (3.x); all None in a stub."""

    linked_hierarchy: Urn | None = None
    linked_object: Urn | None = None
    context_object: Urn | None = None
