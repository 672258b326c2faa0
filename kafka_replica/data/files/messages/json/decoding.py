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
_BYTE_OFFSET: Final = re.compile(r"\(byte (\d+)\)")


def message_error(where: str, reason: str) -> DatasetError:
    """Return the error for a message that violates the standard."""
    return DatasetError(f"reading {where} as an SDMX-JSON data message: {reason}")


def decode_part(
    decoder: msgspec.json.Decoder[T], data: bytes | Raw, where: str, path: str, offset: Callable[[int], int] = int
) -> T:
    """Decode a part of a message.

    Args:
        decoder: the decoder.
        data: the part.
        where: the file, for errors.
        path: the location of the part in the message.
        offset: converts an offset in ``data`` to the offset that errors report.

    Raises:
        DatasetError: the part is not JSON, or has other types than the decoder expects.
    """
    try:
        return decoder.decode(data)
    except msgspec.ValidationError as error:
        raise message_error(where, described_error(error, path)) from error
    except RecursionError as error:
        raise message_error(where, f"{path or 'the text'} {TOO_DEEP}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        reason = _BYTE_OFFSET.sub(lambda found: f"(byte {offset(int(found[1]))})", str(error))
        raise message_error(where, f"{path or 'the text'} is damaged: {reason}") from error


def decode_part_with_constants(
    decoder: msgspec.json.Decoder[T], data: bytes, where: str, path: str, offset: Callable[[int], int]
) -> tuple[T, bytes]:
    """Decode a part of a message in which NaN and infinity may occur.

    Returns:
        The decoded part, and its text with strings instead of these numbers.

    The arguments and errors are those of :func:`decode_part`.
    """
    try:
        return decode_part(decoder, data, where, path, offset), data
    except DatasetError:
        # Most messages have no such numbers, and searching each for them takes longer than this second attempt.
        if b"NaN" not in data and b"Infinity" not in data:
            raise
    replaced = _TEXT_OR_CONSTANT.sub(lambda found: _CONSTANTS.get(found[0], found[0]), data)
    return decode_part(decoder, replaced, where, path, lambda at: offset(_before_replacing(data, at))), replaced


def _before_replacing(data: bytes, offset: int) -> int:
    """Convert an offset in the text after the replacement of NaN and infinity to the offset in ``data``."""
    for found in _TEXT_OR_CONSTANT.finditer(data):
        if found.start() >= offset:
            break
        offset -= len(_CONSTANTS.get(found[0], found[0])) - len(found[0])
    return offset


def described_error(error: msgspec.ValidationError, path: str) -> str:
    """Return the text of an error with the whole path, because msgspec's path begins (``$``) at the decoded part."""
    problem, _, location = str(error).replace("Object missing required field", "missing field").partition(" - at `")
    location = f"{path}{location.strip('`')[1:]}".lstrip(".")
    return f"{location or 'the message'}: {problem[:1].lower()}{problem[1:]}"
