"""Objects in which a key occurs twice. JSON decoders keep the last of them, so that data would be lost silently.

Counting is enough: as many keys in the text as in the decoded objects means that none was lost. Only if the numbers
differ, or the text cannot be counted simply, the text is decoded again to find the key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from kafka_replica.data.files.messages.json.wire import failure

_UNCOUNTABLE: Final = {b" ": b" :", b"\t": b"\t:", b"\n": b"\n:", b"\r": b"\r:", b"\\": b'\\":'}
"""Texts in which a key need not end with ``":``, or that may end with it without being a key, by their first byte.

A single byte is found ten times as fast as a text, and most messages have few of these bytes.
"""


def keys_in(values: Iterable[Any]) -> int:
    """Return the number of keys of all objects in plain values."""
    found, todo = 0, list(values)
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            found += len(one)
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return found


def members_of(struct: Struct) -> list[Any]:
    """Return the members of a decoded object that are present."""
    members = (getattr(struct, name) for name in struct.__struct_fields__)
    return [member for member in members if member is not UNSET]


def check_no_key_repeats(data: bytes, keys: int, where: str) -> None:
    """Check that no object has a key twice with different values, if the decoded objects have this number of keys.

    Raises:
        DatasetError: an object has a key twice.
    """
    if data.count(b'":') == keys and not any(byte in data and text in data for byte, text in _UNCOUNTABLE.items()):
        return

    def check(pairs: Sequence[tuple[str, Any]]) -> object:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if seen.setdefault(key, value) != value:
                raise failure(where, f"the key {key!r} occurs twice in one object; only one of the two would be read")
        return object()  # equal to no other, and smaller than the object itself

    try:
        json.loads(data, object_pairs_hook=check)
    except (ValueError, RecursionError) as error:
        raise failure(where, f"the text is damaged: {error}") from error
