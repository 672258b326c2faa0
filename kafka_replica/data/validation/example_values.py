"""Plausible values of an uncoded component; at least some of them satisfy most of its facets."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from decimal import Decimal
from typing import Final

from kafka_replica.data.validation.patterns import UnusablePatternError, translated_pattern
from kafka_replica.data.validation.sequences import sequence_bounds
from kafka_replica.sdmx import TextFormat
from kafka_replica.sdmx.values.text_types import NUMBER_TYPES, TIME_TYPES

_BY_TYPE: Final = {
    "Alpha": ("a", "Bc", "xyz"),
    "AlphaNumeric": ("a1", "B2", "7"),
    "Numeric": ("007", "42", "1"),
    "Boolean": ("true", "false", "1"),
    "Month": ("--01", "--12"),
    "MonthDay": ("--01-01", "--07-01"),
    "Day": ("---01", "---31"),
    "Time": ("00:00:00", "23:59:59.5"),
    "Duration": ("P1Y", "PT1H30M", "-P3D"),
    "IdentifiableReference": ("urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_FREQ(2.1)",),
    "DateTime": tuple(f"{year}-01-31T12:30:00" for year in range(1990, 2030)),
    "GregorianYear": tuple(map(str, range(1900, 2100))),
    "GregorianYearMonth": tuple(f"{year}-{month:02}" for year in range(1990, 2030) for month in (1, 6, 12)),
    "GregorianDay": tuple(f"{year}-{month:02}-28" for year in range(1990, 2030) for month in range(1, 13)),
    "ReportingYear": tuple(f"{year}-A1" for year in range(1950, 2050)),
    "ReportingSemester": tuple(f"{year}-S{number}" for year in range(1950, 2050) for number in (1, 2)),
    "ReportingTrimester": tuple(f"{year}-T{number}" for year in range(1950, 2050) for number in (1, 2, 3)),
    "ReportingQuarter": tuple(f"{year}-Q{number}" for year in range(1950, 2050) for number in (1, 2, 3, 4)),
    "ReportingMonth": tuple(f"{year}-M{number:02}" for year in range(1990, 2030) for number in range(1, 13)),
    "ReportingWeek": tuple(f"{year}-W{number:02}" for year in range(2000, 2030) for number in range(1, 53)),
    "ReportingDay": tuple(f"{year}-D{number:03}" for year in range(2000, 2030) for number in range(1, 366)),
    "TimeRange": tuple(f"{year}-01-01/P1Y" for year in range(1950, 2050)),
}
_GREGORIAN: Final = (*_BY_TYPE["GregorianYear"], *_BY_TYPE["GregorianYearMonth"], *_BY_TYPE["GregorianDay"])
_REPORTING: Final = tuple(
    value for name, values in _BY_TYPE.items() if name.startswith("Reporting") for value in values
)  # fmt: skip
_GROUPS: Final = {
    "GregorianTimePeriod": _GREGORIAN,
    "BasicTimePeriod": (*_GREGORIAN, *_BY_TYPE["DateTime"]),
    "ReportingTimePeriod": _REPORTING,
    "StandardTimePeriod": (*_GREGORIAN, *_BY_TYPE["DateTime"], *_REPORTING),
    "ObservationalTimePeriod": (*_GREGORIAN, *_BY_TYPE["DateTime"], *_REPORTING, *_BY_TYPE["TimeRange"]),
}


def example_values(text_type: str, format_: TextFormat) -> tuple[str, ...]:
    """Return example values of an uncoded component."""
    return tuple(dict.fromkeys(_examples(text_type, format_)))


def _examples(text_type: str, format_: TextFormat) -> Iterator[str]:
    if format_.pattern is not None:
        with suppress(UnusablePatternError, RecursionError):
            yield from translated_pattern(format_.pattern).examples
    if text_type in NUMBER_TYPES:
        yield from _numbers(text_type, format_)
        return
    if text_type == "Numeric":
        yield from (number for number in _numbers("Integer", format_) if number.isdecimal())
    yield from _BY_TYPE.get(text_type) or _GROUPS.get(text_type) or ("some text", "x", "Zürich")
    if text_type in TIME_TYPES:
        return
    for length in (format_.min_length, format_.max_length):
        if length is not None and length <= 10_000:
            yield ("1" if text_type == "Numeric" else "x") * length


def _numbers(text_type: str, format_: TextFormat) -> Iterator[str]:
    lowest, highest = sequence_bounds(text_type, format_)
    low = next((one for one in (lowest, format_.min_value) if one is not None), None)
    high = next((one for one in (highest, format_.max_value) if one is not None), None)
    first = low if low is not None else (high - 10 if high is not None else Decimal(0))
    step = abs(format_.interval or Decimal(1))
    if format_.interval is not None and format_.interval < 0 and highest is not None:
        first, step = highest, -step
    yield from (f"{first + step * count:f}" for count in range(12))
    if low is not None and high is not None:
        yield from (f"{low + (high - low) / 4 * part:f}" for part in range(5))
    if high is not None:
        yield f"{high:f}"
    if not text_type.endswith(("Integer", "Long", "Short", "Count")):
        yield from ("1.5", "0.25", "-3.75", "12.5")
