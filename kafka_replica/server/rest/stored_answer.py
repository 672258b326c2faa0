"""Answers from stored bytes, for queries to which one stored message in the requested format is the complete answer."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx import Codelist, Format, SdmxError, Structures
from kafka_replica.sdmx.model import Artefact
from kafka_replica.server.rest.grammar import Detail
from kafka_replica.server.rest.query import StructureQuery

_STUBS: Final = {Detail.ALL_STUBS, Detail.ALL_COMPLETE_STUBS}


def stored_answer(query: StructureQuery, artefact: Artefact, format_: Format, structures: Structures) -> bytes | None:
    """Return the stored message of the only artefact of an answer; None if the answer has to be written.

    The answer has to be written if the query requests only a part of the artefact or its inherited codes, or if the
    stored message has another format or encoding, or contains other artefacts.
    """
    if query.items or query.detail in _STUBS:
        return None
    try:
        stored, written = structures.stored_message(artefact.urn), structures.get(artefact.urn)
    except SdmxError:
        return None
    if isinstance(written, Codelist) and written.extensions and query.detail is not Detail.RAW:
        return None
    return stored.data if stored is not None and stored.format is format_ else None
