"""Read structure messages of SDMX-EDI into the model, or split an interchange by artefact."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from kafka_replica.sdmx.formats.edi.codelists import read_codelist
from kafka_replica.sdmx.formats.edi.concepts import read_concept_scheme
from kafka_replica.sdmx.formats.edi.data_structures import read_key_family
from kafka_replica.sdmx.formats.edi.reading.messages import DescribedArtefact, described
from kafka_replica.sdmx.formats.edi.reading.syntax import Interchange, Segment, opened, segments
from kafka_replica.sdmx.formats.shared.reading.budget import Budget
from kafka_replica.sdmx.formats.shared.reading.error_collector import STRICT, ErrorCollector
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.model import Artefact
from kafka_replica.sdmx.urns.urn import Urn

_READERS: Final[dict[str, Callable[[Urn, list[Segment]], Artefact]]] = {
    "Codelist": read_codelist,
    "ConceptScheme": read_concept_scheme,
    "DataStructure": read_key_family,
}


def read_message(data: bytes, collector: ErrorCollector = STRICT) -> Message:
    """Return the message in these bytes. Raises MessageError."""
    header, found = described(opened(data), collector)
    artefacts = collector.read_all(
        found, lambda one: _READERS[one.urn.cls](one.urn, one.body), DescribedArtefact.unreadable
    )
    return Message(Format.EDI, header, artefacts, errors=collector.errors)


def split_message(data: bytes, collector: ErrorCollector = STRICT) -> tuple[Format, Iterator[tuple[Urn, bytes]]]:
    """Return the format, and the URN and interchange of each artefact, in the character set of the original.

    Raises MessageError.
    """
    interchange = opened(data)
    _, artefacts = described(interchange, collector)
    start = next(segments(interchange))
    envelope = (start.raw, start.written(4)) if interchange.has_envelope else None
    budget = Budget(len(data))
    return Format.EDI, (
        (artefact.urn, budget.spend(_written(interchange, envelope, artefact))) for artefact in artefacts
    )


def _written(
    interchange: Interchange, envelope: tuple[str, str] | None, described_artefact: DescribedArtefact
) -> bytes:
    element, end = interchange.separators.element, interchange.separators.terminator
    own = described_artefact.opening[0].written(0)
    count = len(described_artefact.opening) + len(described_artefact.body) + 1
    lines = [
        *([interchange.advice[:8]] if interchange.advice else []),
        *([envelope[0]] if envelope else []),
        *(segment.raw for segment in described_artefact.opening),
        *(segment.raw for segment in described_artefact.body),
        f"UNT{element}{count}{element}{own}",
        *([f"UNZ{element}1{element}{envelope[1]}"] if envelope else []),
    ]
    return "".join(f"{line}{end}\r\n" for line in lines).encode(interchange.charset)
