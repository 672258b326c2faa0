"""The artefacts of an answer: those that a query matches, and related ones, in the requested detail."""

from __future__ import annotations

from datetime import date
from typing import Final, NamedTuple

from kafka_replica.sdmx import SdmxError, Structures, Urn
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.grammar import Detail
from kafka_replica.server.rest.inherited_codes import read_artefacts
from kafka_replica.server.rest.matching_artefacts import select
from kafka_replica.server.rest.partial_schemes import reduced
from kafka_replica.server.rest.query import StructureQuery
from kafka_replica.server.rest.references import related_urns
from kafka_replica.server.rest.settings import RestSettings
from kafka_replica.server.rest.stubs import as_stub

_COMPLETE: Final = {Detail.ALL_COMPLETE_STUBS, Detail.REFERENCE_COMPLETE_STUBS}
_STUBS: Final = {Detail.ALL_STUBS, Detail.REFERENCE_STUBS, *_COMPLETE}


class Contents(NamedTuple):
    """The artefacts of an answer by URN, sorted: those that the query matches, and those that ``references`` adds.

    ``errors`` maps artefacts that belong to the answer but cannot be read to the reason. ``unsearched`` is the number
    of unreadable records of the version, which may refer to the artefacts. ``has_others`` is true if the query names
    readable artefacts that lack the items or the role that it requests. ``is_reduced`` is true if a matched artefact
    has only the items that the query names.
    """

    matched: dict[Urn, Artefact]
    related: dict[Urn, Artefact]
    errors: dict[Urn, SdmxError]
    unsearched: int = 0
    has_others: bool = False
    is_reduced: bool = False

    @property
    def artefacts(self) -> list[Artefact]:
        """All artefacts, the matched artefacts first."""
        return [*self.matched.values(), *self.related.values()]


def contents_of(query: StructureQuery, structures: Structures, settings: RestSettings, day: date | None) -> Contents:
    """Return the artefacts that answer a query.

    Args:
        query: the query.
        structures: the version.
        settings: the settings, of which ``base_url`` is used.
        day: the date on which constraints must be valid (only for ``referencepartial``).
    """
    matched, roots, errors, has_others, is_reduced = select(query, structures)
    if not query.references:
        found = Contents(matched, {}, errors, has_others=has_others, is_reduced=is_reduced)
        return _detailed(query, found, structures, settings, day)
    urns = (urn for urn in related_urns(query, roots, structures) if urn not in matched and urn not in errors)
    # A stub needs no codes, so that codelists which cannot be expanded are not omitted.
    detail = Detail.ALL_STUBS if query.detail in _STUBS else query.detail
    related = read_artefacts(urns, structures, detail)
    unsearched = len(structures.unreadable_records())
    found = Contents(matched, related.artefacts, errors | related.errors, unsearched, has_others, is_reduced)
    return _detailed(query, found, structures, settings, day)


def _detailed(
    query: StructureQuery, found: Contents, structures: Structures, settings: RestSettings, day: date | None
) -> Contents:
    base_url = settings.base_url
    detail, is_complete = query.detail, query.detail in _COMPLETE
    if detail is Detail.REFERENCE_PARTIAL:
        return found._replace(related=reduced(found.matched, found.related, structures, day=day))
    if detail in _STUBS:
        related = {
            urn: as_stub(value, is_complete=is_complete, base_url=base_url) for urn, value in found.related.items()
        }
        found = found._replace(related=related)
    if detail in {Detail.ALL_STUBS, Detail.ALL_COMPLETE_STUBS}:
        matched = {
            urn: as_stub(value, is_complete=is_complete, base_url=base_url) for urn, value in found.matched.items()
        }
        found = found._replace(matched=matched)
    return found
