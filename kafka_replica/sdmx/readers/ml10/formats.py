"""Text formats of SDMX-ML 1.0. Source: SDMXStructure.xsd 1.0, TextFormatType."""

from __future__ import annotations

from typing import Final

from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import whole_number
from kafka_replica.sdmx.representation import TextFormat

_TYPES: Final = {"Alpha": "Alpha", "Num": "Numeric", "AlphaNum": "String"}
"""The names of types in SDMX 2.1: no digits, digits that are not a number, any characters."""


def text_format(element: etree._Element, _: Names) -> TextFormat:
    """Read a <TextFormat>: ``length`` is the maximum, or the exact length if the type ends with Fixed.

    Raises MessageError.
    """
    length = whole_number(element, "length")
    written = element.get("TextType")
    kind = None
    if written is not None:
        kind = _TYPES.get(written.removesuffix("Fixed"))
        if kind is None:
            fail(element, f"TextType={written[:80]!r} is not one of SDMX-ML 1.0")
    return TextFormat(
        text_type=kind,
        min_length=length if written and written.endswith("Fixed") else None,
        max_length=length,
        decimals=whole_number(element, "decimals"),
    )
