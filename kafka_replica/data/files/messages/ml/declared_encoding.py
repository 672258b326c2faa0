"""The content of an XML file in an encoding that Expat reads.

Expat reads UTF-8, UTF-16, and encodings with one byte per character. XML may declare others, such as GB2312 or
Shift_JIS; these are converted to UTF-8 before they are parsed.

Source: XML 1.0, 4.3.3, "Character Encoding in Entities".
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import IO, Final

from kafka_replica.data.errors import DatasetError

_DECLARATION: Final = re.compile(
    rb"\s*+<\?xml\s[^<>]*?\sencoding\s*+=\s*+([\"'])(?P<name>[A-Za-z][A-Za-z0-9._-]*+)\1", re.DOTALL
)
_CONVERTED: Final = frozenset({
    "big5", "big5hkscs", "cp932", "cp949", "cp950", "euc_jp", "euc_kr", "gb18030", "gb2312", "gbk", "iso2022_jp",
    "iso2022_kr", "johab", "shift_jis",
})  # fmt: skip
"""Python's names of encodings with several bytes per character, in which ASCII characters have one byte."""

_ALIASES: Final = {"windows-31j": "cp932"}
"""Names registered with the IANA that Python does not have."""


def chunks_of(file: IO[bytes], size: int) -> Iterator[bytes]:
    """Yield the content of an XML file, in UTF-8 if Expat does not read the encoding that the file declares.

    A byte order mark of UTF-8 is left out. It counts more than the declaration, which Expat would believe: editors that
    save a file as UTF-8 with a mark leave the declared name as it was (RFC 7303, section 3.3).

    Args:
        file: the file.
        size: the number of bytes to read at once.

    Raises:
        DatasetError: the content is not in the encoding that it declares.
    """
    chunk = file.read(size)
    is_marked = chunk.startswith(codecs.BOM_UTF8)
    chunk = chunk.removeprefix(codecs.BOM_UTF8)
    declared = _DECLARATION.match(chunk)
    decoder = None if declared is None or is_marked else _decoder_of(declared["name"].decode())
    if declared is not None and (is_marked or decoder is not None):
        chunk = chunk[: declared.start("name")] + b"UTF-8" + chunk[declared.end("name") :]
    if declared is None or decoder is None:
        while chunk:
            yield chunk
            chunk = file.read(size)
        return
    try:
        while chunk:
            yield from filter(None, [decoder.decode(chunk).encode()])
            chunk = file.read(size)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise DatasetError(
            f"it is not in the encoding that it declares, {declared['name'].decode()}: {error.reason}"
        ) from error


def _decoder_of(name: str) -> codecs.IncrementalDecoder | None:
    """Return a decoder of an encoding that must be converted; None for the others, which are left to Expat."""
    try:
        found = codecs.lookup(_ALIASES.get(name.lower(), name))
    except LookupError:
        return None
    return found.incrementaldecoder() if found.name in _CONVERTED else None
