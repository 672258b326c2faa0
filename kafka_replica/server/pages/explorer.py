"""The explorer: the structures of a version by class, agency, id and text."""

from __future__ import annotations

from collections import Counter
from typing import Any, Final, NamedTuple

from starlette.requests import Request

from kafka_replica.sdmx import Structures, Urn
from kafka_replica.sdmx.lookups.patterns import fitting, pattern
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.pages.links import Address, Links
from kafka_replica.server.pages.paging import page_of, start_of
from kafka_replica.server.pages.search import search, words_of
from kafka_replica.server.pages.search_index import SearchIndex

SIZE: Final = 50
LIMIT_S: Final = 1.0
"""The time after which a search ends; the next page continues it."""
_AGENCIES: Final = 500
_WILDCARDS: Final = 2  # the time to match a pattern grows exponentially with the number of wildcards


class Query(NamedTuple):
    """The parameters of the explorer; an empty parameter selects everything."""

    cls: str = ""
    agency: str = ""
    id: str = ""
    text: str = ""
    start: int = 0
    names_only: bool = False

    @staticmethod
    def of(request: Request) -> Query:
        """Parse the parameters of a request.

        Raises:
            Problem: 400 if a parameter is invalid.
        """
        cls, agency, id_, text = (request.query_params.get(name, "").strip() for name in ("class", "agency", "id", "q"))
        if any(value.count("*") > _WILDCARDS for value in (cls, agency, id_)):
            raise Problem(400, f"class, agency and id may have {_WILDCARDS} wildcards (*) each")
        where = request.query_params.get("in", "")
        if where not in {"", "names"}:
            raise Problem(400, "in must be names or empty: where to search the words")
        return Query(cls, agency, id_, text, start_of(request), where == "names")

    @property
    def address(self) -> Address:
        """The page of the query, without ``start``."""
        parameters = {"class": self.cls, "agency": self.agency, "id": self.id, "q": self.text, "in": self._where}
        return Address(("structures",)).with_parameters(**parameters)

    @property
    def _where(self) -> str:
        return "names" if self.names_only else ""


def explorer_context(
    query: Query,
    structures: Structures,
    index: SearchIndex,
    links: Links,
    pinned: Links,
    *,
    size: int = SIZE,
    limit_s: float = LIMIT_S,
) -> dict[str, Any]:
    """Return the values for the template.

    Args:
        query: the parameters.
        structures: the version.
        index: the texts to search.
        links: the links of the page.
        pinned: the links that are pinned to the version, for other parts of the list.
        size: the number of structures on a page.
        limit_s: the time after which the search ends.
    """
    every = all_urns(structures)
    urns = matching(every, query)
    words = words_of(query.text)
    found = search(structures, index, urns, words, query.start, size, limit_s, names_only=query.names_only)
    address = query.address
    page = page_of(address, pinned, query.start, size, len(urns))
    is_more = found.end < len(urns)
    following = pinned.to(address.with_parameters(start=found.end)) if is_more else None
    agencies = sorted({urn.agency for urn in every})
    return {
        "section": "structures",
        "here": address.with_parameters(start=query.start or ""),
        "action": links.page("structures"),
        "query": query,
        "classes": sorted(Counter(urn.cls for urn in every).items()),
        "agencies": agencies[:_AGENCIES],
        "words": words,
        "matches": found.found,
        "examined": found.end - min(query.start, found.end),
        "page": page._replace(last=found.end, following=following, previous=None if words else page.previous),
        "first": pinned.to(address) if words and query.start else None,
    }


def all_urns(structures: Structures) -> list[Urn]:
    """Return the URNs of all structures of a version, sorted, including structures in the records of others."""
    companions = structures.companions()
    return sorted({*structures.urns, *companions}) if companions else list(structures.urns)


def matching(urns: list[Urn], query: Query) -> list[Urn]:
    """Return the URNs whose class, agency and id match the query."""
    wanted = [pattern(value) if value else None for value in (query.cls, query.agency, query.id)]
    if wanted == [None, None, None]:
        return urns
    cls, agency, id_ = wanted
    return [
        urn
        for urn in urns
        if (cls is None or fitting(cls, urn.cls))
        and (agency is None or fitting(agency, urn.agency))
        and (id_ is None or fitting(id_, urn.id))
    ]
