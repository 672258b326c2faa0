"""Decode a message, or a part of it, and describe what is wrong with it.

Numbers keep their text. NaN and infinity, which JSON lacks, are texts.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeVar

import msgspec
from msgspec import Raw

from kafka_replica.data.errors import DatasetError

T = TypeVar("T")

TOO_DEEP: Final = "is nested too deeply for a message of data; have it written again"
_CONSTANTS: Final = {b"NaN": b'"NaN"', b"Infinity": b'"INF"', b"-Infinity": b'"-INF"'}
"""Numbers that JSON lacks, as some programs write them, with their form in SDMX (XML Schema, ``double``) as texts."""
_TEXT_OR_CONSTANT: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"|-?Infinity|NaN', re.DOTALL)
_PLACE: Final = re.compile(r"\(byte (\d+)\)")


def failure(where: str, reason: str) -> DatasetError:
    """Return the error for a message that violates the standard."""
    return DatasetError(f"reading {where} as an SDMX-JSON data message: {reason}")


def decoded(
    decoder: msgspec.json.Decoder[T], data: bytes | Raw, where: str, path: str, place: Callable[[int], int] = int
) -> T:
    """Decode a part of a message.

    Args:
        decoder: the decoder.
        data: the part.
        where: the file, for errors.
        path: the location of the part in the message.
        place: converts a place in ``data`` to the one that errors give.

    Raises:
        DatasetError: the part is not JSON, or has other types than the decoder expects.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise failure(where, described(error, path)) from error
    except RecursionError as error:
        raise failure(where, f"{path or 'the text'} {TOO_DEEP}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = _PLACE.sub(lambda found: f"(byte {place(int(found[1]))})", str(error))
        raise failure(where, f"{path or 'the text'} is damaged: {reason}") from error


def decoded_with_constants(
    decoder: msgspec.json.Decoder[T], data: bytes, where: str, path: str, place: Callable[[int], int]
) -> tuple[T, bytes]:
    """Decode a part of a message in which NaN and infinity may occur.

    Returns:
        What was decoded, and the part with texts in place of these numbers.

    The arguments and errors are those of :func:`decoded`.
    """
    try:
        return decoded(decoder, data, where, path, place), data
    except DatasetError:
        # Most messages have no such numbers, and searching each for them takes longer than this second attempt.
        if b"NaN" not in data and b"Infinity" not in data:
            raise
    replaced = _TEXT_OR_CONSTANT.sub(lambda found: _CONSTANTS.get(found[0], found[0]), data)
    return decoded(decoder, replaced, where, path, lambda at: place(_before_replacing(data, at))), replaced


def _before_replacing(data: bytes, place: int) -> int:
    """Return the place in ``data`` of a place in the text in which NaN and infinity were replaced."""
    for found in _TEXT_OR_CONSTANT.finditer(data):
        if found.start() >= place:
            break
        place -= len(_CONSTANTS.get(found[0], found[0])) - len(found[0])
    return place


def described(error: msgspec.ValidationError, path: str) -> str:
    """Return the text of an error with the whole path, because msgspec's path begins (``$``) at the decoded part."""
    problem, _, place = str(error).replace("Object missing required field", "missing field").partition(" - at `")
    place = f"{path}{place.strip('`')[1:]}".lstrip(".")
    return f"{place or 'the message'}: {problem[:1].lower()}{problem[1:]}"
