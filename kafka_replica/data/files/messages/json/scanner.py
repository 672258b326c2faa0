"""A cursor in the text of a message, which finds the ends of values without decoding them."""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.data.files.messages.json.message_text import MessageText

_WINDOW: Final = 1 << 18
_BLANKS: Final = rb"[ \t\r\n]*+"
_STRING: Final = rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"'
_MARKS: Final = frozenset({b"{", b"}", b"[", b"]", b",", b":"})
_TOKEN: Final = re.compile(rb'%b([{}\[\],:]|%b|[^ \t\r\n{}\[\],:"]++|\Z)' % (_BLANKS, _STRING), re.DOTALL)


def _nested(levels: int) -> bytes:
    """Return a pattern for text with balanced brackets, which are nested at most ``levels`` times."""
    inner = rb"|[{\[]%b[}\]]" % _nested(levels - 1) if levels else b""
    # An atomic group, as a possessive quantifier would be wrong here: see test_regular_expressions.py.
    return rb'(?>(?:[^"{}\[\]]++|%b%b)*)' % (_STRING, inner)


_BALANCED: Final = re.compile(_nested(3), re.DOTALL)
"""Matches as much text as possible: it ends at a bracket, at a string that is not complete, or at the end."""


class DamagedTextError(Exception):
    """The text is not JSON at the cursor."""


class Scanner:
    """A cursor in the text of a message.

    The scanner assumes that the text is valid JSON, and does not check this. The memory depends only on the longest
    string or number.

    Args:
        text: the text. The cursor is before its first byte.
    """

    def __init__(self, text: MessageText) -> None:
        self._text = text
        self.move(text.start)

    @property
    def offset(self) -> int:
        """The offset of the cursor in the file, in bytes."""
        return self._start + self._at

    def move(self, offset: int) -> None:
        """Move the cursor to an offset that is not within a token."""
        self._start, self._window, self._at = offset, b"", 0

    def token(self) -> bytes:
        """Return the next token, and move the cursor after it.

        Returns:
            A bracket, comma, colon, string with its quotes, number or literal; empty at the end of the text.

        Raises:
            DamagedTextError: the text ends within a string.
        """
        found = self._found()
        self._at = found.end()
        return found[1]

    def next_token(self) -> bytes:
        """Return the next token without moving the cursor; otherwise like :meth:`token`."""
        return self._found()[1]

    def _found(self) -> re.Match[bytes]:
        while True:
            found = _TOKEN.match(self._window, self._at)
            # Numbers and blanks may continue after the window; a string that continues there is not found.
            if found and (found.end() < len(self._window) or found[1] in _MARKS or found[1][:1] == b'"'):
                return found
            if not self._has_more():
                if found is None:
                    raise DamagedTextError
                return found

    def skip_value(self) -> None:
        """Move the cursor after the next value. Raises DamagedTextError if the value is missing or incomplete."""
        token = self.next_token()
        if token in {b"}", b"]", b",", b":", b""}:
            raise DamagedTextError
        self.token()
        if token in {b"{", b"["}:
            self._skip_to_end()

    def _skip_to_end(self) -> None:
        """Move the cursor after the end of the array or object that contains it.

        Raises:
            DamagedTextError: the text ends earlier.
        """
        depth = 1
        while depth:
            found = _BALANCED.match(self._window, self._at)
            self._at = found.end() if found else self._at
            bracket = self._window[self._at : self._at + 1]
            if bracket in {b"{", b"["}:
                depth += 1
            elif bracket in {b"}", b"]"}:
                depth -= 1
            elif self._has_more():
                continue
            else:
                raise DamagedTextError
            self._at += 1

    def _has_more(self) -> bool:
        """Read more of the text: at least as much as is left, so that a long string is not searched repeatedly."""
        left = self._window[self._at :]
        read = self._text.read(self.offset + len(left), max(_WINDOW, len(left)))
        self._start, self._window, self._at = self.offset, left + read, 0
        return bool(read)
