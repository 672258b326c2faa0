"""Text formats of SDMX-ML 2.0 and 1.0; the attributes of 2.0 are those of 2.1.

Source: SDMXStructure.xsd of both, TextFormatType.
"""

from __future__ import annotations

from typing import Final

import msgspec
from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.tree import Names, fail
from kafka_replica.sdmx.formats.ml.reading.values import read_text_format, whole_number
from kafka_replica.sdmx.formats.ml20.reading.message_context import stated
from kafka_replica.sdmx.model.representation import TextFormat

_TYPES_20: Final = {
    "Date": "GregorianDay",
    "Year": "GregorianYear",
    "YearMonth": "GregorianYearMonth",
    "Timespan": "TimeRange",
}
"""Types with other names since 2.1; the values are written in the same way."""


def text_format_20(element: etree._Element, names: Names) -> TextFormat:
    """Read a <TextFormat>, <CodingType> or <ToTextFormat>. Raises MessageError."""
    found = read_text_format(element, names)
    written = (found.text_type or "").strip()
    name = _TYPES_20.get(written, written) or None
    return found if name == found.text_type else msgspec.structs.replace(found, text_type=name)


_TYPES_10: Final = {"Alpha": "Alpha", "Num": "Numeric", "AlphaNum": "String"}
"""The names of types in SDMX 2.1: no digits, digits that are not a number, any characters."""


def text_format_10(element: etree._Element, _: Names) -> TextFormat:
    """Read a <TextFormat>: ``length`` is the maximum, or the exact length if the type ends with Fixed.

    Raises MessageError.
    """
    length = whole_number(element, "length")
    written = stated(element, "TextType")
    kind = None
    if written is not None:
        kind = _TYPES_10.get(written.removesuffix("Fixed"))
        if kind is None:
            fail(element, f"TextType={written[:80]!r} is not one of SDMX-ML 1.0")
    return TextFormat(
        text_type=kind,
        min_length=length if written and written.endswith("Fixed") else None,
        max_length=length,
        decimals=whole_number(element, "decimals"),
    )
