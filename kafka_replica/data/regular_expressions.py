"""A base of readers of regular expressions in any dialect, and the notation of characters in expressions.

``validation.patterns`` reads XML Schema's dialect and collects examples; ``mapping.regex_reader`` reads Java's and
estimates sizes. Both write expressions that Java and Rust read alike.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Final, Generic, NamedTuple, TypeVar

P = TypeVar("P")

MOST_COPIES: Final = 1000
"""The most repetitions of a part that Rust's expressions can handle."""


class Member(NamedTuple):
    """A member of a class: a character or a set, as it is written within a class."""

    written: str
    is_set: bool
    example: str = ""


class Repetition(NamedTuple):
    """A quantifier: its text, and the smallest and largest number of copies; None means no limit."""

    written: str
    least: int
    most: int | None


class ExpressionReader(ABC, Generic[P]):
    """Reads an expression from left to right; a subclass implements a dialect, and creates the parts.

    The grammar that all dialects share is here: alternatives, quantifiers, groups and classes. What differs is a
    method: escapes, anchors, what may open a group, and what a part is.
    """

    QUANTIFIER: ClassVar[re.Pattern[str]]
    """Its groups are the smallest number of copies, the comma, and the largest number."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0
        self.depth = 0

    # --- the grammar ---

    def alternatives(self) -> P:
        """Read alternatives up to the end of the group, or of the expression."""
        branches = [self.branch()]
        while self.take("|"):
            branches.append(self.branch())
        return self.either(branches)

    def branch(self) -> P:
        """Read an alternative."""
        parts = []
        while self.at < len(self.text) and self.text[self.at] not in "|)" and not self.ends_branch():
            parts.append(self._quantified())
        return self.sequence(parts)

    def _quantified(self) -> P:
        atom = self.atom()
        found = self.QUANTIFIER.match(self.text, self.at)
        if found is None:
            return atom
        self.at = found.end()
        repetition = _repetition(found)
        if max(repetition.least, repetition.most or 0) > MOST_COPIES:
            raise self.error(f"{found[0]} repeats more than {MOST_COPIES} times; use fewer repetitions, or * or +")
        return self.repeated(atom, repetition)

    def atom(self) -> P:
        """Read a character, a class or a group."""
        char = self.next()
        if char == "(":
            return self._group()
        if char == "[":
            return self.char_class()
        if char == ".":
            return self.any_char()
        return self.escape() if char == "\\" else self.character(char)

    def _group(self) -> P:
        opened = self.opening()
        self.depth += 1
        self.check_depth()
        inner = self.alternatives()
        self.depth -= 1
        if not self.take(")"):
            raise self.malformed("a group is not closed")
        return self.group(opened, inner)

    def members(self) -> list[Member]:
        """Read the members of a class up to the bracket that closes it, or to a subtraction."""
        members = []
        while not self.text.startswith("]", self.at) and not self.begins_subtraction():
            if self.at >= len(self.text):
                raise self.malformed("a class is not closed")
            low = self.member()
            if self.begins_range() and not low.is_set:  # a hyphen after a set is a literal hyphen
                self.at += 1
                high = self.member()
                if high.is_set:
                    raise self.malformed("a class has a range that ends with a set")
                low = Member(f"{low.written}-{high.written}", is_set=False, example=low.example)
            members.append(low)
        if not members:
            raise self.malformed("a class is empty")
        return members

    # --- the text ---

    def take(self, char: str) -> bool:
        """Skip a character if it is next; return whether it was."""
        found = self.text.startswith(char, self.at)
        self.at += found
        return found

    def next(self) -> str:
        """Return the next character, and skip it."""
        if self.at >= len(self.text):
            raise self.malformed("it is incomplete")
        self.at += 1
        return self.text[self.at - 1]

    def begins_range(self) -> bool:
        """Return whether a range follows its first character here."""
        after = self.text[self.at + 1 : self.at + 2]
        return self.text.startswith("-", self.at) and after not in {"]", ""} and not self.begins_subtraction()

    # --- the dialect ---

    @abstractmethod
    def error(self, reason: str) -> ValueError:
        """Return the error for a valid expression that cannot be used."""

    @abstractmethod
    def malformed(self, reason: str) -> ValueError:
        """Return the error for an invalid expression."""

    @abstractmethod
    def either(self, branches: Sequence[P]) -> P:
        """Return the part for alternatives."""

    @abstractmethod
    def sequence(self, parts: Sequence[P]) -> P:
        """Return the concatenation of parts."""

    @abstractmethod
    def repeated(self, atom: P, repetition: Repetition) -> P:
        """Return the part that repeats another part."""

    @abstractmethod
    def any_char(self) -> P:
        """Return the part for the full stop, which matches any character."""

    @abstractmethod
    def character(self, char: str) -> P:
        """Return the part for a character that is not escaped, or refuse it."""

    @abstractmethod
    def escape(self) -> P:
        """Read the rest of an escape, after its backslash."""

    @abstractmethod
    def opening(self) -> str:
        """Read the rest of a group, after its opening parenthesis; return how the group is opened."""

    @abstractmethod
    def group(self, opened: str, inner: P) -> P:
        """Return the part for a group."""

    @abstractmethod
    def char_class(self) -> P:
        """Read a class after its opening bracket."""

    @abstractmethod
    def member(self) -> Member:
        """Read a member of a class."""

    def ends_branch(self) -> bool:
        """Return whether an anchor ends the alternative here."""
        return False

    def begins_subtraction(self) -> bool:
        """Return whether a class is subtracted here."""
        return False

    def check_depth(self) -> None:
        """Refuse groups that are nested too deeply."""


def _repetition(found: re.Match[str]) -> Repetition:
    if found[1] is None:
        least, most = {"?": (0, 1), "*": (0, None), "+": (1, None)}[found[0]]
        return Repetition(found[0], least, most)
    least = int(found[1])
    if found[2] is None:
        return Repetition(found[0], least, least)
    return Repetition(found[0], least, int(found[3]) if found[3] else None)


def literal_character(char: str) -> str:
    """Return a character as it is written outside classes."""
    return f"\\{char}" if char in "\\^$.|?*+()[]{}" else _control(char)


def class_character(char: str) -> str:
    """Return a character as it is written within a class."""
    return f"\\{char}" if char in "\\^-[]&~" else _control(char)


def _control(char: str) -> str:
    """Return a character as it is written, with control characters as codes."""
    return f"\\x{{{ord(char):X}}}" if ord(char) < 32 else char


def with_python_codes(expression: str) -> str:
    """Return an expression with the codes of characters as Python writes them."""
    return re.sub(
        r"\\\\|\\x\{([0-9A-Fa-f]+)\}",
        lambda code: code[0] if code[1] is None else f"\\U{int(code[1], 16):08x}",
        expression,
    )
