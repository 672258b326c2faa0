"""Escape the names of local files, which Spark takes for patterns."""

from __future__ import annotations

import re
from typing import Final

_SPECIAL: Final = re.compile(r"[{}\[\]*?\\]")


def pattern_of(path: str) -> str:
    """Return the pattern with which Spark finds a local file; Spark does not decode ``%20``, and expands ``{}[]*?``."""
    return _SPECIAL.sub(r"\\\g<0>", path)
