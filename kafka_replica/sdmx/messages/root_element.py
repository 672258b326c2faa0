"""Recognition of SDMX-ML structure messages by the root element."""

from __future__ import annotations

import re
from typing import Final

_STRUCTURE: Final = re.compile(
    rb"\s*+(?>(?:(?:<\?.*?\?>|<!--.*?-->)\s*+)*)<(?:[A-Za-z_][\w.-]*+:)?Structure[\s>]", re.DOTALL
)


def has_structure_root(data: bytes) -> bool:
    """Return whether XML has the root element ``Structure``, after any processing instructions and comments.

    Args:
        data: the message, or its first bytes, in an encoding that extends ASCII.
    """
    return _STRUCTURE.match(data) is not None
