"""EDIFACT syntax: from bytes to segments, with the separators and the character set that the interchange declares.

Source: ISO 9735 (UN/EDIFACT syntax rules, version 3): service string advice UNA, segment UNB, levels UNOA to UNOK; SDMX
2.1 Section 4, "SDMX-EDI: Syntax and Documentation".
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, NoReturn

from kafka_replica.sdmx.errors import MessageError

_CHARSETS: Final = {
    "UNOA": "ascii", "UNOB": "ascii", "UNOC": "iso8859-1", "UNOD": "iso8859-2", "UNOE": "iso8859-5",
    "UNOF": "iso8859-7", "UNOG": "iso8859-3", "UNOH": "iso8859-4", "UNOI": "iso8859-6", "UNOJ": "iso8859-8",
    "UNOK": "iso8859-9", "UNOW": "utf-8", "UNOX": "utf-8", "UNOY": "utf-8",
}  # fmt: skip
ALSO_UTF_8: Final = {"UNOA", "UNOB", "UNOC"}
"""Registries write UTF-8 under these levels. Latin-1 text is never valid UTF-8 by chance, except for single letters."""

PADDING: Final = b"\0\x1a"
"""The padding that old file systems leave at the end: zeros, and the end-of-file mark of CP/M and DOS."""

_MAX_SEGMENTS: Final = 5_000_000
"""The largest number of segments of structure messages. Those of data are read one by one, without a limit."""
MAX_SEGMENT: Final = 1 << 20
_MAX_ELEMENTS: Final = 100
_MAX_COMPONENTS: Final = 10
"""The largest number of components per element, on average."""


def fail(number: int, reason: str) -> NoReturn:
    """Raise MessageError that names the segment, counted from 1 at UNB."""
    raise MessageError(f"reading SDMX-EDI, segment {number}: {reason}")


class Separators(NamedTuple):
    """The characters that separate components, elements and segments; ``release`` escapes the next character."""

    component: str = ":"
    element: str = "+"
    release: str = "?"
    terminator: str = "'"


class Segment(NamedTuple):
    """A segment: its number, its tag, its elements as written, and the separators to split them."""

    number: int
    tag: str
    raw: str
    separators: Separators

    def elements(self, most: int = _MAX_ELEMENTS) -> list[list[str]]:
        """Return the elements after the tag, each a list of components. Raises MessageError if there are too many."""
        component, element, release, _ = self.separators
        raw = self.raw
        # A short segment cannot have many parts.
        if len(raw) > most and (raw.count(element) > most or raw.count(component) > most * _MAX_COMPONENTS):
            fail(self.number, f"{self.tag} has more parts than any segment of SDMX-EDI")
        if release and release in raw:
            return self._released()[1:]
        found = raw.split(element)[1:]
        return [one.split(component) for one in found] if component in raw else [[one] for one in found]

    def _released(self) -> list[list[str]]:
        component, element, release, _ = self.separators
        elements: list[list[str]] = [[""]]
        characters = iter(self.raw)
        done: list[str] = []
        for character in characters:
            if character == release:
                done.append(next(characters, ""))
            elif character in {component, element}:
                elements[-1][-1] = "".join(done)
                done.clear()
                if character == element:
                    elements.append([""])
                else:
                    elements[-1].append("")
            else:
                done.append(character)
        elements[-1][-1] = "".join(done)
        return elements

    def written(self, element: int) -> str:
        """Return an element as written, with its release characters, or an empty text if the element is missing."""
        component, plus, release, _ = self.separators
        elements = self.elements()
        if element >= len(elements):
            return ""
        special = [one for one in (release, component, plus, self.separators.terminator) if one]
        return component.join(_released(one, special, release) for one in elements[element])


def _released(text: str, special: list[str], release: str) -> str:
    return "".join(release + one if one in special else one for one in text)


class Interchange(NamedTuple):
    """A decoded interchange: the part before UNB, the text from UNB on, and its syntax.

    Messages may also come without the envelope of an interchange, from UNH to UNT.
    """

    advice: str
    text: str
    charset: str
    separators: Separators
    has_envelope: bool = True


def opened(data: bytes) -> Interchange:
    """Decode the interchange in these bytes. Raises MessageError."""
    data = data.lstrip().rstrip(PADDING)
    advice, separators = separators_in(data)
    data = _unwrapped(data[len(advice) :].lstrip(), separators)
    level, has_envelope = level_in(data, separators)
    charset = _charset(level, data)
    try:
        return Interchange(advice, data.decode(charset), charset, separators, has_envelope)
    except UnicodeDecodeError as error:
        raise not_in_charset(error.start, level, charset) from None


def separators_in(data: bytes) -> tuple[str, Separators]:
    """Return the service string advice (UNA), or an empty text, and the separators. Raises MessageError."""
    return _advice(data[:9]) if data[:3] == b"UNA" else ("", Separators())


def level_in(data: bytes, separators: Separators) -> tuple[str, bool]:
    """Return the level that names the character set, and whether there is an envelope (UNB). Raises MessageError.

    Args:
        data: the beginning of the interchange after UNA, without line ends.
        separators: the separators.
    """
    if data.startswith(b"UNH" + separators.element.encode()):
        return "UNOC", False
    start = b"UNB" + separators.element.encode()
    if not data.startswith(start):
        raise MessageError(
            f"reading SDMX-EDI: it must begin with UNA or {start.decode()!r}, but begins with {data[:20]!r}"
        )
    return data[4:8].decode("ascii", "replace"), True


def not_in_charset(place: int, level: str, charset: str) -> MessageError:
    """Return the error for a byte that is not in the character set that UNB names."""
    return MessageError(
        f"reading SDMX-EDI: byte {place} is not in the character set {level} ({charset}) that UNB names; "
        "send it with the level of its characters (UNOC is Latin-1)"
    )


def _unwrapped(data: bytes, separators: Separators) -> bytes:
    """Return the data without line ends, which may be anywhere.

    CR and LF are in no character set of EDIFACT, so they are not data: files are stored in records of 80 columns, and a
    record may end within a segment, a tag, a release sequence, or a character of several bytes.
    """
    return data.translate(None, "\r\n".replace(separators.terminator, "").encode())


def charset_named(level: str) -> str:
    """Return Python's name of the character set of a level. Raises MessageError."""
    charset = _CHARSETS.get(level)
    if charset is None:
        raise MessageError(
            f"reading SDMX-EDI: UNB names the character set {level!r}, which is not one of {', '.join(_CHARSETS)}"
        )
    return charset


def _charset(level: str, data: bytes) -> str:
    charset = charset_named(level)
    if level in ALSO_UTF_8 and not data.isascii():
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            return charset
        return "utf-8"
    return charset


def _advice(data: bytes) -> tuple[str, Separators]:
    text = data.decode("latin-1")
    component, element, _, release, _, terminator = list(text[3:].ljust(6))
    marks = [component, element, terminator, *([release] if release != " " else [])]
    if len(set(marks)) < len(marks) or not all(mark.isascii() and not mark.isalnum() and mark != " " for mark in marks):
        raise MessageError(f'reading SDMX-EDI: {text!r} cannot define the separators; the usual form is "UNA:+.? \'"')
    return text, Separators(component, element, release.strip(), terminator)


def segments(interchange: Interchange) -> Iterator[Segment]:
    """Yield the segments from UNB to UNZ, in order. Raises MessageError if the text is truncated or too long."""
    for _, segment in segments_with_gaps(interchange):
        yield segment


def segments_with_gaps(interchange: Interchange) -> Iterator[tuple[str, Segment]]:
    """Yield the segments, each with the blanks and empty segments between it and the end of the one before.

    Raises MessageError if the text is truncated or too long.
    """
    separators = interchange.separators
    text = interchange.text
    match = _segment_pattern(separators)
    place = number = end = 0
    while found := match(text, place):
        place = found.end()
        written = found[1].lstrip()
        raw = written.rstrip("\r\n")
        if not raw:
            continue
        number += 1
        if number > _MAX_SEGMENTS:
            fail(number, f"more than {_MAX_SEGMENTS:,} segments, which are kept in memory")
        start = place - 1 - len(written)
        yield "" if start == end else text[end:start], segment_of(number, raw, separators)
        end = place
    if rest := text[place:].strip():
        refuse_rest(number + 1, rest, separators)


def segment_of(number: int, raw: str, separators: Separators) -> Segment:
    """Return the segment with a number, from 1, and a text. Raises MessageError if it is too long."""
    if len(raw) > MAX_SEGMENT:
        fail(number, f"it has more than {MAX_SEGMENT:,} characters")
    return Segment(number, raw.partition(separators.element)[0].strip()[:20], raw, separators)


def refuse_rest(number: int, rest: str, separators: Separators) -> NoReturn:
    """Raise MessageError for a text after the last segment."""
    fail(number, f"it has no end ({separators.terminator}), so the message is truncated: {rest[:40]!r}")


def _segment_pattern(separators: Separators) -> Callable[[str, int], re.Match[str] | None]:
    end, release = re.escape(separators.terminator), re.escape(separators.release)
    if not release:
        return re.compile(rf"([^{end}]*+){end}").match
    # The quantifiers are possessive: matching a text without an end fails at once.
    return re.compile(rf"([^{end}{release}]*+(?:{release}.[^{end}{release}]*+)*+){end}", re.DOTALL).match
