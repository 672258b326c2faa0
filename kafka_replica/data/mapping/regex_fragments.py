"""Fragments of expressions in Rust's syntax: characters and sets, with the size of the programs that Rust compiles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

# Bytes of the program that Rust compiles from an expression, measured with polars 1.x and rounded up.
BYTE_BYTES: Final = 32
STATE_BYTES: Final = 80
RANGE_BYTES: Final = 1_300
_ASCII_BYTES: Final = 8
_CATEGORY_BYTES: Final = 52_000


class UnusableExpressionError(ValueError):
    """An expression that is malformed, too large, or read differently by Java and Rust; the message has advice."""


def malformed_expression(what: str) -> UnusableExpressionError:
    """Return the error for an expression that no dialect accepts."""
    return UnusableExpressionError(f"it is malformed: {what}; correct the map")


def unportable_expression(what: str) -> UnusableExpressionError:
    """Return the error for an expression that dialects read differently."""
    return UnusableExpressionError(f"{what}: Java's and Rust's expressions do not share this; write it without")


class RegexFragment(NamedTuple):
    """A fragment of an expression: its text, the bytes of its program, and whether it may match an empty text."""

    written: str
    size: int
    may_be_empty: bool = False


def character_set(parts: Sequence[str], *, negated: bool) -> RegexFragment:
    """Return the set of these characters, or of all others."""
    size = sum(map(_bytes, parts)) + STATE_BYTES + RANGE_BYTES * negated
    return RegexFragment(f"[{'^' if negated else ''}{''.join(parts)}]", size)


def _bytes(part: str) -> int:
    if part.startswith("\\p"):
        return _CATEGORY_BYTES
    return _ASCII_BYTES * len(part) if part.isascii() else RANGE_BYTES


def character_of_code(code: int) -> str:
    """Return the character with a code. Raises UnusableExpressionError: there is none."""
    if code > 0x10FFFF:
        raise malformed_expression(f"there is no character {code:X}")
    if 0xD800 <= code <= 0xDFFF:
        raise unportable_expression(f"{code:X}, half a character (write the whole as \\x{{...}})")
    return chr(code)


def other_case(part: str) -> str:
    """Return a letter, or a range of letters of the same case, in the other case; empty for anything else."""
    return part.swapcase() if re.fullmatch("[a-z](-[a-z])?|[A-Z](-[A-Z])?", part) else ""
