"""The short way for JSON: a message decoded in two passes, where nothing in it is out of the ordinary.

The first pass gives the names of the outer levels and leaves their values as bytes; the second one decodes. The
short way takes only what is surely right, and says None of all else: the long way (``json_tree``) then reads the
message anew, level by level, or tells what is wrong with it and where.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import chain
from typing import Any, Final, TypeVar

import msgspec

from kafka_replica.errors import SdmxError
from kafka_replica.sdmx.message import Message

M = TypeVar("M")

_SMALL: Final = 1 << 16
_BLANKS: Final = b" \t\n\r"
_DECLINED: Final = (SdmxError, msgspec.DecodeError, RecursionError, ValueError)


class DeclinedError(ValueError):
    """The message is left to the long way."""


def short(read: Callable[[bytes, M], Message], data: bytes, claimed: M) -> Message | None:
    """The message, or None where the long way has to look."""
    try:
        # msgspec checks only what it decodes.
        data.decode()
        return read(data, claimed)
    except _DECLINED:
        return None


def list_of(decoder: msgspec.json.Decoder[Any]) -> Any:
    """The type of a list of what the decoder gives."""
    return list.__class_getitem__(decoder.type)


class Written:
    """A message as it was written, piece by piece: to see whether the parser dropped anything.

    Parsers keep one of two members with the same name and never say so. What was kept is written down again
    beside what was there: if both are the same but for blanks, nothing was dropped.
    """

    __slots__ = ("_data", "_heads", "pieces")

    def __init__(self, data: bytes) -> None:
        self._data = data
        # Small messages have the same names again and again; those of large ones are not kept.
        self._heads = _known_heads if len(data) < _SMALL else _make_heads
        self.pieces: list[Any] = []

    def members(self, members: dict[str, msgspec.Raw]) -> None:
        """An object whose values are kept as bytes."""
        pairs = zip(self._heads(tuple(members)), members.values(), strict=True)
        self.pieces.extend(chain.from_iterable(pairs))
        self.pieces.append(b"}" if members else b"{}")

    def objects(self, objects: list[dict[str, msgspec.Raw]]) -> None:
        """A list of such objects."""
        head = b"["
        for one in objects:
            self.pieces.append(head)
            self.members(one)
            head = b", "
        self.pieces.append(b"]" if objects else b"[]")

    def must_be_all(self) -> None:
        """Raises DeclinedError where more was there than was kept, or a name has escapes in it."""
        data, kept = self._data, b"".join(self.pieces)
        # What is kept is in what is there; so where both have as much but for blanks, they are the same.
        if kept != data and len(kept.translate(None, _BLANKS)) != len(data.translate(None, _BLANKS)):
            raise DeclinedError("a name comes twice, or has escapes in it")


def _make_heads(names: tuple[str, ...]) -> tuple[bytes, ...]:
    """What stands before each value of an object with these names."""
    return tuple(f'{", " if number else "{"}"{name}": '.encode() for number, name in enumerate(names))


_known_heads: Final = lru_cache(maxsize=256)(_make_heads)


def head_of(name: str, mark: str) -> bytes:
    """What stands before the value of one member; the mark is what stands before its name."""
    return f'{mark}"{name}": '.encode()


def text_of(members: dict[str, msgspec.Raw], name: str) -> str | None:
    """A member that is a text without escapes, or null, or not there. Raises DeclinedError for others."""
    raw = members.get(name)
    if raw is None:
        return None
    written = bytes(raw)
    if written[:1] == b'"' and b"\\" not in written:
        return written[1:-1].decode()
    if written != b"null":
        raise DeclinedError(name)
    return None
