r"""Regular expressions of representation maps, rewritten so that Java and Rust read them alike.

The standard names no dialect. Registries use Java's, so it is the dialect read here, with ``\d``, ``\w`` and ``\s`` in
ASCII. Features that Rust lacks (look-around, back references, possessive quantifiers) or reads differently (``\b``,
flags except ``(?i)``, nested classes) make an expression unusable, which is reported.

An expression must match the whole value ("Rule match if input = 'A'"). An expression that begins with ``^`` and does
not end with ``$`` matches the beginning ("Rule match if the input starts with letters A to G"), and one that only ends
with ``$`` matches the end. Each alternative outside groups has its own anchors, because ``|`` has lower precedence.
Source: SDMX 3.1 Section 6, 13.6.1.

Two things are limited because Rust limits them: the nesting depth of groups, and the size of the program that an
expression becomes, which is estimated here, rather too high than too low.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from kafka_replica.data.mapping.regex_fragments import UnusableExpressionError, malformed_expression
from kafka_replica.data.mapping.regex_reader import JavaExpressionReader
from kafka_replica.data.regular_expressions import with_python_codes

__all__ = ["PortableExpression", "UnusableExpressionError", "portable_expression"]

_QUOTED: Final = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_MOST_BYTES: Final = 10_000_000
"""The largest program that Rust may compile from an expression; its limit is 10,485,760 bytes."""


class PortableExpression(NamedTuple):
    """An expression for a whole text, without anchors.

    Attributes:
        written: the expression.
        groups: the number of groups that it captures.
        is_unsure: whether groups may capture different texts in Java and Rust, because a part that may match an empty
            text is repeated: Java ends a repetition that consumes nothing, Rust continues.
    """

    written: str
    groups: int
    is_unsure: bool = False

    def only(self, group: int) -> str:
        """Return the expression with this group as the only capturing one."""
        numbers = iter(range(1, self.groups + 1))
        return _GROUPS.sub(lambda at: "(" if at[0] == "(" and next(numbers) == group else _kept(at[0]), self.written)


_GROUPS: Final = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|\(\?|\(")


def _kept(text: str) -> str:
    return "(?:" if text == "(" else text


def portable_expression(expression: str) -> PortableExpression:
    """Return the rewritten expression. Raises UnusableExpressionError."""
    text, ignore_case = expression, False
    if text.startswith("(?i)"):
        text, ignore_case = text[4:], True
    reader = JavaExpressionReader(_QUOTED.sub(_unquoted, text), ignore_case=ignore_case)
    whole = reader.whole()
    if whole.size > _MOST_BYTES:
        raise UnusableExpressionError(
            f"it is too large for Rust's expressions (about {whole.size:,} bytes, at most {_MOST_BYTES:,}); write it "
            "with fewer copies, or with * or + instead of numbers"
        )
    _check(whole.written)
    return PortableExpression(whole.written, reader.groups, reader.is_unsure)


def _unquoted(found: re.Match[str]) -> str:
    """Replace quoted text by escapes, so that a following quantifier repeats the last character, as in Java."""
    if found[1] is None:
        return found[0]
    return "".join(char if char.isalnum() else f"\\{char}" for char in found[1])


def _check(written: str) -> None:
    try:
        re.compile(re.sub(r"\\[pP]\{[^}]*\}", "x", with_python_codes(written)))
    except re.error as error:
        raise malformed_expression(str(error)) from error
