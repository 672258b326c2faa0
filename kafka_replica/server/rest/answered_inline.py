"""Recognition of requests that are cheaper to answer than to pass to a thread: for one small artefact by full name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafka_replica.sdmx import Urn, UrnError
from kafka_replica.server.rest.grammar import ALL_ITEMS
from kafka_replica.server.rest.query import StructureQuery
from kafka_replica.server.rest.query_parser import CACHED_LENGTH, parse_query
from kafka_replica.server.rest.request_and_answer import RestRequest

MAX_INLINE_BYTES: Final = 32_768
"""The maximum size of the messages of an answer that is computed in the event loop; each takes about a millisecond."""


def is_quick(request: RestRequest, size_of: Callable[[str], int | None]) -> bool:
    """Return whether a request is answered within about a millisecond, because it names one small artefact.

    Args:
        request: the request.
        size_of: returns the size in bytes of the record with a key, or a greater number if its artefact may take longer
            than its size suggests; None if there is no such record.
    """
    if len(request.path) + len(request.query) > CACHED_LENGTH:
        return False  # parsing takes long, and the thread that answers would parse the query again
    query = parse_query(request.path, request.query)
    if not isinstance(query, StructureQuery) or query.references or query.as_of is not None:
        return False
    if query.items not in {(), (ALL_ITEMS,)}:
        return False
    sizes = [size for urn in _named(query) if (size := size_of(str(urn))) is not None]
    return bool(sizes) and sum(sizes) <= MAX_INLINE_BYTES


def _named(query: StructureQuery) -> list[Urn]:
    """Return the only URNs that a query can match, one for each class; empty if it may match others."""
    if any(len(each) != 1 for each in (query.agencies, query.ids, query.versions)):
        return []
    version = query.versions[0].exact
    if version is None:
        return []
    try:
        return [Urn.of(cls, query.agencies[0], query.ids[0], version) for cls in query.resource.classes]
    except UrnError:
        return []
