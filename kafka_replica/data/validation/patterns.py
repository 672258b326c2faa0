r"""Translate XML Schema's regular expressions to a form that Java and Rust interpret alike; make matching examples.

Two deviations from XML Schema follow common practice: ``^`` and ``$`` at the ends of an alternative are anchors,
because registries interpret patterns as Java does, and ``(?:...)`` is a group. Unsupported features (blocks such as
``\p{IsGreek}``, look-around, back references, anchors in groups) make a pattern unusable, which is reported.

Source: XML Schema Part 2, appendix F.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from kafka_replica.data.regular_expressions import (
    ExpressionReader,
    Member,
    Repetition,
    class_character,
    literal_character,
    with_python_codes,
)

_NAME_START = (
    r":A-Z_a-z\x{C0}-\x{D6}\x{D8}-\x{F6}\x{F8}-\x{2FF}\x{370}-\x{37D}\x{37F}-\x{1FFF}\x{200C}-\x{200D}"
    r"\x{2070}-\x{218F}\x{2C00}-\x{2FEF}\x{3001}-\x{D7FF}\x{F900}-\x{FDCF}\x{FDF0}-\x{FFFD}\x{10000}-\x{EFFFF}"
)
_NAME = rf"{_NAME_START}\-.0-9\x{{B7}}\x{{300}}-\x{{36F}}\x{{203F}}-\x{{2040}}"
# Escape: its text in a class, whether it is negated, and an example.
_CLASSES: Final = {
    "d": (r"\p{Nd}", False, "7"),
    "D": (r"\p{Nd}", True, "x"),
    "s": (r"\x20\t\n\r", False, " "),
    "S": (r"\x20\t\n\r", True, "x"),
    "w": (r"\p{P}\p{Z}\p{C}", True, "w"),
    "W": (r"\p{P}\p{Z}\p{C}", False, "-"),
    "i": (_NAME_START, False, "i"),
    "I": (_NAME_START, True, "9"),
    "c": (_NAME, False, "c"),
    "C": (_NAME, True, "!"),
}
_CONTROL: Final = {"n": "\n", "r": "\r", "t": "\t"}
_LONGEST_EXAMPLE: Final = 10_000
_OTHERS: Final = "xX7 -!é"
"""Characters of several kinds, of which one is an example of a negated class."""
_TOKEN: Final = re.compile(r"\\[pPx]\{[^}]*\}|\\.|\[\^?|\]|&&|[^\\\[\]&]+|&", re.DOTALL)
CATEGORY: Final = re.compile(r"[pP]\{(?:L[ultmo]?|M[nce]?|N[dlo]?|P[cdseifo]?|Z[slp]?|S[mcko]?|C[cfon]?)\}")
"""A category of Unicode after the backslash of its escape."""
QUANTIFIER: Final = re.compile(r"[?*+]|\{([0-9]+)(?:(,)([0-9]*))?\}")


class UnusablePatternError(ValueError):
    """A pattern uses a feature that XML Schema, or Java and Rust, do not support."""


@dataclass(frozen=True, slots=True)
class _FragmentWithExamples:
    """A part of an expression: its text, and the texts from which examples are made."""

    written: str
    examples: tuple[str, ...]


class _CharacterClass(NamedTuple):
    """A class: its text, the text of the class of all other characters, and an example."""

    written: str
    opposite: str
    example: str


@dataclass(frozen=True, slots=True)
class TranslatedPattern:
    """A usable pattern: ``expression`` without anchors, and texts that should match it."""

    expression: str
    examples: tuple[str, ...]


def translated_pattern(pattern: str) -> TranslatedPattern:
    """Return the pattern in a form that Java and Rust interpret alike. Raises UnusablePatternError."""
    reader = _XmlSchemaReader(pattern)
    found = reader.alternatives()
    if reader.at < len(pattern):
        raise UnusablePatternError(f"{pattern[reader.at]!r} at {reader.at} has no opening counterpart")
    expression = found.written
    try:
        re.compile(_without_inner_classes(expression))
    except re.error as error:
        raise UnusablePatternError(str(error)) from error
    return TranslatedPattern(expression, found.examples)


class _XmlSchemaReader(ExpressionReader[_FragmentWithExamples]):
    """A parser of XML Schema's expressions, from left to right."""

    QUANTIFIER = QUANTIFIER

    def error(self, reason: str) -> UnusablePatternError:
        return UnusablePatternError(reason)

    malformed = error

    # --- alternatives and their anchors ---

    def either(self, branches: Sequence[_FragmentWithExamples]) -> _FragmentWithExamples:
        examples = tuple(dict.fromkeys(example for branch in branches for example in branch.examples))
        return _FragmentWithExamples("|".join(branch.written for branch in branches), examples[:6])

    def branch(self) -> _FragmentWithExamples:
        self._anchor("^")
        return super().branch()

    def ends_branch(self) -> bool:
        return self.text[self.at + 1 : self.at + 2] in {"", "|", ")"} and self._anchor("$")

    def _anchor(self, char: str) -> bool:
        """Skip an anchor at an end of an alternative, which is redundant; return whether there was one."""
        if not self.take(char):
            return False
        if self.depth:
            raise UnusablePatternError(
                f"{char} at the end of a group is a letter in XML Schema, and an anchor elsewhere"
            )
        return True

    def sequence(self, parts: Sequence[_FragmentWithExamples]) -> _FragmentWithExamples:
        examples: tuple[str, ...] = ("",)
        for part in parts:
            length = max(len(examples), len(part.examples))
            examples = tuple(
                _joined(examples[index % len(examples)], part.examples[index % len(part.examples)])
                for index in range(length)
            )
        return _FragmentWithExamples("".join(part.written for part in parts), examples)

    # --- quantifiers and groups ---

    def repeated(self, atom: _FragmentWithExamples, repetition: Repetition) -> _FragmentWithExamples:
        if self.text[self.at : self.at + 1] in {"?", "+", "*"}:
            raise UnusablePatternError("lazy and possessive quantifiers are not XML Schema's")
        written, least, most = repetition
        counts = least, (3 if written in {"*", "+"} else least + 2) if most is None else most
        examples = dict.fromkeys(
            example * count for count in counts for example in atom.examples if len(example) * count <= _LONGEST_EXAMPLE
        )
        return _FragmentWithExamples(atom.written + written, tuple(examples) or atom.examples[:1])

    def opening(self) -> str:
        if self.text.startswith("?", self.at):
            if not self.text.startswith("?:", self.at):
                raise UnusablePatternError("groups that begin with (? are not XML Schema's")
            self.at += 2
        return "(?:"

    def group(self, opened: str, inner: _FragmentWithExamples) -> _FragmentWithExamples:
        return _FragmentWithExamples(f"{opened}{inner.written})", inner.examples)

    # --- characters and classes ---

    def any_char(self) -> _FragmentWithExamples:
        return _FragmentWithExamples(r"[^\n\r]", ("x",))

    def character(self, char: str) -> _FragmentWithExamples:
        if char in "?*+{}]":
            raise UnusablePatternError(f"{char!r} at {self.at - 1} does not represent a character; escape it")
        return _FragmentWithExamples(literal_character(char), (char,))

    def escape(self) -> _FragmentWithExamples:
        written, negated, example = self._escaped()
        if len(written) > 1 or negated:
            return _FragmentWithExamples(f"[{'^' if negated else ''}{written}]", (example,))
        return _FragmentWithExamples(literal_character(written), (example,))

    def _escaped(self) -> tuple[str, bool, str]:
        """Return the meaning of an escape: its text in a class, whether it is negated, and an example."""
        category = CATEGORY.match(self.text, self.at)
        if category is not None:
            self.at = category.end()
            example = {"u": "A", "l": "a", "d": "7"}.get(category.group()[3:4], "A")
            return rf"\{category.group()}", False, {"L": "A", "N": "7"}.get(category.group()[2], example)
        char = self.next()
        if char in _CLASSES:
            return _CLASSES[char]
        if char in _CONTROL:
            return f"\\{char}", False, _CONTROL[char]
        if char in "pP":
            block = re.match(r"\{[^}]*\}?", self.text[self.at :])
            raise UnusablePatternError(
                f"\\{char}{block.group() if block else ''} is not supported: Unicode blocks are not available"
            )
        if char.isalnum():
            raise UnusablePatternError(f"\\{char} is not XML Schema's")
        return char, False, char

    def char_class(self) -> _FragmentWithExamples:
        found = self._class()
        return _FragmentWithExamples(found.written, (found.example,))

    def _class(self) -> _CharacterClass:
        negated = self.take("^")
        members = self.members()
        inner = "".join(member.written for member in members)
        example = next((member.example for member in members if member.example), "")
        plain = _CharacterClass(f"[{inner}]", f"[^{inner}]", example)
        if negated:
            plain = _CharacterClass(plain.opposite, plain.written, _not_in(plain.written))
        if self.begins_subtraction():
            self.at += 2
            without = self._class()
            if not self.take("]"):
                raise UnusablePatternError("a subtraction must end its class")
            return _difference(plain, without, "" if negated else inner)
        self.at += 1
        return plain

    def begins_subtraction(self) -> bool:
        return self.text.startswith("-[", self.at)

    def member(self) -> Member:
        char = self.next()
        if char == "\\":
            written, negated, example = self._escaped()
            if negated:
                return Member(f"[^{written}]", is_set=True, example=example)
            is_set = len(written) > 1
            return Member(written if is_set else class_character(written), is_set, example)
        if char == "[":
            raise UnusablePatternError("a class within a class")
        return Member(class_character(char), is_set=False, example=char)


def _joined(start: str, end: str) -> str:
    """Return an example with another after it, or without if it would be too long."""
    return start + end if len(start) + len(end) <= _LONGEST_EXAMPLE else start


def _difference(plain: _CharacterClass, without: _CharacterClass, inner: str) -> _CharacterClass:
    """Return a class without another; ``inner`` is the text between its brackets, unless the class is negated.

    Java and Rust apply the negation of a class to the whole intersection, so a negated class is put in brackets.
    """
    written = f"[{inner or plain.written}&&{without.opposite}]"
    return _CharacterClass(written, f"[{plain.opposite}{without.written}]", _outside(plain, without))


def _fits(char: str, written: str) -> bool | None:
    """Return whether a class contains a character; None if Python cannot read the class."""
    form = python_form(written)
    try:
        return None if form is None else re.fullmatch(form, char) is not None
    except re.error:
        return None


def _outside(plain: _CharacterClass, without: _CharacterClass) -> str:
    first = ord(plain.example)
    candidates = [*map(chr, range(first, min(first + 26, 0x110000))), *_OTHERS]
    found = (char for char in candidates if _fits(char, plain.written) is not False)
    return next((char for char in found if not _fits(char, without.written)), plain.example)


def _not_in(written: str) -> str:
    return next((char for char in _OTHERS if not _fits(char, written)), "x")


def _tokens(expression: str) -> Iterator[tuple[str, bool]]:
    """Yield the parts of an expression, and for each whether it is the syntax of a class within a class."""
    depth = 0
    for part in _TOKEN.findall(expression):
        depth -= part == "]"
        yield part, depth > 0 and part in {"[", "[^", "]", "&&"}
        depth += part in {"[", "[^"}


def _without_inner_classes(expression: str) -> str:
    """Return the expression in a form in which Python finds mistakes: with one class in place of nested classes."""
    parts = (part for part, is_inner in _tokens(expression) if not is_inner)
    return "".join("x" if re.match(r"\\[pPx]\{", part) else part for part in parts)


def python_form(expression: str) -> str | None:
    """Return the expression in the syntax of Python's ``re``; None if Python cannot read it."""
    tokens = list(_tokens(expression))
    if any(is_inner or (part.startswith((r"\p{", r"\P{")) and part != r"\p{Nd}") for part, is_inner in tokens):
        return None
    return with_python_codes("".join(r"\d" if part == r"\p{Nd}" else part for part, _ in tokens))


def example_of(pattern: TranslatedPattern, source: random.Random) -> str:
    """Return a text that should match."""
    return source.choice(pattern.examples)


def literal_expression(text: str) -> str:
    """Return an expression that matches only this text."""
    return "".join(map(literal_character, text))
