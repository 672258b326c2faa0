"""Periods of SDMX-EDI: digits and a code for their format, which denote one period or a range of periods.

Source: SDMX 2.1 Section 4, "SDMX-EDI: Syntax and Documentation", ARR; UN/EDIFACT, data element 2379.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from functools import lru_cache
from typing import Final, NamedTuple


class TimeFormat(NamedTuple):
    """A time format.

    Attributes:
        digits: the number of digits of a period.
        is_range: whether the digits are a first period followed by a last period.
        duration: the duration of a period in ISO 8601, as in attributes such as TIME_FORMAT.
    """

    digits: int
    is_range: bool
    duration: str


TIME_FORMATS: Final = {
    "102": TimeFormat(8, is_range=False, duration="P1D"),
    "203": TimeFormat(12, is_range=False, duration="PT1M"),
    "602": TimeFormat(4, is_range=False, duration="P1Y"),
    "604": TimeFormat(5, is_range=False, duration="P6M"),
    "608": TimeFormat(5, is_range=False, duration="P3M"),
    "610": TimeFormat(6, is_range=False, duration="P1M"),
    "616": TimeFormat(6, is_range=False, duration="P7D"),
    "702": TimeFormat(4, is_range=True, duration="P1Y"),
    "704": TimeFormat(5, is_range=True, duration="P6M"),
    "708": TimeFormat(5, is_range=True, duration="P3M"),
    "710": TimeFormat(6, is_range=True, duration="P1M"),
    "711": TimeFormat(8, is_range=True, duration="P1D"),
    "716": TimeFormat(6, is_range=True, duration="P7D"),
}
_PARTS: Final = {"P1Y": 1, "P6M": 2, "P3M": 4, "P1M": 12}
"""The number of periods in a year, by duration."""
_TEXTS: Final[dict[str, Callable[[int, int], str]]] = {
    "P1Y": lambda year, _: f"{year:04}",
    "P6M": lambda year, part: f"{year:04}-S{part}",
    "P3M": lambda year, part: f"{year:04}-Q{part}",
    "P1M": lambda year, part: f"{year:04}-{part:02}",
}
_MOST: Final = 100_000
"""The maximum number of periods, which no series reaches: over 270 years of days."""


def periods_of(text: str, code: str) -> tuple[str, ...]:
    """Return the periods that digits and the code of their format denote, as SDMX-ML and SDMX-CSV write them.

    Raises:
        ValueError: the code is unknown, or the digits do not fit it; the message describes the violation.
    """
    format_ = TIME_FORMATS.get(code)
    if format_ is None:
        raise ValueError(f"{code[:20]!r} is not a time format of SDMX-EDI; it must be one of {', '.join(TIME_FORMATS)}")
    length = format_.digits * (2 if format_.is_range else 1)
    if len(text) != length or not (text.isascii() and text.isdigit()):
        raise ValueError(f"{text[:40]!r} is not a period of the time format {code}, which has {length} digits")
    try:
        return _expanded(text, format_)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"{text!r} is not a period of the time format {code}: {error}") from None


@lru_cache(maxsize=256)
def _expanded(text: str, format_: TimeFormat) -> tuple[str, ...]:
    """Return the periods; they are cached because most series of a message share a few ranges."""
    if format_.duration == "PT1M":
        return (datetime.strptime(text, "%Y%m%d%H%M").strftime("%Y-%m-%dT%H:%M:00"),)  # noqa: DTZ007 - no zone is known
    first = _number(text[: format_.digits], format_.duration)
    last = _number(text[-format_.digits :], format_.duration)
    if not 0 <= last - first < _MOST:
        raise ValueError(f"it ends before it begins, or has more than {_MOST:,} periods")
    return tuple(_text(number, format_.duration) for number in range(first, last + 1))


def _number(digits: str, duration: str) -> int:
    """Return the number of a period, counted in periods of its duration, so that a range becomes a range of numbers."""
    year, rest = int(digits[:4]), digits[4:]
    if duration == "P7D":
        return date.fromisocalendar(year, int(rest), 1).toordinal() // 7
    if duration == "P1D":
        return date(year, int(rest[:2]), int(rest[2:])).toordinal()
    count, part = _PARTS[duration], int(rest or 1)
    if not (year and 1 <= part <= count):
        raise ValueError(f"a year has no part {rest}" if year else "there is no year 0")
    return year * count + part - 1


def _text(number: int, duration: str) -> str:
    if duration == "P7D":
        year, week, _ = date.fromordinal(number * 7 + 1).isocalendar()  # weeks begin on Mondays, as 0001-01-01 did
        return f"{year:04}-W{week:02}"
    if duration == "P1D":
        return date.fromordinal(number).isoformat()
    year, part = divmod(number, _PARTS[duration])
    return _TEXTS[duration](year, part + 1)
