"""Detect repeated names in a JSON object.

Parsers keep one of the two members without reporting the other, so the valid member cannot be known (RFC 8259, section
4).
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from kafka_replica.common.json_decoders import json_decoder
from kafka_replica.sdmx.errors import MessageError
from kafka_replica.sdmx.formats.shared.reading.error_collector import ErrorCollector

_DECODE: Final = json_decoder().decode
_ENCODE: Final = msgspec.json.Encoder().encode
_ESCAPED_COLONS: Final = (b"\\u003a", b"\\u003A")


def tree_of(data: bytes) -> Any:
    """Return the document as plain objects, or None if a name may be repeated in one of its objects.

    A colon follows each name, and parsing keeps the colons in strings: if the document has as many colons as the parsed
    result, the parser dropped nothing. Raises an error of msgspec, RecursionError or ValueError if the data is not JSON
    in UTF-8.
    """
    tree = _DECODE(data)
    return tree if has_names(data, 0, tree) else None


def has_names(data: bytes, outer: int, parts: Any) -> bool:
    """Return True if the parsed parts of a document certainly have all its names, except for ``outer`` around them."""
    if data.count(b":") != outer + _ENCODE(parts).count(b":"):
        return False
    return b"\\" not in data or not any(
        escaped_colon in data for escaped_colon in _ESCAPED_COLONS
    )  # the first search is the fastest


def refuse_repeated(data: bytes) -> None:
    """Raise MessageError if a name is repeated in an object. Invalid JSON is left for the reader to reject."""
    try:
        if tree_of(data) is not None:
            return
    except msgspec.ValidationError:
        pass  # a number out of range, which only this decoder refuses
    except (msgspec.MsgspecError, RecursionError, ValueError, OverflowError):
        return
    try:
        json.loads(data, object_pairs_hook=_members, parse_int=str, parse_float=str)
    except (RecursionError, ValueError, OverflowError):
        return


def refuse_repeated_outside(data: bytes, collector: ErrorCollector) -> bool:
    """Reject a message with repeated names; if errors are collected, only for names outside its artefacts.

    Artefacts are the objects in lists, except for the lists in the header.

    Returns:
        True if a name is repeated in an artefact, so that each artefact has to be checked before it is read.

    Raises:
        MessageError: a name is repeated in an object.
    """
    try:
        refuse_repeated(data)
    except MessageError:
        if not collector.collects:
            raise
        try:
            found = json.loads(data, object_pairs_hook=tuple, parse_int=str, parse_float=str)
        except (RecursionError, ValueError):
            return False  # damaged after the repeated name: the reader rejects it
        _check_outside(found)
        return True
    return False


def _check_outside(found: Any, *, is_header: bool = False) -> None:
    """Check objects, which are tuples of their members here."""
    if isinstance(found, tuple):
        for name, value in _members(list(found)).items():
            _check_outside(value, is_header=is_header or name == "meta")
    elif is_header and isinstance(found, list):
        for one in found:
            _check_outside(one, is_header=True)


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            own = next((held for key, held in pairs if key == "id" and isinstance(held, str)), None)
            where = f" with the id {own[:80]!r}" if own and name != "id" else ""
            raise MessageError(
                f"reading a JSON message: the name {name[:80]!r} is duplicated in an object{where}, so its meaning is "
                "ambiguous; publish it again"
            )
        found[name] = value
    return found
