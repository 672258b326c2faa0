"""Detect JSON objects in which a key occurs twice; decoders keep only the last value, and so lose data silently.

Counting is enough: if the text has as many keys as the decoded objects, none was lost. Only if the numbers differ, or
the keys in the text cannot be counted reliably, is the text decoded again to find the repeated key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET, Struct

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.messages.json.decoding import TOO_DEEP, message_error

_UNCOUNTABLE: Final = {b" ": b" :", b"\t": b"\t:", b"\n": b"\n:", b"\r": b"\r:", b"\\": b'\\":'}
"""Byte sequences that make counting ``":`` unreliable, by their first byte: a blank before the colon, or an escaped
quote before it.

A single byte is found ten times as fast as a text, and most messages have few of these bytes.
"""


def keys_in(values: Iterable[Any]) -> int:
    """Return the number of keys of all objects in plain values, including nested ones."""
    found, todo = 0, list(values)
    while todo:
        one = todo.pop()
        if isinstance(one, dict):
            found += len(one)
            todo.extend(one.values())
        elif isinstance(one, list):
            todo.extend(one)
    return found


def colons_in(keys: Iterable[str]) -> int:
    """Return the number of colons in keys."""
    return "".join(keys).count(":")


def members_of(struct: Struct) -> list[Any]:
    """Return the members of a decoded object that are present."""
    return [one for name in struct.__struct_fields__ if (one := getattr(struct, name)) is not UNSET]


def are_all_decoded(data: bytes, keys: int, colons: int = 0) -> bool:
    """Return whether all keys of a text are certainly among the decoded ones.

    Args:
        data: the text, in UTF-8.
        keys: the number of keys of all objects that were decoded from the text.
        colons: the number of colons in these keys, or fewer if their number is not known.
    """
    # Without escapes, each colon follows a key, or is in a key or value. The text has at least as many of the first two
    # as were decoded, so if it has no more colons, then no key was lost. Counting a single byte is fast.
    if data.count(b":") == keys + colons and b"\\" not in data:
        return True
    return data.count(b'":') == keys and not any(byte in data and text in data for byte, text in _UNCOUNTABLE.items())


def check_no_key_repeats(data: bytes, where: str) -> None:
    """Check that no object of a text has a key twice with different values.

    Args:
        data: the text, in UTF-8.
        where: the file, for errors.

    Raises:
        DatasetError: an object has a key twice with different values.
    """

    def check(pairs: Sequence[tuple[str, Any]]) -> object:
        seen: dict[str, Any] = {}
        for key, value in pairs:
            if seen.setdefault(key, value) != value:
                raise repeated_key(where, key)
        return object()  # compares unequal to any other object, and needs less memory than the decoded object

    try:
        json.loads(data, object_pairs_hook=check)
    except RecursionError as error:
        raise message_error(where, f"the text {TOO_DEEP}") from error
    except ValueError as error:
        raise message_error(where, f"the text is damaged: {error}") from error


def repeated_key(where: str, key: str) -> DatasetError:
    """Return the error for a key that occurs twice."""
    return message_error(where, f"the key {key!r} occurs twice in one object; only one of the two would be read")
