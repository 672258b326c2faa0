"""The segments of an interchange that is read part by part, in memory that does not depend on its size.

Line ends have no meaning in EDIFACT and may be anywhere. They are removed from each segment after its line is known.

Source: ISO 9735 (UN/EDIFACT syntax rules, version 3).
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from kafka_replica.sdmx.formats.edi.reading.syntax import (
    ALSO_UTF_8,
    MAX_SEGMENT,
    PADDING,
    Segment,
    Separators,
    charset_named,
    level_in,
    not_in_charset,
    refuse_rest,
    segment_of,
    separators_in,
)

_BLANKS_BEFORE_LINE_END: Final = re.compile(rb" {2,}(?=\r?\n)")
"""Blanks that pad a line to a fixed length; they may separate the digits of a number."""
_HEAD_BYTES: Final = 1 << 12
_MOST_PENDING: Final = 8 * MAX_SEGMENT
"""The number of bytes without the end of a segment: a character has up to 4 bytes, and a line end may follow each."""


_BLANK: Final = bytes(ord("\n") if each == ord("\n") else ord(" ") for each in range(256))
"""The translation of all characters but line ends to blanks."""


class InterchangeStream:
    """An interchange in a file.

    Attributes:
        advice: the service string advice (UNA); empty if there is none.
        separators: the separators.
        charset: Python's name of the character set.
        has_envelope: whether the messages are in an interchange (UNB to UNZ).
        has_sought: whether one of the sought texts occurs.
    """

    def __init__(self, parts: Iterable[bytes], sought: Iterable[bytes] = ()) -> None:
        """Read the file once, to determine its character set.

        Args:
            parts: the content of the file, which is read again for each pass.
            sought: texts of at most 4 bytes that are searched for.

        Raises:
            MessageError: the file is not an interchange, or is in another character set than it names.
        """
        self._parts = parts
        head = self._head()
        self.advice, self.separators = separators_in(head)
        self._line_ends = "\r\n".replace(self.separators.terminator, "").encode()
        beginning = self._unwrapped(head[len(self.advice) :].lstrip())
        level, self.has_envelope = level_in(beginning, self.separators)
        self.has_sought = False
        self.charset = self._charset(level, tuple(sought))

    def segments(self) -> Iterator[tuple[int, Segment]]:
        """Yield the segments in order, each with the line on which it begins, from 1.

        Raises:
            MessageError: the text is truncated, or has a segment that is too long.
        """
        match = _segment_pattern(self.separators)
        line, number, rest = 1, 0, b""
        for part in self._after_advice():
            data = rest + part
            position = counted = 0
            while found := match(data, position):
                begin, position = found.start(1), found.end()
                line += data.count(b"\n", counted, begin)
                counted = begin
                if raw := self._text(found[1]).lstrip().rstrip("\r\n"):
                    number += 1
                    yield line, segment_of(number, raw, self.separators)
            begin = len(data) - len(data[position:].lstrip())
            line += data.count(b"\n", counted, begin)
            rest = data[begin:]
            if len(rest) > _MOST_PENDING:
                segment_of(number + 1, rest.decode("latin-1"), self.separators)
        if left := self._text(rest.rstrip(PADDING)).strip():
            refuse_rest(number + 1, left, self.separators)

    def _text(self, segment: bytes) -> str:
        return self._unwrapped(segment).decode(self.charset, "replace")

    def _head(self) -> bytes:
        head = b""
        for part in self._unpadded():
            head = (head + part).lstrip()
            if len(head) >= _HEAD_BYTES:
                break
        return head[:_HEAD_BYTES]

    def _after_advice(self) -> Iterator[bytes]:
        """Yield the parts of the file, with blanks instead of the service string advice."""
        left = len(self.advice)
        for part in self._unpadded():
            begin = len(part) - len(part.lstrip()) if left == len(self.advice) else 0
            end = min(begin + left, len(part))
            left -= end - begin
            yield part if begin == end else part[:begin] + part[begin:end].translate(_BLANK) + part[end:]

    def _unpadded(self) -> Iterator[bytes]:
        """Yield the parts of the file without blanks before line ends."""
        held = b""
        for part in self._parts:
            data = held + part
            kept = data.removesuffix(b"\r").rstrip(b" ")
            kept = data if len(data) - len(kept) > _MOST_PENDING else kept
            held = data[len(kept) :]
            yield _BLANKS_BEFORE_LINE_END.sub(b"", kept)
        yield held

    def _unwrapped(self, data: bytes) -> bytes:
        """Return data without line ends: a record may end in a tag, a release sequence, or within a character."""
        return data.translate(None, self._line_ends)

    def _charset(self, level: str, sought: tuple[bytes, ...]) -> str:
        """Return the character set of the whole file, and note whether it contains the sought texts."""
        named = charset_named(level)
        candidates = {named: _Decoding(named)}
        if level in ALSO_UTF_8:
            candidates["utf-8"] = _Decoding("utf-8")
        is_ascii, end = True, b""
        for part in self._after_advice():
            data = self._unwrapped(part)
            data = data if end else data.lstrip()
            is_ascii = is_ascii and data.isascii()
            self.has_sought = self.has_sought or any(text in end + data for text in sought)
            end = (end + data)[-3:]
            for candidate in candidates.values():
                candidate.feed(data)
        for candidate in candidates.values():
            candidate.feed(b"", is_last=True)
        if not is_ascii and "utf-8" in candidates and candidates["utf-8"].error_at is None:
            return "utf-8"
        error_at = candidates[named].error_at
        if error_at is not None:
            raise not_in_charset(error_at, level, named)
        return named


class _Decoding:
    """The attempt to decode a file.

    Attributes:
        error_at: the place of the first byte that cannot be decoded; None if there is none so far.
    """

    def __init__(self, charset: str) -> None:
        self._decoder = codecs.getincrementaldecoder(charset)()
        self._fed = 0
        self.error_at: int | None = None

    def feed(self, data: bytes, *, is_last: bool = False) -> None:
        """Decode the next part."""
        held = len(self._decoder.getstate()[0])
        if self.error_at is None and (held or is_last or not data.isascii()):
            try:
                self._decoder.decode(data, is_last)
            except UnicodeDecodeError as error:
                self.error_at = self._fed - held + error.start
        self._fed += len(data)


def _segment_pattern(separators: Separators) -> Callable[[bytes, int], re.Match[bytes] | None]:
    end, release = re.escape(separators.terminator.encode()), re.escape(separators.release.encode())
    released = rb"(?:%b[\r\n]*+.)" % release if release else b"(?!)"
    # The group is atomic: matching data without an end fails at once.
    return re.compile(rb"\s*+((?>(?:[^%b%b]++|%b)*))%b" % (end, release, released, end), re.DOTALL).match
