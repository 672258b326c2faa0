"""Artefacts as tables in notebooks: their items, components or mappings."""

from __future__ import annotations

from collections.abc import Iterator

from kafka_replica.common.html_tables import html_table
from kafka_replica.common.wording import singular_of
from kafka_replica.sdmx.base import ItemScheme, Maintainable
from kafka_replica.sdmx.lookups.resolved import ResolvedStructure
from kafka_replica.sdmx.model import Component, DataStructure, RepresentationMap, ValueList

_Rows = Iterator[tuple[object, ...]]


def artefact_html(artefact: Maintainable) -> str | None:
    """Return a table of an artefact's content; None for stubs, and for classes without items, components or rows."""
    title = repr(artefact)[1:-1]
    if artefact.is_stub:
        return None
    if isinstance(artefact, ItemScheme):
        unit = singular_of(artefact.items_field.replace("_", " "))
        return html_table(title, ("id", "name", "parent"), _items(artefact), len(artefact.items), unit)
    if isinstance(artefact, ValueList):
        rows = ((one.id, one.name()) for one in artefact.values)
        return html_table(title, ("id", "name"), rows, len(artefact.values), "value")
    if isinstance(artefact, DataStructure):
        found = artefact.components
        columns = ("id", "kind", "concept", "values")
        return html_table(title, columns, map(_component, found), len(found), "component")
    if isinstance(artefact, RepresentationMap):
        return html_table(title, ("source", "target"), _mappings(artefact), len(artefact.mappings), "mapping")
    return None


def resolved_html(resolved: ResolvedStructure) -> str:
    """Return a table of the components of a resolved structure."""
    found = resolved.components
    rows = ((one.id, one.kind, one.values_text()) for one in found.values())
    return html_table(repr(resolved)[1:-1], ("id", "kind", "values"), rows, len(found), "component")


def _items(scheme: ItemScheme) -> _Rows:
    for id_ in scheme.items:  # one at a time: of a long list, only the items shown are created
        item = scheme.items[id_]
        name = getattr(item, "name", None)
        yield id_, name() if callable(name) else None, getattr(item, "parent", None)


def _component(component: Component) -> tuple[object, ...]:
    values = component.representation
    shown = None
    if values is not None and values.enumeration is not None:
        shown = values.enumeration.reference
    elif values is not None and values.format is not None:
        shown = values.format.text_type
    concept = None if component.concept is None else component.concept.reference
    return component.id, component.urn.cls, concept, shown


def _mappings(map_: RepresentationMap) -> _Rows:
    for one in map_.mappings:
        yield ", ".join(source.value for source in one.sources), ", ".join(target or "" for target in one.targets)
