"""Read structure messages of SDMX-EDI into the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafka_replica.sdmx.formats.shared.reading.collecting import STRICT, ErrorCollector
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.message_format import Format
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.edi.items import codelist, concept_scheme
from kafka_replica.sdmx.readers.edi.key_family import key_family
from kafka_replica.sdmx.readers.edi.messages import Described, described
from kafka_replica.sdmx.readers.edi.syntax import Segment, opened
from kafka_replica.sdmx.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, list[Segment]], Artefact]]] = {
    "Codelist": codelist,
    "ConceptScheme": concept_scheme,
    "DataStructure": key_family,
}


def read_message(data: bytes, collector: ErrorCollector = STRICT) -> Message:
    """Return the message in these bytes. Raises MessageError."""
    header, found = described(opened(data), collector)
    artefacts = collector.read_all(found, lambda one: _READERS[one.urn.cls](one.urn, one.body), Described.unreadable)
    return Message(Format.EDI, header, artefacts, errors=collector.errors)
