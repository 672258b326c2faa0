"""Free text (FTX+ACM) and field formats (ATT+3+5) of SDMX-EDI."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.model.representation import TextFormat

_FORMAT = re.compile(r"(AN|A|N)(\.\.)?([0-9]{1,9})").fullmatch
_TYPES: Final = {"A": "Alpha", "AN": "String", "N": "Numeric"}
"""Letters, any characters, and digits that are not a number, by their names in SDMX 2.1."""


class Texts:
    """The texts of one object. A long text is split into pieces of 70 characters and over several segments."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}

    def add(self, segment: Segment) -> None:
        """Add an FTX segment; only FTX+ACM is about structures."""
        elements = segment.elements()
        if part(elements, 0) == "ACM" and len(elements) > 3:
            self._pieces.setdefault(part(elements, 4).lower() or "en", []).extend(elements[3])

    def together(self) -> InternationalString:
        """The texts by language; English if the message names no language."""
        if not self._pieces:
            return NO_TEXT
        return InternationalString([(language, "".join(pieces)) for language, pieces in self._pieces.items()])


def text_format(segment: Segment, written: str) -> TextFormat:
    """Return the format for ``AN..35`` (up to 35 of any character) or ``N3`` (3 digits). Raises MessageError."""
    found = _FORMAT(written.upper())
    if found is None:
        fail(segment.number, f"the field format {written[:40]!r} does not have a form like AN..35, A2 or N1")
    length = int(found[3])
    return TextFormat(text_type=_TYPES[found[1]], min_length=None if found[2] else length, max_length=length)
