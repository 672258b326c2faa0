"""Codelists of SDMX-EDI."""

from __future__ import annotations

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.edi.reading.items import items_in
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment
from kafka_replica.sdmx.formats.edi.reading.texts import name_of_codelist
from kafka_replica.sdmx.formats.edi.writing.syntax import released, write_segment, write_texts
from kafka_replica.sdmx.model import Code, Codelist
from kafka_replica.sdmx.urns.urn import Urn

# Reading


def read_codelist(urn: Urn, body: list[Segment]) -> Codelist:
    """Read a codelist: VLI, then CDV and FTX for each code. Raises MessageError."""
    name = name_of_codelist(body[0])
    codes, texts = items_in(urn, "Code", Code, body[1:], "CDV")
    return Codelist(
        urn=urn,
        names=InternationalString([("en", name)]) if name else texts,
        descriptions=texts if name else NO_TEXT,
        codes=codes,
    )


# Writing


def write_codelist(codelist: Codelist) -> list[str]:
    """Write VLI, then CDV and FTX for each code."""
    if codelist.codes.is_stub:
        raise UnwritableError("SDMX-EDI cannot represent stubs")
    english = (
        codelist.names.texts[0][1] if len(codelist.names.texts) == 1 and codelist.names.texts[0][0] == "en" else None
    )
    found = [write_segment("VLI", codelist.id, "", "", released(english or ""))]
    if english is None:
        found += write_texts(codelist.names)
    for id_, code in codelist.codes.items():
        found.append(write_segment("CDV", released(id_)))
        found += write_texts(code.names)
    return found
