"""Write an interchange of SDMX-EDI, with a message for each agency."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from kafka_replica.sdmx.errors import UnwritableError
from kafka_replica.sdmx.formats.edi.codelists import write_codelist
from kafka_replica.sdmx.formats.edi.concepts import write_concept_scheme
from kafka_replica.sdmx.formats.edi.data_structures import write_key_family
from kafka_replica.sdmx.formats.edi.writing.syntax import ADVICE, encoded, released, write_segment
from kafka_replica.sdmx.messages.format import Format
from kafka_replica.sdmx.messages.message import Header
from kafka_replica.sdmx.model import Artefact

_WRITERS: Final[dict[str, Callable[[Any], list[str]]]] = {
    "Codelist": write_codelist,
    "ConceptScheme": write_concept_scheme,
    "DataStructure": write_key_family,
}
_instant = re.compile(r"[0-9]{2}([0-9]{2})-([0-9]{2})-([0-9]{2})(?:T([0-9]{2}):([0-9]{2}))?").match


def element_of(artefact: Artefact, format_: Format) -> tuple[str, list[str]]:
    """Return the agency of an artefact and its segments. Raises UnwritableError."""
    if artefact.urn.cls not in _WRITERS:
        raise UnwritableError(f"{format_.title} has no class {artefact.urn.cls}")
    return artefact.agency, _WRITERS[artefact.urn.cls](artefact)


def message_of(elements: Iterable[tuple[str, list[str]]], header: Header, _: Format) -> bytes:
    """Return the interchange of these artefacts."""
    by_agency: dict[str, list[str]] = {}
    for agency, written in elements:
        by_agency.setdefault(agency, []).extend(written)
    sender, reference = released(header.sender or "UNKNOWN"), released(header.id or "1")
    body: list[str] = []
    for number, (agency, written) in enumerate(by_agency.items(), 1):
        own = f"MREF{number:06}"
        message = [
            write_segment("UNH", own, ("GESMES", "2", "1", "E6")),
            write_segment("BGM", "73"),
            write_segment("NAD", "Z02", agency),
            write_segment("NAD", "MR", "ALL"),
            write_segment("NAD", "MS", sender),
            *written,
        ]
        body += [*message, write_segment("UNT", str(len(message) + 1), own)]
    body.append(write_segment("UNZ", str(len(by_agency)), reference))
    level, data = encoded("".join(f"{one}'\r\n" for one in body))
    test = ("", "", "", "1") if header.test else ()
    opening = write_segment(
        "UNB", (level, "3"), sender, "ALL", _when(header.prepared), reference, "", "SDMX-EDI", *test
    )
    return f"{ADVICE}\r\n".encode() + encoded(f"{opening}'\r\n")[1] + data


def _when(prepared: str | None) -> str:
    found = _instant(prepared or "")
    if found is None:
        return "700101:0000"
    year, month, day, hour, minute = found.groups(default="00")
    return f"{year}{month}{day}:{hour}{minute}"
