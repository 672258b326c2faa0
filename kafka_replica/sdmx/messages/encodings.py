"""Convert messages that are not in UTF-8.

Source: XML 1.0, appendix F "Autodetection of Character Encodings"; RFC 4627, section 3, for JSON.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from functools import lru_cache
from typing import Final

from kafka_replica.sdmx.errors import MessageError

_MARKS: Final = (
    (b"\xff\xfe\0\0", "utf-32"),
    (b"\0\0\xfe\xff", "utf-32"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_STARTS: Final = (b"\xff", b"\xfe", b"\0")
_FIRST: Final = rb"[<{\[\t\r\n UA]"  # first characters of XML, JSON and EDI, or a blank
_PATTERNS: Final = (
    (re.compile(_FIRST + rb"\0\0\0").match, "utf-32-le"),
    (re.compile(rb"\0\0\0" + _FIRST).match, "utf-32-be"),
    (re.compile(_FIRST + rb"\0[^\0]\0").match, "utf-16-le"),
    (re.compile(rb"\0" + _FIRST + rb"\0[^\0]").match, "utf-16-be"),
)
_declared = re.compile(rb"""\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._\-]{1,40})["'][^>]{0,200}\?>""").match
_declaration = re.compile(r"\A\s*<\?xml[^>]*\?>")
_charset = re.compile(r""";\s*charset\s*=\s*["']?((?:iso-8859|windows)-[0-9]{1,4})""", re.IGNORECASE).search


def as_utf8(data: bytes) -> bytes:
    """Convert a message from UTF-16 or UTF-32 to UTF-8; return others unchanged, because parsers support them.

    A byte order mark is removed. It counts more than the encoding that an XML declaration names, which editors leave as
    it was (RFC 7303, section 3.3).

    Raises:
        MessageError: the message is damaged.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None) if data[:1] in _STARTS else None
    if encoding is None and b"\0" in data[:4]:
        encoding = next((name for fits, name in _PATTERNS if fits(data)), None)
    if encoding is not None:
        return _decoded(data, encoding)
    is_marked = data[:3] == BOM_UTF8
    data = data[3:] if is_marked else data
    end = data.find(b"?>", 0, 500) + 2
    if end > 1 and _is_wrong(data[:end], is_marked=is_marked):
        return b"\n" * data.count(b"\n", 0, end) + data[end:]  # line numbers stay the same
    return data


@lru_cache(maxsize=64)
def _is_wrong(declaration: bytes, *, is_marked: bool) -> bool:
    """Return whether a declaration names another encoding than that of the bytes, which are not in UTF-16.

    Programs declare the encoding of their strings (.NET: UTF-16) but use another.
    """
    found = _declared(declaration)
    if found is None:
        return False
    name = found[1].lower()
    return name.startswith((b"utf-16", b"utf16", b"ucs-2", b"iso-10646-ucs-2")) or (is_marked and name != b"utf-8")


def by_charset(data: bytes, content_type: str | None) -> bytes:
    """Convert a message to UTF-8 if only the content type states its encoding (``;charset=iso-8859-1``)."""
    claimed = _charset(content_type) if content_type else None
    if claimed is None or _declared(data[:500]) is not None:
        return data
    try:
        data.decode()
    except UnicodeDecodeError:
        try:
            return data.decode(claimed[1]).encode()
        except (LookupError, UnicodeDecodeError):
            return data
    return data


def _decoded(data: bytes, encoding: str) -> bytes:
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        name = encoding.upper()[:6]
        raise MessageError(f"reading a message in {name}: it is damaged at byte {error.start}") from None
    # The declaration names an encoding that no longer applies.
    return _declaration.sub("", text.removeprefix("\ufeff")).encode("utf-8", "surrogatepass")
