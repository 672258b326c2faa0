"""Answers from stored bytes, for queries to which one stored message in the requested format is the complete answer."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final, NamedTuple

from kafka_replica.sdmx import SdmxError, Structures
from kafka_replica.sdmx.lookups.stored_message import StoredMessage
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.etag import entity_tag, matches, matches_any, media_types_of
from kafka_replica.server.rest.grammar import Api, Detail
from kafka_replica.server.rest.inherited_codes import needs_inherited_codes
from kafka_replica.server.rest.named_artefact import named_artefact
from kafka_replica.server.rest.negotiation import OfferedFormat, offers
from kafka_replica.server.rest.query import StructureQuery
from kafka_replica.server.rest.request_and_answer import VARY, RestAnswer, RestRequest

_STUBS: Final = {Detail.ALL_STUBS, Detail.ALL_COMPLETE_STUBS}
_encoding: Final = re.compile(rb"""\s*<\?xml[^>]*?\sencoding\s*=\s*["']([^"']*)""").match


def stored_answer(
    query: StructureQuery, artefact: Artefact, offer: OfferedFormat, structures: Structures
) -> bytes | None:
    """Return the stored message of the only artefact of an answer, with all its items; None if it has to be written.

    The answer has to be written if the query requests a stub of the artefact or its inherited codes, or if the stored
    message has another format or encoding, or contains other artefacts.
    """
    if query.detail in _STUBS:
        return None
    try:
        stored, written = structures.stored_message(artefact.urn), structures.get(artefact.urn)
    except SdmxError:
        return None
    if needs_inherited_codes(written, query.detail):
        return None
    return stored.data if stored is not None and _is_offered(stored, offer) else None


def unparsed_answer(request: RestRequest, structures: Structures) -> RestAnswer | None:
    """Return the answer to a request for one artefact by its full name, if its stored bytes are known to be the answer.

    This takes microseconds and reads no message. The answer is that of ``answer``, which has to be asked if the result
    is None.
    """
    path, query, accept, known_tags = request
    named = None if query or (known_tags and matches_any(known_tags)) else named_artefact(path)
    accepted = None if named is None else _accepted(accept, named.api)
    if named is None or accepted is None:
        return None
    tag = entity_tag(structures.version, None, request, accepted.types)
    if known_tags and matches(known_tags, tag):
        return RestAnswer(304, (("ETag", tag), VARY), b"")
    stored = structures.complete_message(named.urns)
    if stored is None or not _is_offered(stored, accepted.first):
        return None
    return RestAnswer(200, (("Content-Type", accepted.first.content_type), ("ETag", tag), VARY), stored.data)


class _Accepted(NamedTuple):
    """The formats that a request accepts: the preferred one, and the media types of all."""

    first: OfferedFormat
    types: bytes


@lru_cache(maxsize=256)
def _accepted(accept: str, api: Api) -> _Accepted | None:
    offered = offers(accept, None, api)
    return _Accepted(offered[0], media_types_of(offered)) if offered else None


def _is_offered(stored: StoredMessage, offer: OfferedFormat) -> bool:
    """Return whether a message has an offered format and, if the offer names a charset, which is UTF-8, that one."""
    if stored.format is not offer.format:
        return False
    declared = _encoding(stored.data) if "charset=" in offer.content_type else None
    return declared is None or declared[1].lower() in {b"utf-8", b"us-ascii"}
