r"""Regular expressions of representation maps, rewritten so that Java and Rust read them alike.

The standard names no dialect; registries run Java's, so that is what is read here, with ``\d``, ``\w`` and ``\s`` in
ASCII. What Rust lacks (look-around, back references, possessive quantifiers) or reads otherwise (``\b``, flags but
``(?i)``, nested classes) makes an expression unusable, and that is told.

An expression must fit the whole value ("Rule match if input = 'A'"). One that begins with ``^`` and does not end with
``$`` fits the beginning ("Rule match if the input starts with letters A to G"), one that ends with ``$`` alone the end.
Each alternative outside groups has its own anchors, as ``|`` binds less than they do.
Source: SDMX 3.1 Section 6, 13.6.1.

Two things are bounded, for Rust bounds them: how deep groups stand in each other, and the size of the program that an
expression becomes, which is reckoned here and rather too high.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kafka_replica.data.mapping.regex_parts import UnusableExpressionError, malformed
from kafka_replica.data.mapping.regex_reader import Reader

__all__ = ["Expression", "UnusableExpressionError", "usable"]

_QUOTED: Final = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_MOST_BYTES: Final = 10_000_000
"""Of what Rust makes of an expression; it allows 10,485,760."""


class Expression(NamedTuple):
    """An expression for a whole text, without anchors.

    Attributes:
        written: the expression.
        groups: how many groups it captures.
        is_unsure: whether groups of Java and Rust may capture different texts, for a part that may fit nothing is
            repeated: Java ends a repetition that takes nothing, Rust goes on.
    """

    written: str
    groups: int
    is_unsure: bool = False

    def only(self, group: int) -> str:
        """The expression with that group alone capturing."""
        numbers = iter(range(1, self.groups + 1))
        return _GROUPS.sub(lambda at: "(" if at[0] == "(" and next(numbers) == group else _kept(at[0]), self.written)


_GROUPS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?|\(")


def _kept(text: str) -> str:
    return "(?:" if text == "(" else text


def usable(expression: str) -> Expression:
    """The expression rewritten. Raises UnusableExpressionError."""
    text, ignore_case = expression, False
    if text.startswith("(?i)"):
        text, ignore_case = text[4:], True
    reader = Reader(_QUOTED.sub(_unquoted, text), ignore_case=ignore_case)
    whole = reader.whole()
    if whole.size > _MOST_BYTES:
        raise UnusableExpressionError(
            f"it is too large for Rust's expressions (about {whole.size:,} bytes, at most {_MOST_BYTES:,}); write it "
            "with fewer copies, or with * or + instead of numbers"
        )
    _check(whole.written)
    return Expression(whole.written, reader.groups, reader.is_unsure)


def _unquoted(found: re.Match[str]) -> str:
    """What is quoted as escapes, so that a quantifier behind it repeats the last character, as in Java."""
    if found[1] is None:
        return found[0]
    return "".join(char if char.isalnum() else f"\\{char}" for char in found[1])


def _check(written: str) -> None:
    python = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda code: f"\\U{int(code[1], 16):08x}", written)
    try:
        re.compile(re.sub(r"\\[pP]\{[^}]*\}", "x", python))
    except re.error as error:
        raise malformed(str(error)) from error
