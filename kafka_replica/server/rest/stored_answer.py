"""Answers from stored bytes, for queries to which one stored message in the requested format is the complete answer."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.sdmx import SdmxError, Structures
from kafka_replica.sdmx.lookups.stored_message import StoredMessage
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.etag import entity_tag, matches, matches_any
from kafka_replica.server.rest.grammar import Detail
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
    named = None if request.query or matches_any(request.if_none_match) else named_artefact(request.path)
    accepted = () if named is None else offers(request.accept, None, named.api)
    if named is None or not accepted:
        return None
    tag = entity_tag(structures.version, None, request, accepted)
    if request.if_none_match and matches(request.if_none_match, tag):
        return RestAnswer(304, (("ETag", tag), VARY), b"")
    stored = structures.complete_message(named.urns)
    if stored is None or not _is_offered(stored, accepted[0]):
        return None
    return RestAnswer(200, (("Content-Type", accepted[0].content_type), ("ETag", tag), VARY), stored.data)


def _is_offered(stored: StoredMessage, offer: OfferedFormat) -> bool:
    """Return whether a message has an offered format and, if the offer names a charset, which is UTF-8, that one."""
    if stored.format is not offer.format:
        return False
    declared = _encoding(stored.data) if "charset=" in offer.content_type else None
    return declared is None or declared[1].lower() in {b"utf-8", b"us-ascii"}
