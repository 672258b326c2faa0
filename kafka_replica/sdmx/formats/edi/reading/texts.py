"""Free text (FTX+ACM) and field formats (ATT+3+5) of SDMX-EDI."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.sdmx.containers import NO_TEXT, InternationalString
from kafka_replica.sdmx.formats.edi.reading.messages import part
from kafka_replica.sdmx.formats.edi.reading.syntax import Segment, fail
from kafka_replica.sdmx.model.representation import TextFormat

_FORMAT = re.compile(r"(AN|A|N)(?:(\.\.)?([0-9]{1,9}))?").fullmatch
_AFTER_NAME: Final = {"CDV", "VLI", "STC", "ASI", "FTX", "NAD", "UNS", "UNT"}
"""The segments that may follow the name of a codelist."""
_TYPES: Final = {"A": "Alpha", "AN": "String", "N": "Numeric"}
"""Letters, any characters, and digits that are not a number, by their names in SDMX 2.1."""


def is_text(elements: list[list[str]]) -> bool:
    """Return whether an FTX segment has a text of a structure (ACM); other free text has no meaning for structures."""
    return part(elements, 0) == "ACM"


class Texts:
    """The texts of one object. A long text is split into pieces of 70 characters and over several segments."""

    def __init__(self) -> None:
        self._pieces: dict[str, list[str]] = {}

    def add(self, segment: Segment) -> None:
        """Add an FTX segment; only FTX+ACM is about structures."""
        elements = segment.elements()
        if len(elements) > 3 and is_text(elements):
            self._pieces.setdefault(part(elements, 4).lower() or "en", []).extend(elements[3])

    def together(self) -> InternationalString:
        """The texts by language; English if the message names no language."""
        if not self._pieces:
            return NO_TEXT
        return InternationalString([(language, "".join(pieces)) for language, pieces in self._pieces.items()])


def text_format(segment: Segment, written: str) -> TextFormat:
    """Return the format for ``AN..35`` (up to 35 of any character) or ``N3`` (3 digits). Raises MessageError.

    A converter from SDMX-ML 1.0 writes ``AN`` where it does not know the length, which is not valid, but unambiguous.
    """
    found = _FORMAT(written.upper())
    if found is None:
        fail(segment.number, f"the field format {written[:40]!r} does not have a form like AN..35, A2 or N1")
    if found[3] is None:
        return TextFormat(text_type=_TYPES[found[1]])
    length = int(found[3])
    return TextFormat(text_type=_TYPES[found[1]], min_length=None if found[2] else length, max_length=length)


def name_of_codelist(segment: Segment) -> str:
    """Return the name in a VLI segment, or an empty text if there is none. Raises MessageError.

    The name is one simple element, and the last one (SDMX-EDI has none after it). SdmxSource writes it without release
    characters, so further separators are part of it, and so is a release character before a letter, digit or blank,
    which need no release.
    """
    component, element, release, terminator = segment.separators
    raw = segment.raw
    if release and release in raw:
        raw = re.sub(f"{re.escape(release)}(.)", lambda found: _doubled(found[0]), raw, flags=re.DOTALL)
    elements = [component.join(one) for one in segment._replace(raw=raw).elements()[3:]]
    while len(elements) > 1 and not elements[-1]:
        elements.pop()  # empty elements at the end are those that a segment may leave out
    for text in elements[:-1]:
        before, ended, tag = text.rpartition(terminator)
        if ended and tag.strip() in _AFTER_NAME:
            fail(
                segment.number,
                f"the name ends with {release!r}, which releases the end of its segment, so {tag.strip()} is part of "
                f"it: {before[:40]!r}; write {release * 2} there",
            )
    return element.join(elements)


def _doubled(released: str) -> str:
    """Return a release character and the next one, with another release character if the first is text."""
    return released[0] + released if released[1].isalnum() or released[1] == " " else released
