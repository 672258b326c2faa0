"""The related artefacts that the parameter ``references`` adds to an answer.

Source: SDMX REST 2.2.2, doc/structures.md (``references``, "Applicability and meaning of references"). The name of a
resource adds the parents and children of its classes, as the SDMX conformance kit requires. In 2.x, each artefact
refers to the agency scheme with its agency, so that all artefacts of its agencies are parents of an agency scheme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Final

from kafka_replica.sdmx import SdmxError, Structures, Urn
from kafka_replica.sdmx.lookups.index.keys import KeyIndex
from kafka_replica.sdmx.lookups.patterns import pattern
from kafka_replica.sdmx.model import AgencyScheme
from kafka_replica.server.rest.grammar import Api, Detail, References, referable
from kafka_replica.server.rest.query import StructureQuery

_CODELISTS: Final = {"Codelist", "GeographicCodelist", "GeoGridCodelist"}
_EXTENDED: Final = {*_CODELISTS, "Code", "GeoFeatureSetCode", "GeoGridCode"}
_TOP_LEVEL: Final = "SDMX"
_ANY_TEXT: Final = pattern("*")


def related_urns(query: StructureQuery, roots: Iterable[Urn], structures: Structures) -> list[Urn]:
    """Return the URNs of the artefacts that ``references`` adds to the artefacts or items in ``roots``, sorted."""
    graph = _Graph(query, structures)
    starts = frozenset(roots)
    found: set[Urn] = set()
    for value in query.references:
        collect = _BY_VALUE.get(value)
        if collect is not None:
            found |= collect(graph, starts)
        else:
            classes = referable(query.api)[value].classes
            found |= {urn for urn in graph.parents(starts) | graph.children(starts) if urn.cls in classes}
    return sorted(found | graph.inherited(found))


class _Graph:
    """The references of one version, by the rules for a query; each method takes and returns a set."""

    def __init__(self, query: StructureQuery, structures: Structures) -> None:
        self._structures = structures
        self._has_agencies = query.api is Api.V2
        self._is_raw = query.detail is Detail.RAW

    def children(self, urns: AbstractSet[Urn]) -> set[Urn]:
        return {child for urn in urns for child in self._children(urn)}

    def parents(self, urns: AbstractSet[Urn]) -> set[Urn]:
        return {parent for urn in urns for parent in self._parents(urn)}

    def siblings(self, urns: AbstractSet[Urn]) -> set[Urn]:
        parents = self.parents(urns)
        return parents | self.children(parents)

    def descendants(self, urns: AbstractSet[Urn]) -> set[Urn]:
        return _reachable(urns, self.children)

    def ancestors(self, urns: AbstractSet[Urn]) -> set[Urn]:
        return _reachable(urns, self.parents)

    def inherited(self, urns: AbstractSet[Urn]) -> set[Urn]:
        """Return the codelists whose codes codelists inherit, if the query requests these unchanged; otherwise none."""
        return _reachable(urns, self._extended) if self._is_raw else set()

    def all(self, urns: AbstractSet[Urn]) -> set[Urn]:
        return self.siblings(urns) | self.descendants(urns)

    def _extended(self, urns: AbstractSet[Urn]) -> set[Urn]:
        lists = [urn for urn in urns if urn.cls in _CODELISTS]
        return {child for urn in lists for child in self._structures.children(urn) if child.cls in _CODELISTS}

    def _children(self, urn: Urn) -> Iterable[Urn]:
        for child in self._structures.children(urn):
            # A codelist contains the codes of the codelists that it extends, unless the query requests it unchanged.
            if self._is_raw or child.cls not in _CODELISTS or urn.cls not in _EXTENDED:
                yield child
        scheme = agency_scheme_of(urn.agency, self._structures) if self._has_agencies else None
        if scheme is not None and scheme != urn.maintainable:
            yield scheme

    def _parents(self, urn: Urn) -> Iterable[Urn]:
        yield from self._structures.parents(urn)
        if self._has_agencies and urn.cls in {"AgencyScheme", "Agency"}:
            yield from self._maintained(urn)

    def _maintained(self, urn: Urn) -> Iterable[Urn]:
        try:
            scheme = self._structures.get(urn.maintainable)
        except SdmxError:
            return  # the answer reports that the scheme cannot be read
        if not isinstance(scheme, AgencyScheme) or scheme.is_stub:
            return
        for id_ in scheme.organisations if urn.item is None else [urn.item]:
            agency = id_ if scheme.agency == _TOP_LEVEL else f"{scheme.agency}.{id_}"
            found = (*self._structures.find(agency=agency), *self._companions.find(_ANY_TEXT, agency, _ANY_TEXT))
            yield from (each for each in found if each != scheme.urn)

    @cached_property
    def _companions(self) -> KeyIndex:
        return KeyIndex(self._structures.companions())


def _reachable(starts: AbstractSet[Urn], step: Callable[[AbstractSet[Urn]], set[Urn]]) -> set[Urn]:
    """Return the URNs that one or more steps reach; cycles are safe."""
    found: set[Urn] = set()
    level = set(starts)
    while level:
        level = step(level) - found
        found |= level
    return found


def agency_scheme_of(agency: str, structures: Structures) -> Urn | None:
    """Return the agency scheme of a version that contains an agency, or None; a stub is assumed to contain it."""
    scheme = structures.locate(agency_scheme_urn(agency))
    if scheme is None:
        return None
    try:
        found = structures.get(scheme)
    except SdmxError:
        return scheme  # it may contain the agency; the answer then reports that the scheme cannot be read
    is_held = not isinstance(found, AgencyScheme) or found.is_stub or agency.rpartition(".")[2] in found.organisations
    return scheme if is_held else None


def agency_scheme_urn(agency: str) -> Urn:
    """Return the URN of the scheme that contains an agency: ``ECB.DISS`` is the agency DISS in the scheme of ECB.

    Source: SDMX 3.0 Section 2, "Agency Scheme"; its id and version are fixed.
    """
    above = agency.rpartition(".")[0]
    return Urn.of("AgencyScheme", above or _TOP_LEVEL, "AGENCIES", "1.0")


_BY_VALUE: Final[dict[str, Callable[[_Graph, AbstractSet[Urn]], set[Urn]]]] = {
    References.PARENTS: _Graph.parents,
    References.PARENTS_AND_SIBLINGS: _Graph.siblings,
    References.ANCESTORS: _Graph.ancestors,
    References.CHILDREN: _Graph.children,
    References.DESCENDANTS: _Graph.descendants,
    References.ALL: _Graph.all,
}
