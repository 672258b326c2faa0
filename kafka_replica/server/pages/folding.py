"""Texts without the differences that a search ignores: case, accents and width."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache


def folded(text: str) -> str:
    """Return a text without differences of case, accents and width."""
    if text.isascii():
        return text.lower()
    return _accents().sub("", unicodedata.normalize("NFKD", text.casefold())).casefold()


@cache
def _accents() -> re.Pattern[str]:
    """Return a pattern of the signs that combine with the preceding sign."""
    signs = "".join(chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code)))
    return re.compile(f"[{signs}]+")
