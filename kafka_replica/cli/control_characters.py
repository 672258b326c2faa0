"""Make control characters in text visible, because keys and messages come from a topic that others may write to.

On a terminal they could change its title or the clipboard, hide text, and forge lines of output.
"""

from __future__ import annotations

import re
from typing import Final

# C0 except tab and line feed, DEL, C1, and Unicode's characters for line ends and the direction of text.
_CONTROLS: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    r"""Return a text with its control characters escaped as in Python (``\x1b``), except tabs and line feeds."""
    return _CONTROLS.sub(_escaped, text)


def visible_line(text: str) -> str:
    r"""Return a text as one line, with its control characters except tabs escaped as in Python (``\x1b``, ``\n``)."""
    return visible(text).replace("\n", r"\n")


def visible_message(text: str) -> str:
    """Return a message with its control characters escaped, and all lines after the first one indented."""
    return re.sub(r"\n(?![ \n])", "\n  ", visible(text))


def _escaped(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape").decode()
