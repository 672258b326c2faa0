r"""Regular expressions of representation maps, rewritten so that Java and Rust read them alike.

The standard names no dialect; registries run Java's, so that is what is read here, with ``\d``, ``\w`` and ``\s`` in
ASCII. What Rust lacks (look-around, back references, possessive quantifiers) or reads otherwise (``\b``, flags but
``(?i)``, nested classes) makes an expression unusable, and that is told.

An expression must fit the whole value ("Rule match if input = 'A'"). One that begins with ``^`` and does not end with
``$`` fits the beginning ("Rule match if the input starts with letters A to G"), one that ends with ``$`` alone the end.
Source: SDMX 3.1 Section 6, 13.6.1.
"""

from __future__ import annotations

import re
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
_HEX: Final = re.compile(r"x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|x\{([0-9A-Fa-f]{1,6})\}")


class UnusableExpressionError(ValueError):
    """An expression that Java and Rust do not read alike."""


class Expression(NamedTuple):
    """An expression for a whole text, without anchors, and how many groups it captures."""

    written: str
    groups: int

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
    at_start = text.startswith("^")
    at_end = re.search(r"(?<!\\)(?:\\\\)*\$\Z", text) is not None
    text = text[1 if at_start else 0 : len(text) - 1 if at_end else len(text)]
    reader = _Reader(text, ignore_case=ignore_case)
    written = reader.alternatives()
    if reader.at < len(text):
        raise UnusableExpressionError(f"{text[reader.at]!r} at {reader.at} closes nothing")
    if at_start and not at_end:
        written = f"(?:{written}){_ANY}"
    elif at_end and not at_start:
        written = f"{_ANY}(?:{written})"
    _check(written)
    return Expression(written, reader.groups)


def _check(written: str) -> None:
    python = re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda code: f"\\U{int(code[1], 16):08x}", written)
    try:
        re.compile(re.sub(r"\\[pP]\{[^}]*\}", "x", python))
    except re.error as error:
        raise UnusableExpressionError(str(error)) from error


class _Reader:
    """Reads one expression, left to right, writing it anew."""

    def __init__(self, text: str, *, ignore_case: bool) -> None:
        self.text, self.at, self.groups, self._ignore_case = text, 0, 0, ignore_case

    def alternatives(self) -> str:
        branches = [self._branch()]
        while self._take("|"):
            branches.append(self._branch())
        return "|".join(branches)

    def _branch(self) -> str:
        written = ""
        while self.at < len(self.text) and self.text[self.at] not in "|)":
            written += self._quantified(self._atom())
        return written

    def _quantified(self, atom: str) -> str:
        found = _QUANTIFIER.match(self.text, self.at)
        if found is None:
            return atom
        self.at = found.end()
        if found[1] and max(int(found[1]), int(found[2] or 0)) > 1000:
            raise UnusableExpressionError(f"{found[0]} asks for more than 1000 copies")
        lazy = "?" if self._take("?") else ""
        if self.text[self.at : self.at + 1] in {"+", "*", "?"}:
            raise UnusableExpressionError("possessive quantifiers are Java's alone")
        return atom + found[0] + lazy

    def _atom(self) -> str:
        char = self._next()
        if char == "(":
            return self._group()
        if char == "[":
            return self._class()
        if char == ".":
            return _DOT
        if char == "\\":
            return self._escape()
        if char in "^$":
            raise UnusableExpressionError(f"{char} within an expression")
        if char in "?*+":
            raise UnusableExpressionError(f"{char!r} at {self.at - 1} repeats nothing")
        return self._literal(char)

    def _group(self) -> str:
        opened = "(?:"
        if self.text.startswith("?", self.at):
            found = _GROUP.match(self.text, self.at)
            if found is None:
                raise UnusableExpressionError("look-around, atomic groups and flags within an expression")
            self.at = found.end()
            if found[1]:
                self.groups, opened = self.groups + 1, "("
        else:
            self.groups, opened = self.groups + 1, "("
        inner = self.alternatives()
        if not self._take(")"):
            raise UnusableExpressionError("a group is not closed")
        return f"{opened}{inner})"

    def _escape(self) -> str:
        if self._take("Q"):
            end = self.text.find("\\E", self.at)
            quoted = self.text[self.at :] if end < 0 else self.text[self.at : end]
            self.at = len(self.text) if end < 0 else end + 2
            return f"(?:{''.join(map(self._literal, quoted))})"
        written, is_set, negated = self._escaped()
        return f"[{'^' if negated else ''}{written}]" if is_set else self._literal(written)

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
            raise UnusableExpressionError(rf"\p{{{name}}}")
        code = _HEX.match(self.text, self.at)
        if code is not None:
            self.at = code.end()
            return chr(int(code[1] or code[2] or code[3], 16)), False, False
        char = self._next()
        if char.lower() in _CLASSES:
            return _CLASSES[char.lower()], True, char.isupper()
        control = {"n": "\n", "r": "\r", "t": "\t", "f": "\f"}.get(char)
        if control is None and char.isalnum():
            raise UnusableExpressionError(f"\\{char}")
        return control or char, False, False

    def _class(self) -> str:
        negated = self._take("^")
        parts: list[str] = []
        while not self._take("]"):
            low = self._member()
            if self.text.startswith("-", self.at) and self.text[self.at + 1 : self.at + 2] not in {"]", ""}:
                self.at += 1
                low = f"{low}-{self._member()}"
            parts.append(low)
        if not parts:
            raise UnusableExpressionError("a class is empty")
        if self._ignore_case:
            parts += [_other_case(part) for part in parts if _other_case(part)]
        return f"[{'^' if negated else ''}{''.join(parts)}]"

    def _member(self) -> str:
        char = self._next()
        if char == "[":
            raise UnusableExpressionError("a class within a class")
        if char == "&" and self.text.startswith("&", self.at):
            raise UnusableExpressionError("an intersection of classes")
        if char != "\\":
            return _in_class(char)
        written, is_set, negated = self._escaped()
        if is_set and negated:
            raise UnusableExpressionError("a negated class within a class")
        return written if is_set else _in_class(written)

    def _literal(self, char: str) -> str:
        both = {char, char.lower(), char.upper()} if self._ignore_case and char.isascii() else {char}
        if len(both) > 1:
            return f"[{''.join(sorted(both))}]"
        return f"\\{char}" if char in "\\^$.|?*+()[]{}" else _control(char)

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise UnusableExpressionError("it ends too early")
        self.at += 1
        return self.text[self.at - 1]

    def _take(self, char: str) -> bool:
        found = self.text.startswith(char, self.at)
        self.at += found
        return found


def _other_case(part: str) -> str:
    """The same letters in the other case, of a letter or a range of letters of one case; nothing of others."""
    return part.swapcase() if re.fullmatch("[a-z](-[a-z])?|[A-Z](-[A-Z])?", part) else ""


def _in_class(char: str) -> str:
    return f"\\{char}" if char in "\\^-[]&~" else _control(char)


def _control(char: str) -> str:
    return f"\\x{{{ord(char):X}}}" if ord(char) < 32 else char
