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
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

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
_QUOTED: Final = re.compile(r"\\Q(.*?)(?:\\E|\Z)|\\.", re.DOTALL)
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}")

_DEEPEST: Final = 50
"""Groups in each other; Rust allows 250 levels, of which a group in an alternative that is repeated takes four."""
_COPIES: Final = 1000
_MOST_BYTES: Final = 10_000_000
"""Of a program; Rust allows 10,485,760."""
# What parts take of it, measured with polars 1.x and rounded up.
_BYTE_BYTES: Final = 32
_STATE_BYTES: Final = 80
_ASCII_BYTES: Final = 8
_RANGE_BYTES: Final = 1_300
_CATEGORY_BYTES: Final = 52_000


class UnusableExpressionError(ValueError):
    """An expression that is malformed, too large, or not read alike by Java and Rust; and what to do."""


def _malformed(what: str) -> UnusableExpressionError:
    return UnusableExpressionError(f"it is malformed: {what}; have the map mended")


def _unshared(what: str) -> UnusableExpressionError:
    return UnusableExpressionError(f"{what}: Java's and Rust's expressions do not share this; write it without")


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
    reader = _Reader(_QUOTED.sub(_unquoted, text), ignore_case=ignore_case)
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
        raise _malformed(str(error)) from error


class _Part(NamedTuple):
    """A piece: how it is written, the bytes of its program, and whether it may fit nothing."""

    written: str
    size: int
    may_be_empty: bool = False


class _Reader:
    """Reads one expression, left to right, writing it anew."""

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        self.text, self.at, self.groups, self._ignore_case = text, 0, 0, ignore_case
        self.is_unsure = False
        self._depth = 0

    def whole(self) -> _Part:
        """All of it: alternatives, each with anchors of its own."""
        found = self._alternatives(self._anchored)
        if self.at < len(self.text):
            raise _malformed(f"{self.text[self.at]!r} at {self.at} closes nothing")
        return found

    def _alternatives(self, branch: Callable[[], _Part]) -> _Part:
        branches = [branch()]
        while self._take("|"):
            branches.append(branch())
        return _Part(
            "|".join(one.written for one in branches),
            sum(one.size + _STATE_BYTES for one in branches),
            any(one.may_be_empty for one in branches),
        )

    def _anchored(self) -> _Part:
        at_start = self._take("^")
        inner = self._branch()
        at_end = self._take("$")
        if at_end and self.text[self.at : self.at + 1] not in {"", "|"}:
            raise self._misplaced("$")
        if at_start == at_end:
            return inner
        written = f"(?:{inner.written}){_ANY}" if at_start else f"{_ANY}?(?:{inner.written})"
        return _Part(written, inner.size + _RANGE_BYTES, inner.may_be_empty)

    def _branch(self) -> _Part:
        ends = "|)" if self._depth else "|)$"
        written, size, may_be_empty = "", 0, True
        while self.at < len(self.text) and self.text[self.at] not in ends:
            part = self._quantified()
            written += part.written
            size += part.size
            may_be_empty &= part.may_be_empty
        return _Part(written, size, may_be_empty)

    def _quantified(self) -> _Part:
        atom = self._atom()
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            return atom
        self.at = found.end()
        least, most = _counts(found)
        if max(least, most or 0) > _COPIES:
            raise UnusableExpressionError(f"{found[0]} asks for more than {_COPIES} copies; write fewer, or * or +")
        lazy = "?" if self._take("?") else ""
        if self.text[self.at : self.at + 1] in {"+", "*", "?"}:
            raise _unshared("a possessive quantifier")
        if (least, most) == (1, 1):
            return atom
        if atom.may_be_empty and most != 1:
            self.is_unsure = True
        copies = max(least if most is None else most, 1)
        return _Part(
            atom.written + found[0] + lazy, copies * (atom.size + _STATE_BYTES), atom.may_be_empty or least == 0
        )

    def _atom(self) -> _Part:
        if _QUANTIFIER.match(self.text, self.at):
            raise _malformed(f"{self.text[self.at]!r} at {self.at} repeats nothing")
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == ".":
            return _Part(_DOT, 4 * _RANGE_BYTES)
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

    def _group(self) -> _Part:
        opened = "(?:"
        if self.text.startswith("?", self.at):
            found = _GROUP.match(self.text, self.at)
            if found is None:
                raise _unshared("look-around, an atomic group, or flags within an expression")
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
        if not self._take(")"):
            raise _malformed("a group is not closed")
        return _Part(f"{opened}{inner.written})", inner.size + _STATE_BYTES, inner.may_be_empty)

    def _escape(self) -> _Part:
        written, is_set, negated = self._escaped()
        return _set([written], negated=negated) if is_set else self._literal(written)

    def _escaped(self) -> tuple[str, bool, bool]:
        """What follows a backslash: what it stands for, whether that is a set, whether negated."""
        category = _CATEGORY.match(self.text, self.at)
        if category is not None:
            self.at = category.end()
            name = category[2] or category[3]
            negated = category[1] == "P"
            if name in _POSIX:
                return _POSIX[name], True, negated
            if _GENERAL.fullmatch(name):
                return rf"\p{{{name}}}", True, negated
            raise _unshared(rf"\p{{{name}}}")
        code = _HEX.match(self.text, self.at)
        if code is not None:
            self.at = code.end()
            return _char(int(code[1] or code[2] or code[3], 16)), False, False
        char = self._next()
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], True, char.isupper()
        control = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}.get(char)
        if control is None and char.isalnum():
            raise _unshared(f"\\{char}")
        return control or char, False, False

    def _class(self) -> _Part:
        negated = self._take("^")
        parts: list[str] = []
        while not self._take("]"):
            low, is_set = self._member()
            is_range = self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in {"]", ""}
            if is_range and not is_set:  # a hyphen behind a set is a hyphen
                self.at += 1
                high, is_set = self._member()
                if is_set:
                    raise _malformed("a class has a range that ends with a set")
                low = f"{low}-{high}"
            parts.append(low)
        if not parts:
            raise _malformed("a class is empty")
        if self._ignore_case:
            parts += [_other_case(part) for part in parts if _other_case(part)]
        return _set(parts, negated=negated)

    def _member(self) -> tuple[str, bool]:
        """A part of a class, and whether that is a set."""
        char = self._next()
        if char == "[":
            raise _unshared("a class within a class")
        if char == "&" and self.text.startswith("&", self.at):
            raise _unshared("an intersection of classes")
        if char != "\\":
            return _in_class(char), False
        written, is_set, negated = self._escaped()
        if is_set and negated:
            raise _unshared("a negated class within a class")
        return (written, True) if is_set else (_in_class(written), False)

    def _literal(self, char: str) -> _Part:
        both = {char, char.lower(), char.upper()} if self._ignore_case and char.isascii() else {char}
        if len(both) > 1:
            return _set(sorted(both), negated=False)
        written = f"\\{char}" if char in "\\^$.|?*+()[]{}" else _control(char)
        return _Part(written, _BYTE_BYTES * len(char.encode()))

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise _malformed("it ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def _take(self, char: str) -> bool:
        found = self.text.startswith(char, self.at)
        self.at += found
        return found


def _counts(quantifier: re.Match[str]) -> tuple[int, int | None]:
    """The fewest and the most copies; None is no bound."""
    if quantifier[1] is None:
        return {"?": (0, 1), "*": (0, None), "+": (1, None)}[quantifier[0]]
    least = int(quantifier[1])
    if quantifier[2] is None:
        return least, least
    return least, int(quantifier[2]) if quantifier[2] else None


def _set(parts: Sequence[str], *, negated: bool) -> _Part:
    """One character of those, or one of all others."""
    size = sum(map(_bytes, parts)) + _STATE_BYTES + _RANGE_BYTES * negated
    return _Part(f"[{'^' if negated else ''}{''.join(parts)}]", size)


def _bytes(part: str) -> int:
    if part.startswith("\\p"):
        return _CATEGORY_BYTES
    return _ASCII_BYTES * len(part) if part.isascii() else _RANGE_BYTES


def _char(code: int) -> str:
    if code > 0x10FFFF:
        raise _malformed(f"there is no character {code:X}")
    if 0xD800 <= code <= 0xDFFF:
        raise _unshared(f"{code:X}, half a character (write the whole as \\x{{...}})")
    return chr(code)


def _other_case(part: str) -> str:
    """The same letters in the other case, of a letter or a range of letters of one case; nothing of others."""
    return part.swapcase() if re.fullmatch("[a-z](-[a-z])?|[A-Z](-[A-Z])?", part) else ""


def _in_class(char: str) -> str:
    return f"\\{char}" if char in "\\^-[]&~" else _control(char)


def _control(char: str) -> str:
    return f"\\x{{{ord(char):X}}}" if ord(char) < 32 else char
