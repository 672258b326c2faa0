r"""Write patterns in XML Schema's own syntax, which processors of XML require.

Validation also accepts what registries with Java's expressions accept: anchors at the ends of alternatives, groups such
as ``(?:...)``, escapes of characters that need none (``\_``), and hyphens anywhere in a class (``[\w-.]``).

Source: XML Schema Part 2, appendix F.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from kafka_replica.data.regular_expressions import ExpressionReader, Member, Repetition
from kafka_replica.data.validation.patterns import CATEGORY, QUANTIFIER, UnusablePatternError

_ESCAPES: Final = frozenset("nrtdDsSwWiIcC\\|.?*+(){}-[]^")
_SETS: Final = frozenset("dDsSwWiIcC")


def written_for_xml_schema(pattern: str) -> str:
    """Return a pattern that ``translated_pattern`` accepts in XML Schema's syntax."""
    return _Writer(pattern).alternatives()


class _Writer(ExpressionReader[str]):
    """A reader of patterns whose parts are texts in XML Schema's syntax."""

    QUANTIFIER = QUANTIFIER

    def error(self, reason: str) -> UnusablePatternError:
        return UnusablePatternError(reason)

    malformed = error

    def either(self, branches: Sequence[str]) -> str:
        return "|".join(branches)

    def branch(self) -> str:
        self.take("^")
        return super().branch()

    def ends_branch(self) -> bool:
        return self.text[self.at + 1 : self.at + 2] in {"", "|"} and self.take("$")

    def sequence(self, parts: Sequence[str]) -> str:
        return "".join(parts)

    def repeated(self, atom: str, repetition: Repetition) -> str:
        return atom + repetition.written

    def any_char(self) -> str:
        return "."

    def character(self, char: str) -> str:
        return char

    def escape(self) -> str:
        return self._escaped()[0]

    def _escaped(self) -> tuple[str, bool]:
        """Return an escape without a needless backslash, and whether it is a set of characters."""
        category = CATEGORY.match(self.text, self.at)
        if category is not None:
            self.at = category.end()
            return f"\\{category.group()}", True
        char = self.next()
        return (f"\\{char}" if char in _ESCAPES else char), char in _SETS

    def opening(self) -> str:
        self.at += 2 if self.text.startswith("?:", self.at) else 0
        return "("

    def group(self, opened: str, inner: str) -> str:
        return f"{opened}{inner})"

    def char_class(self) -> str:
        negation = "^" if self.take("^") else ""
        inner = "".join(member.written for member in self.members())
        if self.begins_subtraction():
            self.at += 2
            inner += f"-[{self.char_class()[1:]}"
        self.take("]")
        return f"[{negation}{inner}]"

    def begins_subtraction(self) -> bool:
        return self.text.startswith("-[", self.at)

    def member(self) -> Member:
        char = self.next()
        if char == "\\":
            return Member(*self._escaped())
        return Member(r"\-" if char == "-" else char, is_set=False)
