"""The artefacts that an answer has besides the artefacts that its query matches (``references``).

Source: SDMX REST 2.2.2, doc/structures.md (``references``, "Applicability and meaning of references"). The name of a
resource means the parents and children of its classes, as the conformance kit of SDMX checks it. An artefact of 2.x
refers to the agency scheme with its agency, and so an agency scheme has all artefacts of its agencies as parents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.lookups.references import walk
from kafka_replica.sdmx.model import AgencyScheme
from kafka_replica.server.rest.grammar import Api, Detail, References, resources
from kafka_replica.server.rest.query import StructureQuery

_CODELISTS: Final = {"Codelist", "GeographicCodelist", "GeoGridCodelist"}
_TOP_LEVEL: Final = "SDMX"


def related_urns(query: StructureQuery, roots: Iterable[Urn], structures: Structures) -> list[Urn]:
    """Return the artefacts that the references of a query add to the artefacts or items it matches, sorted."""
    graph = _Graph(query, structures)
    found: set[Urn] = set()
    for value in query.references:
        collect = _BY_VALUE.get(value)
        for root in roots:
            if collect is not None:
                found.update(collect(graph, root))
            else:
                classes = resources(query.api)[value].classes
                found.update(one for one in (*graph.parents(root), *graph.children(root)) if one.cls in classes)
    return sorted(found)


class _Graph:
    """The references of one version as a query sees them."""

    def __init__(self, query: StructureQuery, structures: Structures) -> None:
        self._structures = structures
        self._has_agencies = query.api is Api.V2
        self._is_raw = query.detail is Detail.RAW

    def children(self, urn: Urn) -> tuple[Urn, ...]:
        found = tuple(self._structures.children(urn))
        if not self._is_raw and urn.cls in {*_CODELISTS, "Code", "GeoFeatureSetCode", "GeoGridCode"}:
            # The codes of the lists that it extends are in it already.
            found = tuple(one for one in found if one.cls not in _CODELISTS)
        scheme = self._agency_scheme(urn.agency) if self._has_agencies else None
        return found if scheme is None or scheme in {urn.maintainable, *found} else (*found, scheme)

    def parents(self, urn: Urn) -> tuple[Urn, ...]:
        found = tuple(self._structures.parents(urn))
        return (
            (*found, *self._maintained(urn)) if self._has_agencies and urn.cls in {"AgencyScheme", "Agency"} else found
        )

    def siblings(self, urn: Urn) -> Iterable[Urn]:
        parents = self.parents(urn)
        return {*parents, *(child for parent in parents for child in self.children(parent))}

    def descendants(self, urn: Urn) -> tuple[Urn, ...]:
        return walk(urn, self.children)

    def ancestors(self, urn: Urn) -> tuple[Urn, ...]:
        return walk(urn, self.parents)

    def all(self, urn: Urn) -> Iterable[Urn]:
        return {*self.siblings(urn), *self.descendants(urn)}

    def _agency_scheme(self, agency: str) -> Urn | None:
        return self._structures.locate(agency_scheme_urn(agency))

    def _maintained(self, urn: Urn) -> Iterable[Urn]:
        scheme = self._structures.get(urn.maintainable)
        if not isinstance(scheme, AgencyScheme) or scheme.is_stub:
            return
        for id_ in scheme.organisations if urn.item is None else [urn.item]:
            agency = id_ if scheme.agency == _TOP_LEVEL else f"{scheme.agency}.{id_}"
            yield from (one for one in self._structures.find(agency=agency) if one != scheme.urn)


def agency_scheme_urn(agency: str) -> Urn:
    """Return the URN of the scheme that holds an agency: ``ECB.DISS`` is the agency DISS in the scheme of ECB.

    Source: SDMX 3.0 Section 2, "Agency Scheme"; its id and version are fixed.
    """
    above = agency.rpartition(".")[0]
    return Urn.of("AgencyScheme", above or _TOP_LEVEL, "AGENCIES", "1.0")


_BY_VALUE: Final[dict[str, Callable[[_Graph, Urn], Iterable[Urn]]]] = {
    References.PARENTS: _Graph.parents,
    References.PARENTS_AND_SIBLINGS: _Graph.siblings,
    References.ANCESTORS: _Graph.ancestors,
    References.CHILDREN: _Graph.children,
    References.DESCENDANTS: _Graph.descendants,
    References.ALL: _Graph.all,
}
