"""The short way for JSON: a message decoded in two passes, where nothing in it is out of the ordinary.

The first pass gives the names of the outer levels and leaves their values as bytes; the second one decodes. The
short way takes only what is surely right, and says None of all else: the long way (``json_tree``) then reads the
message anew, level by level, or tells what is wrong with it and where.
"""

from __future__ import annotations

from codecs import utf_8_decode
from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar

import msgspec

from kafka_replica.errors import SdmxError
from kafka_replica.sdmx.containers import collector_paused
from kafka_replica.sdmx.message import Message

M = TypeVar("M")

SMALL: Final = 1 << 16
"""The names in messages that have fewer bytes are worth keeping."""
_LONG_PIECES: Final = 4096
_BLANKS: Final = b" \t\n\r"
_DECLINED: Final = (SdmxError, msgspec.DecodeError, RecursionError, ValueError)


class DeclinedError(ValueError):
    """The message is left to the long way."""


def short(read: Callable[[bytes, M], Message], data: bytes, claimed: M) -> Message | None:
    """The message, or None where the long way has to look."""
    try:
        # msgspec checks only what it decodes.
        if len(data) < SMALL:
            data.decode()
            return read(data, claimed)
        _must_be_utf8(data)
        with collector_paused():
            return read(data, claimed)
    except _DECLINED:
        return None


def _must_be_utf8(data: bytes) -> None:
    """Raises UnicodeDecodeError. In pieces, for a text as long as the message takes new memory, and so time."""
    view, at, end = memoryview(data), 0, len(data)
    while at < end:
        piece = view[at : at + SMALL]
        at += utf_8_decode(piece, "strict", at + len(piece) == end)[1]


def list_of(decoder: msgspec.json.Decoder[Any]) -> Any:
    """The type of a list of what the decoder gives."""
    return list.__class_getitem__(decoder.type)


def list_written(objects: list[dict[str, msgspec.Raw]]) -> list[Any]:
    """A list of objects whose values were kept as bytes, written down again, in pieces: it may be long."""
    pieces: list[Any] = []
    mark = b"["
    for one in objects:
        pieces.append(mark)
        pieces += object_written(one)
        mark = b", "
    pieces.append(b"]" if objects else b"[]")
    return pieces


def object_written(members: dict[str, msgspec.Raw]) -> list[Any]:
    """One such object, with blanks as ``json.dumps`` has them."""
    pieces: list[Any] = []
    mark = b"{"
    for name, value in members.items():
        pieces += (b'%b"%b": ' % (mark, name.encode()), value)
        mark = b", "
    pieces.append(b"}" if members else b"{}")
    return pieces


def template_of(names: tuple[str, ...]) -> list[bytes]:
    """An object with these names in pieces; between two pieces stands a value."""
    pieces = [b"{"]
    for name in names:
        pieces[-1] += f'"{name}": '.encode()
        pieces.append(b", ")
    pieces[-1] = b"}" if names else b"{}"
    return pieces


def joined(*templates: bytes | list[bytes]) -> list[bytes]:
    """Templates one after the other, with room for the values: every second piece."""
    pieces = [b""]
    for one in templates:
        first, *rest = [one] if isinstance(one, bytes) else one
        pieces[-1] += first
        for piece in rest:
            pieces += (b"", piece)
    return pieces


def must_be_filled(data: bytes, template: list[bytes], values: Iterable[Any]) -> None:
    """The same as ``must_be_all`` for a short message: what was kept are the values, in a template."""
    pieces: list[Any] = template.copy()
    pieces[1::2] = values
    if b"".join(pieces) != data:
        must_be_all(data, pieces)


def must_be_all(data: bytes, pieces: list[Any]) -> None:
    """Raises DeclinedError where more was there than was kept, or a name has escapes in it.

    Parsers keep one of two members with the same name and never say so. What was kept is written down again
    beside what was there: if both are the same but for blanks, nothing was dropped.
    """
    if len(data) > _LONG_PIECES * len(pieces) and _are_all(data, pieces):
        return
    kept = b"".join(pieces)
    # What is kept is in what is there; so where both have as much but for blanks, they are the same.
    if kept != data and len(kept.translate(None, _BLANKS)) != len(data.translate(None, _BLANKS)):
        raise DeclinedError("a name comes twice, or has escapes in it")


def _are_all(data: bytes, pieces: list[Any]) -> bool:
    """Whether the pieces, one after the other, are the data; long ones are not copied for that."""
    at = 0
    for piece in pieces:
        view = memoryview(piece)
        if not data.startswith(view, at):
            return False
        at += view.nbytes
    return at == len(data)
