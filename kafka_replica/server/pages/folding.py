"""Folding of texts for the search, which ignores case, accents and character width."""

from __future__ import annotations

import re
import sys
import unicodedata
from functools import cache


def folded(text: str) -> str:
    """Return a text in a form that is the same for all variants of case, accents and width."""
    if text.isascii():
        return text.lower()
    return _accents().sub("", unicodedata.normalize("NFKD", text.casefold())).casefold()


@cache
def _accents() -> re.Pattern[str]:
    """Return a pattern of combining characters, such as accents."""
    signs = "".join(chr(code) for code in range(sys.maxunicode + 1) if unicodedata.combining(chr(code)))
    return re.compile(f"[{signs}]+")
