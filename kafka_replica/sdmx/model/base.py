"""The common part of artefacts, items and components: URN, names, annotations, validity.

``gc=False`` here and in the rest of the model: no object of the model can be part of a cycle, and the garbage collector
would traverse every code of every list without result.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, ClassVar, Final

import msgspec

from kafka_replica.common.html_tables import TableRows
from kafka_replica.common.wording import counted, quoted, singular_of
from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items, StubItems, StubTuple
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn, own_id

_NAME: Final = 60


class Annotation(ValueObject, frozen=True, gc=False, kw_only=True):
    """An annotation; ``urls`` holds AnnotationURL by language (by default English), ``value`` AnnotationValue (3.x)."""

    id: str | None = None
    title: str | None = None
    type: str | None = None
    value: str | None = None
    urls: InternationalString = NO_TEXT
    text: InternationalString = NO_TEXT

    @property
    def url(self) -> str | None:
        """The URL in English, else the first URL."""
        return self.urls.in_language()


class Link(ValueObject, frozen=True, gc=False, kw_only=True):
    """A link of 3.x; only SDMX-JSON has a second address (``uri``), a language of the target, and titles."""

    rel: str | None = None
    url: str | None = None
    urn: str | None = None
    type: str | None = None
    uri: str | None = None
    hreflang: str | None = None
    titles: InternationalString = NO_TEXT


class Identifiable(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """Anything with a URN: artefacts, items, components, groups."""

    urn: Urn
    annotations: tuple[Annotation, ...] = ()
    links: tuple[Link, ...] = ()
    uri: str | None = None

    def __repr__(self) -> str:
        facts = "".join(f" {fact}" for fact in self._facts())
        return f"<{type(self).__name__} {self.urn.reference}{facts}>"

    def _facts(self) -> Iterator[str]:
        """Yield the facts that ``repr`` shows in addition to the class and the reference."""
        return iter(())

    @property
    def id(self) -> str:
        """The object's own id: the id of the artefact or item; of an item with a path, the last part of the path."""
        return own_id(self.urn)


class Nameable(Identifiable, frozen=True, gc=False, kw_only=True):
    """Anything with names and descriptions."""

    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT

    def _facts(self) -> Iterator[str]:
        name = self.name()
        if name is not None:
            yield quoted(name, _NAME)

    def name(self, language: str | None = None) -> str | None:
        """Return the name in that language or None; without a language, the English name, else the first."""
        return self.names.in_language(language)

    def description(self, language: str | None = None) -> str | None:
        """Return the description, selected as in :meth:`name`."""
        return self.descriptions.in_language(language)


class Maintainable(Nameable, frozen=True, gc=False, kw_only=True):
    """Anything with an agency and a version.

    ``is_partial`` means that items are left out, ``is_partial_language`` (3.1) that languages are left out.
    """

    valid_from: str | None = None
    valid_to: str | None = None
    is_final: bool = False
    is_partial: bool = False
    is_partial_language: bool = False
    is_external_reference: bool = False
    service_url: str | None = None
    structure_url: str | None = None

    def _facts(self) -> Iterator[str]:
        yield from super()._facts()
        if self.is_stub:
            yield "stub"
            return
        facts = [counted(count, singular_of(what)) for what, count in self._counts()]
        facts += ["partial"] if self.is_partial else []
        if facts:
            yield ", ".join(facts)

    def _counts(self) -> Iterator[tuple[str, int]]:
        """Yield the plural name and the number of the artefact's parts, for each kind of part that it has."""
        for name in _content_fields(type(self)):
            held = getattr(self, name)
            if isinstance(held, (Items, tuple)) and len(held):
                yield name.replace("_", " "), len(held)

    def _repr_html_(self) -> str | None:
        rows = None if self.is_stub else self._table()
        return None if rows is None else rows.html(repr(self)[1:-1])

    def _table(self) -> TableRows | None:
        """Return the rows that a notebook shows; None for a class that has no items, components or mappings."""
        return None

    @property
    def agency(self) -> str:
        """The agency that maintains the artefact."""
        return self.urn.agency

    @property
    def version(self) -> str:
        """The version of the artefact."""
        return self.urn.version

    @property
    def is_stub(self) -> bool:
        """True if the content is stored elsewhere; access to the items then raises UnreadableContentError."""
        if not self.is_external_reference:
            return False
        content = [getattr(self, name) for name in _content_fields(type(self))]
        return any(isinstance(one, (StubItems, StubTuple)) for one in content) or not any(content)


@cache
def _content_fields(kind: type[Maintainable]) -> tuple[str, ...]:
    return tuple(name for name in kind.__struct_fields__ if name not in Maintainable.__struct_fields__)


class ItemScheme(Maintainable, frozen=True, gc=False, kw_only=True):
    """An artefact that consists of items: ``items`` regardless of their kind; the field with their own name is typed.

    ``items_field`` and ``children_field`` name the fields that hold the items, and the items below an item.
    """

    items_field: ClassVar[str]
    children_field: ClassVar[str | None] = None

    def _counts(self) -> Iterator[tuple[str, int]]:
        if not len(self.items):
            yield self.items_field.replace("_", " "), 0
        yield from super()._counts()

    def _table(self) -> TableRows:
        unit = singular_of(self.items_field.replace("_", " "))
        return TableRows(("id", "name", "parent"), self._rows(), len(self.items), unit)

    def _rows(self) -> Iterator[tuple[object, ...]]:
        for id_ in self.items:  # one at a time: of a long list, only the items shown are created
            item = self.items[id_]
            name = getattr(item, "name", None)
            yield id_, name() if callable(name) else None, getattr(item, "parent", None)

    @property
    def items(self) -> Items[Any]:
        """The items of the first level by id. In a stub, any access to them raises."""
        found: Items[Any] = getattr(self, self.items_field)
        return found

    def item(self, path: str) -> Any:
        """Return the item of a path, as written in a URN ("A", or "A.B" for nested items), or None."""
        found: Any = self.items.get(path)
        if found is not None or self.children_field is None:
            return found
        level, found = self.items, None
        for part in path.split("."):
            found = level.get(part)
            if found is None:
                return None
            level = getattr(found, self.children_field)
        return found

    def children_of(self, path: str) -> tuple[Any, ...]:
        """Return the items right below an item, in order: those that name it as their parent, or that it holds.

        Args:
            path: the id of the item, or its path as written in a URN.

        Raises:
            ArtefactNotFoundError: there is no such item.
            UnreadableContentError: this is a stub.
        """
        item = self._existing(path)
        if self.children_field is not None:
            return tuple(getattr(item, self.children_field).values())
        return tuple(self.items[one] for one in self.items.child_ids.get(item.id, ()))

    def descendants_of(self, path: str) -> tuple[Any, ...]:
        """Return all items below an item, each before those below it. Raises the errors of :meth:`children_of`."""
        found: dict[Urn, Any] = {}
        stack = list(self.children_of(path))[::-1]
        while stack:
            item = stack.pop()
            if item.urn not in found:
                found[item.urn] = item
                stack += self.children_of(item.urn.item)[::-1]
        found.pop(self._existing(path).urn, None)  # parents may form a cycle
        return tuple(found.values())

    def ancestors_of(self, path: str) -> tuple[Any, ...]:
        """Return the items above an item, nearest first. Raises the errors of :meth:`children_of`."""
        item = self._existing(path)
        if self.children_field is not None:
            parts = path.split(".")
            return tuple(self.item(".".join(parts[:end])) for end in range(len(parts) - 1, 0, -1))
        found: dict[str, Any] = {}
        parent = getattr(item, "parent", None)
        while parent is not None and parent in self.items and parent not in found and parent != item.id:
            found[parent] = self.items[parent]
            parent = getattr(found[parent], "parent", None)
        return tuple(found.values())

    def _existing(self, path: str) -> Any:
        found = self.item(path)
        if found is None:
            raise ArtefactNotFoundError(f"looking for {path!r} in {self.urn}: the item does not exist; check the id")
        return found
