"""EDIFACT syntax for writing: from segments to text. Source: ISO 9735, as for the reader."""

from __future__ import annotations

from typing import Final

from kafka_replica.sdmx.containers import InternationalString
from kafka_replica.sdmx.errors import UnwritableError

ADVICE: Final = "UNA:+.? '"
_PIECE: Final = 70
_PIECES: Final = 5
_RELEASED: Final = str.maketrans({one: f"?{one}" for one in "?:+'"})


def released(text: str) -> str:
    """Escape the special characters of a component. Raises UnwritableError for line ends, which EDIFACT lacks."""
    return _checked(text).translate(_RELEASED)


def _checked(text: str) -> str:
    if not text.isprintable() and any(one in text for one in "\r\n\0\x1a"):
        raise UnwritableError(f"the text {text[:40]!r} contains a line end, which SDMX-EDI cannot represent")
    return text


def write_segment(tag: str, *elements: str | tuple[str, ...]) -> str:
    """Write a segment of these elements, each with one or several components, without empty elements at the end."""
    written = [element if isinstance(element, str) else ":".join(element) for element in elements]
    while written and not written[-1]:
        written.pop()
    return "+".join((tag, *written))


def write_texts(found: InternationalString) -> list[str]:
    """Return the FTX segments of a text: pieces of 70 characters, five in a segment; English needs no language."""
    segments: list[str] = []
    for language, text in found.texts:
        _checked(text)
        pieces = [released(text[at : at + _PIECE]) for at in range(0, len(text), _PIECE)] or [""]
        for at in range(0, len(pieces), _PIECES):
            run = tuple(pieces[at : at + _PIECES])
            segments.append(write_segment("FTX", "ACM", "", "", run, "" if language == "en" else language.upper()))
    return segments


def encoded(text: str) -> tuple[str, bytes]:
    """Return the syntax level of an interchange and its bytes, in Latin-1 unless the reader may take them as UTF-8."""
    try:
        data = text.encode("latin-1")
    except UnicodeEncodeError:
        return "UNOY", _utf_8(text)
    if data.isascii():
        return "UNOC", data
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return "UNOC", data
    return "UNOY", _utf_8(text)


def _utf_8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise UnwritableError("a text in it contains half of a surrogate pair, which no character set has") from None
