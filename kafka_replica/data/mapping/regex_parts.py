"""What expressions are put together from: characters and sets of them, written for Rust, and what they take there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

# Bytes of what Rust makes of an expression, measured with polars 1.x and rounded up.
BYTE_BYTES: Final = 32
STATE_BYTES: Final = 80
RANGE_BYTES: Final = 1_300
_ASCII_BYTES: Final = 8
_CATEGORY_BYTES: Final = 52_000


class UnusableExpressionError(ValueError):
    """An expression that is malformed, too large, or not read alike by Java and Rust; and what to do."""


def malformed(what: str) -> UnusableExpressionError:
    """An error: no dialect reads it."""
    return UnusableExpressionError(f"it is malformed: {what}; have the map mended")


def unshared(what: str) -> UnusableExpressionError:
    """An error: not all that read it read it alike."""
    return UnusableExpressionError(f"{what}: Java's and Rust's expressions do not share this; write it without")


class Part(NamedTuple):
    """A piece: how it is written, the bytes of its program, and whether it may fit nothing."""

    written: str
    size: int
    may_be_empty: bool = False


def set_of(parts: Sequence[str], *, negated: bool) -> Part:
    """One character of those, or one of all others."""
    size = sum(map(_bytes, parts)) + STATE_BYTES + RANGE_BYTES * negated
    return Part(f"[{'^' if negated else ''}{''.join(parts)}]", size)


def _bytes(part: str) -> int:
    if part.startswith("\\p"):
        return _CATEGORY_BYTES
    return _ASCII_BYTES * len(part) if part.isascii() else RANGE_BYTES


def char_of(code: int) -> str:
    """The character of a code. Raises UnusableExpressionError: there is none."""
    if code > 0x10FFFF:
        raise malformed(f"there is no character {code:X}")
    if 0xD800 <= code <= 0xDFFF:
        raise unshared(f"{code:X}, half a character (write the whole as \\x{{...}})")
    return chr(code)


def other_case(part: str) -> str:
    """The same letters in the other case, of a letter or a range of letters of one case; nothing of others."""
    return part.swapcase() if re.fullmatch("[a-z](-[a-z])?|[A-Z](-[A-Z])?", part) else ""


def in_class(char: str) -> str:
    """A character as it is written within a class."""
    return f"\\{char}" if char in "\\^-[]&~" else control(char)


def control(char: str) -> str:
    """A character as it is written, control characters by their codes."""
    return f"\\x{{{ord(char):X}}}" if ord(char) < 32 else char
