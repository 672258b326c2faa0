"""Reading structure messages of SDMX-EDI into the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from kafka_replica.sdmx.formats import Format
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.readers.edi.items import codelist, concept_scheme
from kafka_replica.sdmx.readers.edi.key_family import key_family
from kafka_replica.sdmx.readers.edi.messages import described
from kafka_replica.sdmx.readers.edi.syntax import Segment, opened
from kafka_replica.sdmx.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, list[Segment]], Artefact]]] = {
    "Codelist": codelist,
    "ConceptScheme": concept_scheme,
    "DataStructure": key_family,
}


def read_message(data: bytes) -> Message:
    """The message in these bytes. Raises MessageError."""
    header, artefacts = described(opened(data))
    return Message(Format.EDI, header, [_READERS[one.urn.cls](one.urn, one.body) for one in artefacts])
