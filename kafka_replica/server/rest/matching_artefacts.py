"""Selection of the artefacts that a query matches, by class, agency, id and version, and of their items."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import NamedTuple

from kafka_replica.sdmx import SdmxError, Structures, Urn
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.lookups.patterns import pattern
from kafka_replica.sdmx.model import Artefact, Codelist, Constraint, ContentConstraint, OpaqueArtefact, ValueList
from kafka_replica.server.rest.grammar import ALL_ITEMS, SEPARATORS, Api, Detail, Resource
from kafka_replica.server.rest.inherited_codes import read_artefacts
from kafka_replica.server.rest.items import with_items
from kafka_replica.server.rest.query import StructureQuery


class SelectedArtefacts(NamedTuple):
    """The artefacts that a query matches, and the errors of matching artefacts that cannot be read.

    ``roots`` are the URNs from which references start: those of the artefacts or, in a query for items, of the items.
    ``has_others`` is true if readable artefacts lack the items or the role that the query requests. ``is_reduced`` is
    true if an artefact has only the items that the query names.
    """

    artefacts: dict[Urn, Artefact]
    roots: tuple[Urn, ...]
    errors: dict[Urn, SdmxError]
    has_others: bool
    is_reduced: bool = False


def select(query: StructureQuery, structures: Structures) -> SelectedArtefacts:
    """Return the artefacts that a query matches, without their references, sorted."""
    read = read_artefacts(matching_urns(query, structures), structures, query.detail)
    artefacts = {urn: each for urn, each in read.artefacts.items() if _has_role(each, query.resource)}
    if not query.items:
        return SelectedArtefacts(artefacts, tuple(artefacts), read.errors, len(artefacts) < len(read.artefacts))
    partial: dict[Urn, tuple[Artefact, list[Urn]]] = {}
    for urn, each in artefacts.items():
        try:
            found = _with_items(each, query) or _with_inherited_items(each, query, structures)
        except SdmxError as error:
            read.errors[urn] = error
            continue
        if found is not None:
            partial[urn] = found
    roots = tuple(item for _, items in partial.values() for item in items)
    reduced = {urn: artefact for urn, (artefact, _) in partial.items()}
    is_reduced = any(artefact is not artefacts[urn] for urn, artefact in reduced.items())
    return SelectedArtefacts(reduced, roots, read.errors, len(reduced) < len(read.artefacts), is_reduced)


def _with_inherited_items(
    artefact: Artefact, query: StructureQuery, structures: Structures
) -> tuple[Artefact, list[Urn]] | None:
    """Return the same for a codelist of which a stub is requested, and which is not read with the codes it inherits.

    Raises:
        SdmxError: they cannot be read.
    """
    is_stub = query.detail in {Detail.ALL_STUBS, Detail.ALL_COMPLETE_STUBS}
    if is_stub and isinstance(artefact, Codelist) and artefact.extensions:
        return _with_items(structures.expand(artefact), query)
    return None


def _with_items(artefact: Artefact, query: StructureQuery) -> tuple[Artefact, list[Urn]] | None:
    """Return a copy of an artefact with the items that a query names, and the URNs from which references start.

    If the query means all items, this is the artefact itself.
    """
    if query.api is Api.V1:
        return with_items(artefact, query.items)
    held = {value.id for value in artefact.values} if isinstance(artefact, ValueList) and not artefact.is_stub else ()
    wanted = [id_ for item in query.items for id_ in ([item] if item in held else _ids(item))]
    if "*" in wanted or (ALL_ITEMS in wanted and with_items(artefact, {ALL_ITEMS}) is None):
        return artefact, [artefact.urn]
    return with_items(artefact, wanted)


def _ids(item: str) -> list[str]:
    """Return the ids between the commas of an item; only the item itself if there is nothing between two commas."""
    ids = item.split(SEPARATORS[Api.V2])
    return ids if all(ids) else [item]


def matching_urns(query: StructureQuery, structures: Structures) -> list[Urn]:
    """Return the URNs that a query matches, sorted; reads no artefact unless messages contain several artefacts."""
    found: set[Urn] = set()
    companions = cache(lambda: KeyIndex(structures.companions()))  # they are collected from the whole version, once
    for cls in query.resource.classes:
        for agency in query.agencies or ("*",):
            for id_ in query.ids or ("*",):
                found.update(_versions_of(query, structures, companions, cls, agency, id_))
    return sorted(found)


def _versions_of(
    query: StructureQuery, structures: Structures, companions: Callable[[], KeyIndex], cls: str, agency: str, id_: str
) -> Iterator[Urn]:
    exact = [expression.exact for expression in query.versions]
    if "*" not in {agency, id_} and all(exact):
        for version in exact:
            held = structures.exact(cls, agency, id_, version or "")
            if held is not None:
                yield held
        return
    by_artefact: dict[tuple[str, str], dict[str, Urn]] = {}
    for urn in (*structures.find(cls, agency, id_), *companions().find(cls, pattern(agency), pattern(id_))):
        by_artefact.setdefault((urn.agency, urn.id), {})[urn.version] = urn
    for versions in by_artefact.values():
        for expression in query.versions:
            for version in expression.select(versions):
                yield versions[version]


def _has_role(artefact: Artefact, resource: Resource) -> bool:
    """Return whether a constraint has the role of the resource; by default, that of SDMX 2.1 describes actual data."""
    if resource.role is None or isinstance(artefact, OpaqueArtefact) or not isinstance(artefact, Constraint):
        return resource.role is None
    default = "Actual" if isinstance(artefact, ContentConstraint) else "Allowed"
    return (artefact.role or default).lower() == resource.role.lower()
