"""Translate the facets of an uncoded component to restrictions of a type of XML Schema.

Each step restricts the previous step, because several patterns in the same step would be alternatives. A facet that
would make the schema invalid is left out: bounds outside those of the type, or a lower bound above the upper bound.

Source: SDMX 2.1 and 3.0 Section 6, "Representation data types"; XML Schema Part 2, chapter 4.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import ROUND_CEILING, ROUND_FLOOR
from xml.sax.saxutils import quoteattr

from kafka_replica.data.schemas.pattern_writer import written_for_xml_schema
from kafka_replica.data.schemas.xsd_types import (
    FLOATING_TYPES,
    INTEGER_BOUNDS,
    MOST_COUNTED,
    NUMBERS,
    STRING,
    UNIONS,
    WITH_LENGTH,
)
from kafka_replica.data.validation.patterns import UnusablePatternError, translated_pattern
from kafka_replica.data.validation.sequences import sequence_bounds
from kafka_replica.sdmx import TextFormat

_not_xml = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]").search


def is_xml(text: str) -> bool:
    """Return whether XML can represent a text; no other text can occur in a message."""
    return _not_xml(text) is None


def facet_element(name: str, value: object) -> str:
    """Return a facet with its escaped value."""
    return f"<xs:{name} value={quoteattr(str(value))}/>"


def restriction_steps(base: str, text_type: str, format_: TextFormat) -> Iterator[str]:
    """Yield the facets of each restriction step; the first step restricts the base type.

    Args:
        base: the type of XML Schema.
        text_type: the text type of SDMX.
        format_: the format with the facets.
    """
    yield from _pattern(format_)
    if base in UNIONS:
        return
    yield from _lengths(base, format_)
    if base in NUMBERS:
        yield from _bounds(base, format_, text_type)
        yield from _decimals(base, format_.decimals)


def _pattern(format_: TextFormat) -> Iterator[str]:
    written = None if format_.pattern is None else xsd_pattern(format_.pattern)
    if written is not None:
        yield facet_element("pattern", written)


def xsd_pattern(pattern: str) -> str | None:
    """Return a pattern in XML Schema's syntax; None if XML cannot represent it, or validation cannot use it."""
    try:
        translated_pattern(pattern)
        written = written_for_xml_schema(pattern)
    except (UnusablePatternError, RecursionError):
        return None
    return written if is_xml(written) else None


def _lengths(base: str, format_: TextFormat) -> Iterator[str]:
    low, high = format_.min_length, format_.max_length
    low = None if low is None or low <= 0 else low
    if (low is None and high is None) or (high is not None and high < (low or 0)):
        return
    if base in WITH_LENGTH:
        given = (("minLength", low), ("maxLength", high))
        yield "".join(facet_element(name, value) for name, value in given if value is not None)
    elif max(low or 0, high or 0) <= MOST_COUNTED:
        yield facet_element("pattern", rf"[\s\S]{{{low or 0},{'' if high is None else high}}}")


def _bounds(base: str, format_: TextFormat, text_type: str) -> Iterator[str]:
    exclusive = text_type == "ExclusiveValueRange"
    lowest, highest = sequence_bounds(text_type, format_)
    lows = [one for one in (format_.min_value, lowest) if one is not None]
    highs = [one for one in (format_.max_value, highest) if one is not None]
    low, high = max(lows, default=None), min(highs, default=None)
    if base in INTEGER_BOUNDS and not exclusive:
        low = None if low is None else low.to_integral_value(ROUND_CEILING)
        high = None if high is None else high.to_integral_value(ROUND_FLOOR)
    bounds = INTEGER_BOUNDS.get(base)
    if bounds is not None:
        low = None if low is None or low <= bounds[0] else low
        high = None if high is None or high >= bounds[1] else high
        if (low is not None and low > bounds[1]) or (high is not None and high < bounds[0]):
            return
    if low is not None and high is not None and (low > high or (exclusive and low == high)):
        return
    kind = "Exclusive" if exclusive else "Inclusive"
    given = ((f"min{kind}", low), (f"max{kind}", high))
    written = "".join(facet_element(name, f"{value:f}") for name, value in given if value is not None)
    if written:
        yield written


def _decimals(base: str, decimals: int | None) -> Iterator[str]:
    if decimals is None or decimals < 0 or base in INTEGER_BOUNDS:
        return
    if base not in FLOATING_TYPES:
        yield facet_element("fractionDigits", decimals)
    elif decimals <= MOST_COUNTED:
        yield facet_element("pattern", rf"[+\-]?[0-9]*(\.[0-9]{{0,{decimals}}})?([eE][+\-]?[0-9]+)?|-?INF|NaN")


def restricted_type(base: str, restrictions: list[str]) -> str:
    """Return an anonymous type that applies the restrictions to the base one after the other."""
    inner = ""
    for restriction in restrictions or [""]:
        opening = f"<xs:restriction>{inner}" if inner else f'<xs:restriction base="{base}">'
        inner = f"<xs:simpleType>{opening}{restriction}</xs:restriction></xs:simpleType>"
    return inner


def enumerated_type(values: list[str]) -> str:
    """Return an anonymous type that allows only these values; without values, it allows none."""
    # Without enumerations, any text would be allowed; no text is both empty and at least one character long.
    nothing = facet_element("minLength", 1) + facet_element("enumeration", "")
    return restricted_type(STRING, ["".join(facet_element("enumeration", value) for value in values) or nothing])
