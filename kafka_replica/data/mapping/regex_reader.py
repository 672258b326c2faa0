"""Read an expression as Java would, and write it so that Rust reads it in the same way."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from kafka_replica.data.expressions import Scanner, in_class, literal
from kafka_replica.data.mapping.regex_parts import (
    BYTE_BYTES,
    RANGE_BYTES,
    STATE_BYTES,
    Part,
    UnusableExpressionError,
    char_of,
    malformed,
    other_case,
    set_of,
    unshared,
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
_QUANTIFIER: Final = re.compile(r"[?*+]|\{([0-9]{1,4})(?:,([0-9]{0,4}))?\}")
_GROUP: Final = re.compile(r"\?(?::|<([A-Za-z][A-Za-z0-9]*)>)")
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}")

_DEEPEST: Final = 50
"""The deepest nesting of groups; Rust allows 250 levels, and a group in a repeated alternative takes four."""
_COPIES: Final = 1000


class Reader(Scanner):
    """Reads an expression from left to right, and writes it in Rust's syntax."""

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        super().__init__(text)
        self.groups, self._ignore_case = 0, ignore_case
        self.is_unsure = False
        self._depth = 0

    def whole(self) -> Part:
        """Return the whole expression: alternatives, each with its own anchors."""
        found = self._alternatives(self._anchored)
        if self.at < len(self.text):
            raise malformed(f"{self.text[self.at]!r} at {self.at} closes nothing")
        return found

    def _alternatives(self, branch: Callable[[], Part]) -> Part:
        branches = [branch()]
        while self.take("|"):
            branches.append(branch())
        return Part(
            "|".join(one.written for one in branches),
            sum(one.size + STATE_BYTES for one in branches),
            any(one.may_be_empty for one in branches),
        )

    def _anchored(self) -> Part:
        at_start = self.take("^")
        inner = self._branch()
        at_end = self.take("$")
        if at_end and self.text[self.at : self.at + 1] not in {"", "|"}:
            raise self._misplaced("$")
        if at_start == at_end:
            return inner
        written = f"(?:{inner.written}){_ANY}" if at_start else f"{_ANY}?(?:{inner.written})"
        return Part(written, inner.size + RANGE_BYTES, inner.may_be_empty)

    def _branch(self) -> Part:
        ends = "|)" if self._depth else "|)$"
        written, size, may_be_empty = "", 0, True
        while self.at < len(self.text) and self.text[self.at] not in ends:
            part = self._quantified()
            written += part.written
            size += part.size
            may_be_empty &= part.may_be_empty
        return Part(written, size, may_be_empty)

    def _quantified(self) -> Part:
        atom = self._atom()
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            return atom
        self.at = found.end()
        least, most = _counts(found)
        if max(least, most or 0) > _COPIES:
            raise UnusableExpressionError(f"{found[0]} asks for more than {_COPIES} copies; write fewer, or * or +")
        lazy = "?" if self.take("?") else ""
        if self.text[self.at : self.at + 1] in {"+", "*", "?"}:
            raise unshared("a possessive quantifier")
        if (least, most) == (1, 1):
            return atom
        if atom.may_be_empty and most != 1:
            self.is_unsure = True
        copies = max(least if most is None else most, 1)
        return Part(atom.written + found[0] + lazy, copies * (atom.size + STATE_BYTES), atom.may_be_empty or least == 0)

    def _atom(self) -> Part:
        if _QUANTIFIER.match(self.text, self.at):
            raise malformed(f"{self.text[self.at]!r} at {self.at} repeats nothing")
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == ".":
            return Part(_DOT, 4 * RANGE_BYTES)
        if char == "\\":
            return self._escape()
        if char in "^$":
            raise self._misplaced(char)
        return self._literal(char)

    def _misplaced(self, anchor: str) -> UnusableExpressionError:
        begins_or_ends = "begin" if anchor == "^" else "end"
        return UnusableExpressionError(
            f"{anchor} may {begins_or_ends} the expression, or an alternative outside groups, and nothing else: write "
            f"^(A|B)$ instead of (^A$|^B$), and \\{anchor} for the character"
        )

    def _group(self) -> Part:
        opened = "(?:"
        if self.text.startswith("?", self.at):
            found = _GROUP.match(self.text, self.at)
            if found is None:
                raise unshared("look-around, an atomic group, or flags within an expression")
            self.at = found.end()
            if found[1]:
                self.groups, opened = self.groups + 1, "("
        else:
            self.groups, opened = self.groups + 1, "("
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnusableExpressionError(f"more than {_DEEPEST} groups stand in each other; write it with fewer")
        inner = self._alternatives(self._branch)
        self._depth -= 1
        if not self.take(")"):
            raise malformed("a group is not closed")
        return Part(f"{opened}{inner.written})", inner.size + STATE_BYTES, inner.may_be_empty)

    def _escape(self) -> Part:
        written, is_set, negated = self._escaped()
        return set_of([written], negated=negated) if is_set else self._literal(written)

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
            raise unshared(rf"\p{{{name}}}")
        code = _HEX.match(self.text, self.at)
        if code is not None:
            self.at = code.end()
            return char_of(int(code[1] or code[2] or code[3], 16)), False, False
        char = self._next()
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], True, char.isupper()
        control = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}.get(char)
        if control is None and char.isalnum():
            raise unshared(f"\\{char}")
        return control or char, False, False

    def _class(self) -> Part:
        negated = self.take("^")
        parts: list[str] = []
        while not self.take("]"):
            low, is_set = self._member()
            is_range = self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in {"]", ""}
            if is_range and not is_set:  # a hyphen after a set is a literal hyphen
                self.at += 1
                high, is_set = self._member()
                if is_set:
                    raise malformed("a class has a range that ends with a set")
                low = f"{low}-{high}"
            parts.append(low)
        if not parts:
            raise malformed("a class is empty")
        if self._ignore_case:
            parts += [other_case(part) for part in parts if other_case(part)]
        return set_of(parts, negated=negated)

    def _member(self) -> tuple[str, bool]:
        """Return a member of a class, and whether it is a set."""
        char = self._next()
        if char == "[":
            raise unshared("a class within a class")
        if char == "&" and self.text.startswith("&", self.at):
            raise unshared("an intersection of classes")
        if char != "\\":
            return in_class(char), False
        written, is_set, negated = self._escaped()
        if is_set and negated:
            raise unshared("a negated class within a class")
        return (written, True) if is_set else (in_class(written), False)

    def _literal(self, char: str) -> Part:
        both = {char, char.lower(), char.upper()} if self._ignore_case and char.isascii() else {char}
        if len(both) > 1:
            return set_of(sorted(both), negated=False)
        return Part(literal(char), BYTE_BYTES * len(char.encode()))

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise malformed("it ends too early")
        self.at += 1
        return self.text[self.at - 1]


def _counts(quantifier: re.Match[str]) -> tuple[int, int | None]:
    """Return the smallest and largest number of repetitions; None means no limit."""
    if quantifier[1] is None:
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[quantifier[0]]
    least = int(quantifier[1])
    if quantifier[2] is None:
        return least, least
    return least, int(quantifier[2]) if quantifier[2] else None
