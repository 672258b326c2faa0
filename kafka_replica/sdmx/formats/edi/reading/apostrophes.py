"""Texts of SDMX-EDI with an apostrophe that was not released, so that it seems to end the segment.

SdmxSource, on which several registries are built, writes the names of codelists (VLI) without release characters:
``VLI+CL_X+++Seller's list'``. The rest of the text cannot be a segment, because a tag is three capital letters or
digits.

Source: ISO 9735 (UN/EDIFACT syntax rules, version 3), segment tags and the release character; EDIStructureWriterUtil
of SdmxSource.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.edi.reading.syntax import (
    MAX_SEGMENT,
    Interchange,
    Segment,
    segments,
    segments_with_gaps,
)

_APOSTROPHE: Final = "'"
_WITH_TEXT: Final = {"VLI", "FTX"}
"""The segments with a text; it is their fourth element."""
_KNOWN: Final = {
    "UNB", "UNG", "UNH", "BGM", "NAD", "CTA", "COM", "VLI", "CDV", "STC", "ASI", "SCD", "ATT", "IDE", "FTX", "UNS",
    "UNT", "UNE", "UNZ",
}  # fmt: skip
_match_tag = re.compile("[A-Z][A-Z0-9]{2}").fullmatch
_match_language = re.compile("[A-Za-z]{2,3}").fullmatch


def structure_segments(interchange: Interchange) -> Iterator[Segment]:
    """Yield the segments, in which a text that was cut at its apostrophes is whole again.

    A text is put together only if it is certain how: what follows cannot be a segment, and in free text (FTX) no other
    separator occurs that may not have been released either. Otherwise the segments are as they are written, and readers
    refuse the one that they do not know.

    Raises MessageError if the interchange is truncated or too long.
    """
    if interchange.separators.terminator != _APOSTROPHE:
        yield from segments(interchange)
        return
    text: Segment | None = None
    rest: list[tuple[str, Segment]] = []
    for gap, segment in segments_with_gaps(interchange):
        tag = segment.tag
        if text is not None:
            if tag not in _KNOWN and not _may_be_segment(tag):
                rest.append((gap, segment))
                continue
            if rest:
                yield from _joined(text, rest)
                rest = []
            else:
                yield text
            text = None
        if tag in _WITH_TEXT:
            text = segment
        else:
            yield segment
    if text is not None:
        yield from _joined(text, rest)


def _may_be_segment(tag: str) -> bool:
    # Tags in small letters are not valid, but must not become a part of a text.
    return _match_tag(tag) is not None or tag.upper() in _KNOWN


def _joined(text: Segment, rest: list[tuple[str, Segment]]) -> list[Segment]:
    """Return the segment with the rest of its text, or the segments as they are written if that is not certain."""
    if not rest:
        return [text]
    written = [text, *(segment for _, segment in rest)]
    if sum(len(gap) + len(segment.raw) + 2 for gap, segment in rest) + len(text.raw) > MAX_SEGMENT:
        return written
    apostrophe = text.separators.release + _APOSTROPHE
    pieces = [text.raw]
    for gap, segment in rest:
        pieces += [apostrophe, gap.replace(_APOSTROPHE, apostrophe), segment.raw]
    whole = text._replace(raw="".join(pieces))
    try:
        is_certain = len(text.elements()) > 3 and (text.tag == "VLI" or _is_plain(whole.elements()))
    except MessageError:
        # It has too many parts, which concerns the artefact alone: its reader refuses it.
        is_certain = False
    return [whole] if is_certain else written


def _is_plain(elements: list[list[str]]) -> bool:
    """Return whether this free text has one piece, and nothing after it except a language."""
    language = elements[4] if len(elements) > 4 else [""]
    return (
        len(elements[3]) == len(language) == 1
        and len(elements) <= 5
        and (not language[0] or _match_language(language[0]) is not None)
    )
