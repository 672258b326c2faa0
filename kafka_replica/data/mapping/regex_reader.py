"""Read an expression as Java would, and write it so that Rust reads it in the same way."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from kafka_replica.data.mapping.regex_fragments import (
    BYTE_BYTES,
    RANGE_BYTES,
    STATE_BYTES,
    RegexFragment,
    UnusableExpressionError,
    character_of_code,
    character_set,
    malformed_expression,
    other_case,
    unportable_expression,
)
from kafka_replica.data.regular_expressions import (
    ExpressionReader,
    Member,
    Repetition,
    class_character,
    literal_character,
)

_DOT: Final = r"[^\n\r\x{85}\x{2028}\x{2029}]"
_ANY: Final = r"[\x{0}-\x{10FFFF}]*"
_CLASSES: Final = {
    "d": "0-9", "w": "A-Za-z0-9_", "s": r"\x20\t\n\x0B\f\r",
}  # fmt: skip
_POSIX: Final = {
    "Alpha": "A-Za-z", "Digit": "0-9", "Alnum": "A-Za-z0-9", "Upper": "A-Z", "Lower": "a-z", "XDigit": "0-9A-Fa-f",
    "Space": r"\x20\t\n\x0B\f\r", "Blank": r"\x20\t", "ASCII": r"\x00-\x7F",
}  # fmt: skip
_CATEGORY: Final = re.compile(r"([pP])(?:\{(?:Is)?([A-Za-z]{1,6})\}|([A-Z]))")
_GENERAL: Final = re.compile(r"L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cf]?")
_GROUP: Final = re.compile(r"\?(?::|<([A-Za-z][A-Za-z0-9]*)>)")
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}")

_DEEPEST: Final = 50
"""The deepest nesting of groups; Rust allows 250 levels, and a group in a repeated alternative takes four."""


class JavaExpressionReader(ExpressionReader[RegexFragment]):
    """Reads an expression of Java's from left to right, and writes it in Rust's syntax."""

    QUANTIFIER = re.compile(r"[?*+]|\{([0-9]{1,4})(?:(,)([0-9]{0,4}))?\}")

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        super().__init__(text)
        self.groups, self._ignore_case = 0, ignore_case
        self.is_unsure = False

    def whole(self) -> RegexFragment:
        """Return the whole expression: alternatives, each with its own anchors."""
        found = self.alternatives()
        if self.at < len(self.text):
            raise malformed_expression(f"{self.text[self.at]!r} at {self.at} has no opening counterpart")
        return found

    def error(self, reason: str) -> UnusableExpressionError:  # noqa: D102 - as in ExpressionReader
        return UnusableExpressionError(reason)

    def malformed(self, reason: str) -> UnusableExpressionError:  # noqa: D102
        return malformed_expression(reason)

    # --- alternatives and their anchors ---

    def either(self, branches: Sequence[RegexFragment]) -> RegexFragment:  # noqa: D102
        return RegexFragment(
            "|".join(branch.written for branch in branches),
            sum(branch.size + STATE_BYTES for branch in branches),
            any(branch.may_be_empty for branch in branches),
        )

    def branch(self) -> RegexFragment:  # noqa: D102
        if self.depth:
            return super().branch()
        at_start = self.take("^")
        inner = super().branch()
        at_end = self.take("$")
        if at_end and self.text[self.at : self.at + 1] not in {"", "|"}:
            raise self._misplaced("$")
        if at_start == at_end:
            return inner
        written = f"(?:{inner.written}){_ANY}" if at_start else f"{_ANY}?(?:{inner.written})"
        return RegexFragment(written, inner.size + RANGE_BYTES, inner.may_be_empty)

    def ends_branch(self) -> bool:  # noqa: D102
        return not self.depth and self.text.startswith("$", self.at)

    def sequence(self, parts: Sequence[RegexFragment]) -> RegexFragment:  # noqa: D102
        return RegexFragment(
            "".join(part.written for part in parts),
            sum(part.size for part in parts),
            all(part.may_be_empty for part in parts),
        )

    def _misplaced(self, anchor: str) -> UnusableExpressionError:
        begins_or_ends = "begin" if anchor == "^" else "end"
        return UnusableExpressionError(
            f"{anchor} may {begins_or_ends} the expression, or an alternative outside groups, and nothing else: write "
            f"^(A|B)$ instead of (^A$|^B$), and \\{anchor} for the character"
        )

    # --- quantifiers and groups ---

    def repeated(self, atom: RegexFragment, repetition: Repetition) -> RegexFragment:  # noqa: D102
        written, least, most = repetition
        lazy = "?" if self.take("?") else ""
        if self.text[self.at : self.at + 1] in {"+", "*", "?"}:
            raise unportable_expression("a possessive quantifier")
        if (least, most) == (1, 1):
            return atom
        if atom.may_be_empty and most != 1:
            self.is_unsure = True
        copies = max(least if most is None else most, 1)
        return RegexFragment(
            atom.written + written + lazy, copies * (atom.size + STATE_BYTES), atom.may_be_empty or least == 0
        )

    def opening(self) -> str:  # noqa: D102
        if self.text.startswith("?", self.at):
            found = _GROUP.match(self.text, self.at)
            if found is None:
                raise unportable_expression("look-around, an atomic group, or flags within an expression")
            self.at = found.end()
            if not found[1]:
                return "(?:"
        self.groups += 1
        return "("

    def check_depth(self) -> None:  # noqa: D102
        if self.depth > _DEEPEST:
            raise UnusableExpressionError(f"groups are nested more than {_DEEPEST} levels deep; write it with fewer")

    def group(self, opened: str, inner: RegexFragment) -> RegexFragment:  # noqa: D102
        return RegexFragment(f"{opened}{inner.written})", inner.size + STATE_BYTES, inner.may_be_empty)

    # --- characters and classes ---

    def atom(self) -> RegexFragment:  # noqa: D102
        if self.QUANTIFIER.match(self.text, self.at):
            raise malformed_expression(f"{self.text[self.at]!r} at {self.at} has nothing to repeat")
        return super().atom()

    def any_char(self) -> RegexFragment:  # noqa: D102
        return RegexFragment(_DOT, 4 * RANGE_BYTES)

    def character(self, char: str) -> RegexFragment:  # noqa: D102
        if char in "^$":
            raise self._misplaced(char)
        return self._literal(char)

    def escape(self) -> RegexFragment:  # noqa: D102
        written, is_set, negated = self._escaped()
        return character_set([written], negated=negated) if is_set else self._literal(written)

    def _escaped(self) -> tuple[str, bool, bool]:
        """Return the meaning of an escape: a character or set, whether it is a set, and whether it is negated."""
        category = _CATEGORY.match(self.text, self.at)
        if category is not None:
            self.at = category.end()
            name = category[2] or category[3]
            negated = category[1] == "P"
            if name in _POSIX:
                return _POSIX[name], True, negated
            if _GENERAL.fullmatch(name):
                return rf"\p{{{name}}}", True, negated
            raise unportable_expression(rf"\p{{{name}}}")
        code = _HEX.match(self.text, self.at)
        if code is not None:
            self.at = code.end()
            return character_of_code(int(code[1] or code[2] or code[3], 16)), False, False
        char = self.next()
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], True, char.isupper()
        control = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}.get(char)
        if control is None and char.isalnum():
            raise unportable_expression(f"\\{char}")
        return control or char, False, False

    def char_class(self) -> RegexFragment:  # noqa: D102
        negated = self.take("^")
        parts = [member.written for member in self.members()]
        self.at += 1
        if self._ignore_case:
            parts += [other_case(part) for part in parts if other_case(part)]
        return character_set(parts, negated=negated)

    def member(self) -> Member:  # noqa: D102
        char = self.next()
        if char == "[":
            raise unportable_expression("a class within a class")
        if char == "&" and self.text.startswith("&", self.at):
            raise unportable_expression("an intersection of classes")
        if char != "\\":
            return Member(class_character(char), is_set=False)
        written, is_set, negated = self._escaped()
        if is_set and negated:
            raise unportable_expression("a negated class within a class")
        return Member(written if is_set else class_character(written), is_set)

    def _literal(self, char: str) -> RegexFragment:
        both = {char, char.lower(), char.upper()} if self._ignore_case and char.isascii() else {char}
        if len(both) > 1:
            return character_set(sorted(both), negated=False)
        return RegexFragment(literal_character(char), BYTE_BYTES * len(char.encode()))
