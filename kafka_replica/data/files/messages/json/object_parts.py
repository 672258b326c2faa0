"""Long objects of a message, such as the series of a data set, split into parts of a few thousand members.

A first pass splits an object into parts, and a second pass decodes the parts one after the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Raw

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.json.decoding import decode_part_with_constants
from kafka_replica.data.files.messages.json.key_hashes import KeyHashes
from kafka_replica.data.files.messages.json.message_objects import MEMBERS
from kafka_replica.data.files.messages.json.message_text import MessageText
from kafka_replica.data.files.messages.json.repeated_keys import repeated_key
from kafka_replica.data.files.messages.json.scanner import DamagedTextError, Scanner

T = TypeVar("T")

_SHORTEST: Final = 1 << 16
_LONGEST: Final = 1 << 20
"""The sizes of parts in bytes, unless a member is longer; the second is the first, doubled several times."""
_MOST_TRIES: Final = 100


class ByteRange(NamedTuple):
    """The bytes of consecutive members of an object: the offset of the first byte, and the offset after the last."""

    start: int
    end: int


@dataclass(frozen=True)
class MemberBoundary:
    """The text between two members of an object, as it usually is.

    Attributes:
        last: the last byte of a value.
        pattern: matches from this byte to the next key, which is not part of the match.
    """

    last: bytes
    pattern: re.Pattern[bytes]

    def last_in(self, data: bytes) -> re.Match[bytes] | None:
        """Return the last match, which is probably a boundary, but may be text in a value."""
        offset = len(data)
        for _ in range(_MOST_TRIES):
            offset = data.rfind(self.last, 0, offset)
            if offset < 0:
                break
            found = self.pattern.match(data, offset)
            if found:
                return found
        return None


def _boundary(first: bytes, last: bytes) -> MemberBoundary:
    blanks = rb"[ \t\r\n]*"
    names = (re.escape(last), blanks, blanks, blanks, blanks, re.escape(first))
    return MemberBoundary(last, re.compile(rb'%b%b,%b(?="[0-9:~]*"%b:%b%b)' % names))


BOUNDARIES: Final = {"series": _boundary(b"{", b"}"), "observations": _boundary(b"[", b"]")}
"""The boundaries of the members of objects with keys, by the name of the object in a data set."""


class ObjectSplitter:
    """Splits an object into parts, and checks that each part consists of valid members.

    Args:
        text: the text of the message.
        scanner: a scanner with its cursor before the first member of the object, which must not be empty.
        boundary: the boundary of its members.
        where: the file, for errors.
    """

    def __init__(self, text: MessageText, scanner: Scanner, boundary: MemberBoundary, where: str) -> None:
        self._text, self._scanner, self._boundary, self._where = text, scanner, boundary, where
        self._hashes = KeyHashes()

    def parts(self) -> Iterator[ByteRange]:
        """Yield the parts; at the end, the cursor is after the last part, before a closing bracket.

        Raises:
            DatasetError: a part is not valid JSON.
            DamagedTextError: the text after the part that was yielded last is not JSON.
        """
        size = _SHORTEST
        start: int | None = self._scanner.offset
        while start is not None:
            # Finding the end of each member is slow, but always works, and is needed at the end of the object.
            part, after = self._part_by_tokens(start) if size == _SHORTEST else self._part_by_pattern(start, size)
            if part is None:
                size //= 2
                continue
            yield part
            start = after
            size = min(2 * size, _LONGEST)

    def repeated(self) -> frozenset[int]:
        """Return the hashes of keys that occur in several parts."""
        return self._hashes.repeated()

    def _part_by_pattern(self, start: int, size: int) -> tuple[ByteRange | None, int]:
        """Return a valid part of at most ``size`` bytes, and the offset of the next; None if no valid part is found.

        Text that looks like a boundary may be in a value or in another object. In that case the part is not valid,
        because it ends within a string or an inner value, or text follows the closing bracket of the object.
        """
        data = self._text.read(start, size)
        found = self._boundary.last_in(data)
        if found is None:
            return None, start
        part = ByteRange(start, start + found.start() + len(self._boundary.last))
        try:
            self._check(part, data[: part.end - start])
        except DatasetError:
            return None, start
        self._scanner.move(start + found.end())
        return part, self._scanner.offset

    def _part_by_tokens(self, start: int) -> tuple[ByteRange, int | None]:
        """Return a part, by finding the end of each member, and the offset of the next part, if any."""
        scanner = self._scanner
        while True:
            if scanner.token()[:1] != b'"' or scanner.token() != b":":
                raise DamagedTextError
            scanner.skip_value()
            part = ByteRange(start, scanner.offset)
            is_last = scanner.next_token() != b","
            if not is_last:
                scanner.token()
            if is_last or part.end - start >= _SHORTEST:
                break
        self._check(part, self._text.read(start, part.end - start))
        return part, None if is_last else scanner.offset

    def _check(self, part: ByteRange, data: bytes) -> None:
        with collector_paused():
            members, _ = _decoded(MEMBERS, data, part, self._where, "")
        self._hashes.add(members.keys())


class ObjectParts:
    """An object that is decoded part by part.

    Args:
        text: the text of the message.
        where: the file, for errors.
        parts: the parts; none if the object is empty.
        repeated: the hashes of keys that occur in several parts.
    """

    def __init__(
        self, text: MessageText, where: str, parts: Sequence[ByteRange] = (), repeated: frozenset[int] = frozenset()
    ) -> None:
        self._text, self._parts, self._repeated, self._where = text, parts, repeated, where

    def decoded(self, decoder: msgspec.json.Decoder[dict[str, T]], path: str) -> Iterator[tuple[dict[str, T], bytes]]:
        """Yield the members of each part, and its text as an object.

        Args:
            decoder: the decoder of the members.
            path: the location of the object, for errors.

        Raises:
            DatasetError: a member has another type than the decoder expects, or two have the same key and different
                values.
        """
        first: dict[str, T] = {}
        for part in self._parts:
            data = self._text.read(part.start, part.end - part.start)
            with collector_paused():
                members, text = _decoded(decoder, data, part, self._where, path)
            if self._repeated:
                self._remove_repeated(members, first)
            yield members, text

    def _remove_repeated(self, members: dict[str, T], first: dict[str, T]) -> None:
        """Remove the members whose keys occurred before with the same values, as in objects that are decoded whole."""
        for key in [member for member in members if hash(member) in self._repeated]:
            value = members[key]
            before = first.setdefault(key, value)
            if before is not value:
                if isinstance(value, Raw) or before != value:
                    raise repeated_key(self._where, key)
                del members[key]


def _decoded(
    decoder: msgspec.json.Decoder[dict[str, Any]], data: bytes, part: ByteRange, where: str, path: str
) -> tuple[dict[str, Any], bytes]:
    return decode_part_with_constants(decoder, b"{%b}" % data, where, path, lambda offset: part.start + offset - 1)
