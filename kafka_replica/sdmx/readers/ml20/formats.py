"""Text formats of SDMX-ML 2.0. Source: SDMXStructure.xsd 2.0, TextFormatType; the attributes are those of 2.1."""

from __future__ import annotations

from typing import Final

import msgspec
from lxml import etree

from kafka_replica.sdmx.formats.ml.reading.tree import Names
from kafka_replica.sdmx.formats.ml.reading.values import read_text_format
from kafka_replica.sdmx.representation import TextFormat

_TYPES: Final = {
    "Date": "GregorianDay",
    "Year": "GregorianYear",
    "YearMonth": "GregorianYearMonth",
    "Timespan": "TimeRange",
}
"""Types with other names since 2.1; the values are written in the same way."""


def text_format(element: etree._Element, names: Names) -> TextFormat:
    """Read a <TextFormat>, <CodingType> or <ToTextFormat>. Raises MessageError."""
    found = read_text_format(element, names)
    name = _TYPES.get(found.text_type or "")
    return msgspec.structs.replace(found, text_type=name) if name else found
