"""The outline of a message: its text without the members of series and observations, which are decoded in parts.

The first pass over a message finds the outline. It is short, unless the structures have long lists of values.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from kafka_replica.data.files.messages.json.message_objects import LeftOut
from kafka_replica.data.files.messages.json.message_text import MessageText
from kafka_replica.data.files.messages.json.object_parts import (
    BOUNDARIES,
    ByteRange,
    MemberBoundary,
    ObjectParts,
    ObjectSplitter,
)
from kafka_replica.data.files.messages.json.scanner import DamagedTextError, Scanner

_SHOWN: Final = 1 << 16
"""The number of bytes of damaged text that are decoded, so that the error describes the damage."""


class Outline:
    """The outline of a message.

    Args:
        text: the text of the message.
        where: the file, for errors.

    Attributes:
        text: the outline as JSON. The object of series or observations, if it has members, is ``{"number": 3}``, where
            ``number`` is its index among the objects that were left out. A damaged text ends after the damage.

    Raises:
        DatasetError: series or observations are not valid JSON.
    """

    def __init__(self, text: MessageText, where: str) -> None:
        self._objects: list[ObjectParts] = []
        self._source, self._where = text, where
        self._scanner = Scanner(text)
        self._pieces: list[bytes] = []
        self._starts: list[int] = []  # of each piece that was copied, in the outline
        self._file_offsets: list[int] = []  # the same places in the file
        self._size = 0
        self._copied = text.start
        try:
            self._message()
            end = self._scanner.offset
        except DamagedTextError:
            end = self._scanner.offset + _SHOWN
        self._copy(end)
        self.text: Final = b"".join(self._pieces)
        self._pieces.clear()

    def offset_in_file(self, offset: int) -> int:
        """Convert an offset in the outline to the offset in the file, in bytes."""
        number = bisect_right(self._starts, offset) - 1
        return self._file_offsets[number] + offset - self._starts[number]

    def parts_of(self, left_out: LeftOut | None) -> ObjectParts:
        """Return the parts of an object that was left out, none if it is empty."""
        if left_out is None or left_out.number is None:
            return ObjectParts(self._source, self._where)
        return self._objects[left_out.number]

    def _message(self) -> None:
        in_body = {"dataSets": self._data_sets}
        self._object({"data": partial(self._object, in_body), **in_body})
        if self._scanner.next_token():
            raise DamagedTextError

    def _data_sets(self) -> None:
        """Read the data sets, or a value of another type."""
        inner = {name: partial(self._cut_object, boundary) for name, boundary in BOUNDARIES.items()}
        if self._enters(b"["):
            self._object(inner)
            while self._continues(b"]"):
                self._object(inner)

    def _object(self, inner: Mapping[str, Callable[[], None]]) -> None:
        """Read an object, with a function of its own for some members; skip a value of another type."""
        if self._enters(b"{"):
            self._member(inner)
            while self._continues(b"}"):
                self._member(inner)

    def _member(self, inner: Mapping[str, Callable[[], None]]) -> None:
        name = self._scanner.token()
        if name[:1] != b'"' or self._scanner.token() != b":":
            raise DamagedTextError
        inner.get(_text_of(name), self._scanner.skip_value)()

    def _enters(self, bracket: bytes) -> bool:
        """Enter an array or object that is not empty; skip any other value, and return False."""
        if self._scanner.next_token() != bracket:
            self._scanner.skip_value()
            return False
        self._scanner.token()
        if self._scanner.next_token() not in {b"]", b"}"}:
            return True
        self._scanner.token()
        return False

    def _continues(self, closing: bytes) -> bool:
        """Move the cursor after the next comma, and return True; or after the closing bracket, and return False."""
        token = self._scanner.token()
        if token not in {b",", closing}:
            raise DamagedTextError
        return token == b","

    def _cut_object(self, boundary: MemberBoundary) -> None:
        """Leave the members of an object out of the outline; skip a value of another type."""
        if not self._enters(b"{"):
            return
        self._copy(self._scanner.offset)
        cutter = ObjectSplitter(self._source, self._scanner, boundary, self._where)
        parts: list[ByteRange] = []
        for part in cutter.parts():
            if not parts:
                self._add(b'"number":%d' % len(self._objects))
            parts.append(part)
            self._copied = part.end  # damaged text after it, such as a comma before a bracket, is copied
        self._objects.append(ObjectParts(self._source, self._where, parts, cutter.repeated()))
        if self._scanner.token() != b"}":
            raise DamagedTextError

    def _copy(self, end: int) -> None:
        """Add the text up to an offset in the file to the outline."""
        self._starts.append(self._size)
        self._file_offsets.append(self._copied)
        self._add(self._source.read(self._copied, end - self._copied))
        self._copied = end

    def _add(self, piece: bytes) -> None:
        self._pieces.append(piece)
        self._size += len(piece)


def _text_of(name: bytes) -> str:
    """Return the text of a key; an empty text if it is damaged."""
    if b"\\" not in name:
        return name[1:-1].decode(errors="replace")
    try:
        return str(json.loads(name))
    except ValueError:
        return ""
