"""Concepts of SDMX-EDI."""

from __future__ import annotations

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.edi.reading.items import items_in
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment
from kafka_replica.sdmx.formats.edi.writing.syntax import released, write_segment, write_texts
from kafka_replica.sdmx.formats.shared.reading.standalone_items import synthetic_name
from kafka_replica.sdmx.model import Concept, ConceptScheme
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_concept_scheme(urn: Urn, body: list[Segment]) -> ConceptScheme:
    """Read the concepts of an agency: STC and FTX for each. Raises MessageError."""
    concepts, _ = items_in(urn, "Concept", Concept, body, "STC")
    return ConceptScheme(urn=urn, names=synthetic_name(urn), concepts=concepts)


# Writing


def write_concept_scheme(concept_scheme: ConceptScheme) -> list[str]:
    """Write STC and FTX for each concept; the concepts are standalone."""
    if concept_scheme.concepts.is_stub or not concept_scheme.concepts:
        raise UnwritableError("SDMX-EDI cannot represent a scheme of concepts, only concepts")
    found: list[str] = []
    for id_, concept in concept_scheme.concepts.items():
        found.append(write_segment("STC", released(id_)))
        found += write_texts(concept.names)
    return found
