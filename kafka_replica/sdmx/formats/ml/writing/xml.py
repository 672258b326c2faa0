"""Write XML as text: elements from the inside out, with everything escaped.

Joining strings is several times as fast as building a tree, and a structure message is not deep: each character is
copied once per level.
"""

from __future__ import annotations

import re
from typing import Final

from kafka_replica.sdmx.errors import UnwritableError

_special_in_text = re.compile("[&<>\r]").search
_special_in_value = re.compile('[&<>"\r\n\t]').search
_never = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]").search
_ESCAPES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;"}
_TEXT: Final = str.maketrans(_ESCAPES)
_VALUE: Final = str.maketrans({**_ESCAPES, '"': "&quot;", "\n": "&#10;", "\t": "&#9;"})


def _checked(text: str) -> str:
    found = _never(text)
    if found:
        raise UnwritableError(f"the text {text[:40]!r} contains the character {found[0]!r}, which XML cannot represent")
    return text


def escaped_text(value: str) -> str:
    """Return the text of an element. Raises UnwritableError for characters that XML does not allow."""
    return _checked(value).translate(_TEXT) if _special_in_text(value) or not value.isprintable() else value


def escaped_attribute(value: str) -> str:
    """Return the value of an attribute, without the quotes. Raises UnwritableError."""
    return _checked(value).translate(_VALUE) if _special_in_value(value) or not value.isprintable() else value


def el(tag: str, *content: str, **attributes: str | None) -> str:
    """Write an element with this content, which is already XML; attributes that are None are left out."""
    start = "".join(
        [f' {name}="{escaped_attribute(value)}"' for name, value in attributes.items() if value is not None]
    )
    inside = "".join(content)
    return f"<{tag}{start}>{inside}</{tag}>" if inside else f"<{tag}{start}/>"


def leaf(tag: str, value: str | None, **attributes: str | None) -> str:
    """Write an element with this text; nothing if there is no text."""
    return "" if value is None else el(tag, escaped_text(value), **attributes)


def flag(value: bool | None) -> str | None:
    """Return a boolean as XML writes it."""
    return None if value is None else "true" if value else "false"


def true(value: bool) -> str | None:
    """Return true as XML writes it, or None for false, the default."""
    return "true" if value else None
