"""The short way for JSON: a message decoded in two passes, where nothing in it is out of the ordinary.

The first pass gives plain objects: the names of the outer levels, and that no name comes twice. The second one decodes
into structs. The short way takes only what is surely right; the long way (``json_tree``) reads all else level by level,
or reports what is wrong with it and where.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeAlias, TypeVar

import msgspec

from kafka_replica.errors import SdmxError
from kafka_replica.sdmx.containers import collector_paused
from kafka_replica.sdmx.message import Message
from kafka_replica.sdmx.readers import json_names

M = TypeVar("M")
Objects: TypeAlias = list[dict[str, Any]]
"""The objects of a list, decoded as they are."""

SMALL: Final = 1 << 16
_DECLINED: Final = (SdmxError, msgspec.MsgspecError, RecursionError, ValueError, OverflowError)


class DeclinedError(ValueError):
    """The message is left to the long way."""


def short(read: Callable[[bytes, Any, M], Message], data: bytes, claimed: M) -> Message | None:
    """The message, or None where the long way has to look. ``read`` takes its bytes and its tree of plain objects."""
    try:
        if len(data) < SMALL:
            return read(data, json_names.tree_of(data), claimed)
        with collector_paused():
            return read(data, json_names.tree_of(data), claimed)
    except _DECLINED:
        return None


def objects_of(tree: dict[str, Any]) -> dict[str, Objects]:
    """Return the lists of objects by name. Raises DeclinedError for anything else."""
    for name, held in tree.items():
        if type(held) is not list or not all(type(one) is dict for one in held):
            raise DeclinedError(name)
    return tree


def list_of(decoder: msgspec.json.Decoder[Any]) -> Any:
    """Return the type of a list of what the decoder gives."""
    return list.__class_getitem__(decoder.type)
