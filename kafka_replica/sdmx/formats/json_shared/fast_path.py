"""The fast path for JSON, for messages that have nothing unusual.

It decodes the outermost levels, then each artefact into structs. The fast path accepts only messages that are certainly
valid; the slow path (``format_detection``) reads all others level by level, or reports the error and its place.

*Repeated names.* A colon follows each name, and decoding keeps the colons in strings. So if the structs, encoded again,
have as many colons as the message, they hold each of its members, and no name is repeated or unknown. That is the usual
case, and costs less than parsing the message into plain objects (see ``repeated_names``), as in all other cases.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

import msgspec

from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.json_shared import repeated_names
from kafka_replica.sdmx.messages.message import Message

M = TypeVar("M")

_SMALL: Final = 1 << 16
_DECLINED: Final = (SdmxError, msgspec.MsgspecError, RecursionError, ValueError, OverflowError)


class DeclinedError(ValueError):
    """A signal that the fast path declines the message and leaves it to the slow path."""


def try_fast_path(read: Callable[[bytes, M], Message], data: bytes, claimed: M) -> Message | None:
    """Return the message, or None if the slow path has to read it."""
    try:
        if len(data) < _SMALL:
            return read(data, claimed)
        with collector_paused():
            return read(data, claimed)
    except _DECLINED:
        return None


def plain(raw: msgspec.Raw) -> Any:
    """Return a part of a message as plain objects. Raises DeclinedError if a name may be repeated in it."""
    tree = repeated_names.tree_of(bytes(raw))
    if tree is None:
        raise DeclinedError("a name twice")
    return tree


def unless_whole(data: bytes, meta: tuple[Any, msgspec.Raw] | None, parts: list[Any], outer: int) -> Any:
    """Return None if the parts of a message hold all its members, otherwise the message as plain objects.

    Args:
        data: the message.
        meta: its header, as a struct that omits defaults and as written.
        parts: the structs that omit defaults, which were decoded from the rest of it.
        outer: the number of names around the header and the parts.

    Raises:
        DeclinedError: a name may be repeated in an object.
    """
    if repeated_names.has_names(data, outer, parts if meta is None else [meta[0], *parts]):
        return None
    if meta is not None and repeated_names.has_names(
        data, outer, [plain(meta[1]), *parts]
    ):  # it may hold unknown members
        return None
    tree = repeated_names.tree_of(data)
    if tree is None:
        raise DeclinedError("a name twice")
    return tree
