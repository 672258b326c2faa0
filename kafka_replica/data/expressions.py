"""The common part of the readers of regular expressions, whatever their dialect: scanning, and writing characters.

``validation.patterns`` reads XML Schema's dialect and collects examples; ``mapping.regex_reader`` reads Java's and
estimates sizes. Both write expressions that Java and Rust read alike.
"""

from __future__ import annotations

import re


class Scanner:
    """The position in an expression that is read from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def take(self, char: str) -> bool:
        """Skip a character if it is the next one; return whether it was."""
        found = self.text.startswith(char, self.at)
        self.at += found
        return found


def literal(char: str) -> str:
    """Return a character as it is written outside classes."""
    return f"\\{char}" if char in "\\^$.|?*+()[]{}" else _control(char)


def in_class(char: str) -> str:
    """Return a character as it is written within a class."""
    return f"\\{char}" if char in "\\^-[]&~" else _control(char)


def _control(char: str) -> str:
    """Return a character as it is written, with control characters as codes."""
    return f"\\x{{{ord(char):X}}}" if ord(char) < 32 else char


def with_python_codes(expression: str) -> str:
    """Return an expression with the codes of characters as Python writes them."""
    return re.sub(r"\\x\{([0-9A-Fa-f]+)\}", lambda code: f"\\U{int(code[1], 16):08x}", expression)
