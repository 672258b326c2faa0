"""Texts of SDMX-EDI with an apostrophe that was not released, so that it seems to end the segment.

SdmxSource, on which several registries are built, writes the names of codelists (VLI) without release characters:
``VLI+CL_X+++Seller's list'``. The rest of the text cannot be a segment, because a tag is three capital letters or
digits. At the end of a text, an apostrophe seems to be an empty segment, which EDIFACT does not have.

Source: ISO 9735 (UN/EDIFACT syntax rules, version 3), segment tags and the release character; EDIStructureWriterUtil
of SdmxSource.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.edi.reading.syntax import (
    MAX_SEGMENT,
    Interchange,
    Segment,
    Separators,
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
_BEGIN_NO_WORD: Final = {"VLI", "CDV", "STC", "SCD", "FTX"}
"""The tags after which another capital means that the separator is missing: ATT could begin ATTRIBUTION."""
_LONGEST_PIECE: Final = 70
"""The length in characters at which converters cut free text."""
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
    may_be_segment = _segment_start(interchange.separators)
    text: Segment | None = None
    rest: list[tuple[str, Segment]] = []
    for gap, segment in segments_with_gaps(interchange):
        tag = segment.tag
        if text is not None:
            if tag not in _KNOWN and may_be_segment(segment.raw) is None:
                rest.append((gap, segment))
                continue
            if rest or gap.startswith(_APOSTROPHE):
                yield from _joined(text, rest, gap)
                rest = []
            else:
                yield text
            text = None
        if tag in _WITH_TEXT:
            text = segment
        else:
            yield segment
    if text is not None:
        yield from _joined(text, rest, "")


def _segment_start(separators: Separators) -> Callable[[str], re.Match[str] | None]:
    """Return a function that matches what may be a segment, also one that is not valid: it must not become text.

    Examples: ``XYZ+1``, ``CDV:1+A`` (a tag with nesting), ``cdv+A``, ``dtm+1``, and ``CDVA`` (without its separator).
    """
    component, element = re.escape(separators.component), re.escape(separators.element)
    known = "|".join(sorted(_KNOWN))
    return re.compile(
        rf"(?:[A-Z][A-Z0-9]{{2}}|(?i:{known}))\s*(?:{component}|{element}|\Z)|[A-Za-z]{{3}}{element}"
        rf"|(?:{known})[0-9]|(?:{'|'.join(sorted(_BEGIN_NO_WORD))})(?![a-z\s])"
    ).match


def _joined(text: Segment, rest: list[tuple[str, Segment]], gap: str) -> list[Segment]:
    """Return the segment with the rest of its text, or the segments as they are written if that is not certain.

    Args:
        text: the segment with the beginning of the text.
        rest: the other pieces, each with what is between it and the piece before.
        gap: what is between the last piece and the next segment.
    """
    apostrophe = text.separators.release + _APOSTROPHE
    pieces = [text.raw]
    for before, segment in rest:
        pieces += [apostrophe, before.replace(_APOSTROPHE, apostrophe), segment.raw]
    joined = "".join(pieces)
    ends = [""] if rest else []
    at_end = len(gap) - len(gap.lstrip(_APOSTROPHE))
    if at_end and not joined.endswith(text.separators.element):
        ends.insert(0, apostrophe * at_end)
    for end in ends:
        whole = text._replace(raw=joined + end)
        if _is_certain(text, whole):
            return [whole]
    return [text, *(segment for _, segment in rest)]


def _is_certain(text: Segment, whole: Segment) -> bool:
    """Return whether the segment with this beginning has one text, which is the last thing in it."""
    if len(whole.raw) > MAX_SEGMENT:
        return False
    try:
        if len(text.elements()) <= 3:
            return False
        return text.tag == "VLI" or (not _is_cut_after_release(text) and _is_plain(whole.elements()))
    except MessageError:
        # It has too many parts, which concerns the artefact alone: its reader refuses it.
        return False


def _is_cut_after_release(text: Segment) -> bool:
    """Return whether a converter may have cut the text between a release character and the apostrophe after it.

    Converters put a component separator after each piece, which seems to be released there.
    """
    component, element, release, _ = text.separators
    piece = text.raw.split(element, 4)[-1]
    return bool(release) and piece.endswith(release + component) and len(piece) == _LONGEST_PIECE + len(component)


def _is_plain(elements: list[list[str]]) -> bool:
    """Return whether this free text has one piece, and nothing after it except a language."""
    language = elements[4] if len(elements) > 4 else [""]
    return (
        len(elements[3]) == len(language) == 1
        and len(elements) <= 5
        and (not language[0] or _match_language(language[0]) is not None)
    )
