"""Codelists (including geographic codelists) and value lists.

Source: SDMX 3.1 Section 2, "Codelist" and "Value List"; SDMXStructureCodelist.xsd.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from kafka_replica.common.html_tables import TableRows
from kafka_replica.common.wording import quoted
from kafka_replica.sdmx.containers import NO_TEXT, InternationalString, Items, stub_error
from kafka_replica.sdmx.model.base import Annotation, ItemScheme, Maintainable, Nameable
from kafka_replica.sdmx.model.value_object import ValueObject
from kafka_replica.sdmx.urns.urn import Urn


class Code(Nameable, frozen=True, gc=False, kw_only=True):
    """A code; ``parent`` is the id of another code of the list."""

    parent: str | None = None

    def _facts(self) -> Iterator[str]:
        yield from super()._facts()
        if self.parent is not None:
            yield f"below {self.parent}"


class GeoFeatureSetCode(Code, frozen=True, gc=False, kw_only=True):
    """A code of a geographic codelist; ``value`` is its set of features, in the standard's notation for geometry."""

    value: str | None = None


class GeoGridCode(Code, frozen=True, gc=False, kw_only=True):
    """A code of a grid; ``geo_cell`` identifies the cell."""

    geo_cell: str | None = None


class MemberValue(ValueObject, frozen=True, gc=False):
    """A selected code of an extension: an id, or a pattern with ``%``; the cascade is true, false or excluderoot."""

    value: str
    cascade_values: str | None = None


class CodelistExtension(ValueObject, frozen=True, gc=False, kw_only=True):
    """A codelist that is extended (3.x); its codes are not copied here."""

    codelist: Urn
    prefix: str | None = None
    inclusive: tuple[MemberValue, ...] = ()
    exclusive: tuple[MemberValue, ...] = ()


class Codelist(ItemScheme, frozen=True, gc=False, kw_only=True):
    """A codelist: its own codes by id, in the order of the message."""

    items_field: ClassVar[str] = "codes"

    codes: Items[Code]
    extensions: tuple[CodelistExtension, ...] = ()


class GeographicCodelist(Codelist, frozen=True, gc=False, kw_only=True):
    """A codelist whose codes are sets of geographic features (``GeoFeatureSetCode``)."""


class GeoGridCodelist(Codelist, frozen=True, gc=False, kw_only=True):
    """A codelist whose codes are cells of a grid (``GeoGridCode``)."""

    grid_definition: str | None = None


class ValueItem(ValueObject, frozen=True, gc=False, kw_only=True):
    """A value of a value list. Its id may be any text ("¥"), so it has no URN."""

    id: str
    names: InternationalString = NO_TEXT
    descriptions: InternationalString = NO_TEXT
    annotations: tuple[Annotation, ...] = ()

    def __repr__(self) -> str:
        name = self.name()
        return f"<ValueItem {self.id}{'' if name is None else f' {quoted(name)}'}>"

    def name(self, language: str | None = None) -> str | None:
        """Return the name in that language or None; without a language, the English name, else the first."""
        return self.names.in_language(language)

    def description(self, language: str | None = None) -> str | None:
        """Return the description, selected as in :meth:`name`."""
        return self.descriptions.in_language(language)


class ValueList(Maintainable, frozen=True, gc=False, kw_only=True):
    """A value list (3.x). Ids may repeat: the standard's own sample has "¥" for two currencies."""

    value_items: tuple[ValueItem, ...] = ()

    @property
    def values(self) -> tuple[ValueItem, ...]:
        """The values in the order of the message. Raises UnreadableContentError for a stub."""
        if self.is_stub:
            raise stub_error(self.urn)
        return self.value_items

    def _table(self) -> TableRows:
        rows = ((value.id, value.name()) for value in self.value_items)
        return TableRows(("id", "name"), rows, len(self.value_items), "value")
