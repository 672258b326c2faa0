"""The fast path for JSON: it decodes a message in two passes if the message has nothing unusual.

The first pass parses plain objects: it finds the names of the outer levels and checks that no name is repeated. The
second pass decodes into structs. The fast path accepts only messages that are surely right; the slow path
(``tree``) reads all others level by level, or reports the error and its place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from kafka_replica.sdmx.containers import collector_paused
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.json_shared import names
from kafka_replica.sdmx.message import Message

M = TypeVar("M")
Objects: TypeAlias = list[dict[str, Any]]
"""The objects of a list as decoded, without conversion."""

SMALL: Final = 1 << 16
_DECLINED: Final = (SdmxError, msgspec.MsgspecError, RecursionError, ValueError, OverflowError)


class DeclinedError(ValueError):
    """A signal that the fast path declines the message and leaves it to the slow path."""


def short(read: Callable[[bytes, Any, M], Message], data: bytes, claimed: M) -> Message | None:
    """Return the message, or None if the slow path has to read it. ``read`` takes its bytes and its plain objects."""
    try:
        if len(data) < SMALL:
            return read(data, names.tree_of(data), claimed)
        with collector_paused():
            return read(data, names.tree_of(data), claimed)
    except _DECLINED:
        return None


def objects_of(tree: dict[str, Any]) -> dict[str, Objects]:
    """Return the lists of objects by name. Raises DeclinedError for anything else."""
    for name, held in tree.items():
        if type(held) is not list or not all(type(one) is dict for one in held):
            raise DeclinedError(name)
    return tree


def list_of(decoder: msgspec.json.Decoder[Any]) -> Any:
    """Return the type of a list whose elements the decoder reads."""
    return list.__class_getitem__(decoder.type)
