"""Structure messages for measuring readers: one long codelist, and many small messages; the same in each format.

``content`` defines the content, ``markup`` and ``json_text`` write it.
"""

from __future__ import annotations

from typing import Final

from benchmarks.messages import json_text, markup
from benchmarks.messages.content import Codelist, Content, long_codelist, small

FORMATS: Final = {
    "ml20": markup.sdmx_ml_20,
    "ml21": lambda content: markup.sdmx_ml(content, "2_1"),
    "ml30": lambda content: markup.sdmx_ml(content, "3_0"),
    "json": json_text.sdmx_json,
    "fusion": json_text.fusion,
}
"""The function that writes each format."""


def long_message(format_: str, codes: int) -> bytes:
    """Return a message of one codelist with that number of codes, in two languages, with parents and annotations."""
    return FORMATS[format_](long_codelist(codes))


def small_messages(format_: str, count: int) -> list[bytes]:
    """Return ``count`` messages: codelists of ten codes, concept schemes, data structures and dataflows in turn."""
    written: list[Content] = [small(number) for number in range(count)]
    if format_ == "ml20":
        written = [one for one in written if isinstance(one, Codelist)]
    return [FORMATS[format_](one) for one in written]
