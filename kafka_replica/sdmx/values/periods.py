"""Periods of time as numbers: the start and end of a period.

A number counts seconds from 1970-01-01T00:00:00, in the time zone as written: zones are not compared. Years have
four digits; earlier and later years are not supported. Reporting periods are those of a reporting year that begins on
1 January. Source: SDMX 3.0 Section 6, "Time and time format"; ISO 8601 for weeks.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from kafka_replica.sdmx.values.text_types import TIME_TYPES

DAY_S: Final = 86_400
MONTHS: Final = {"A": 12, "S": 6, "T": 4, "Q": 3, "M": 1}
"""The number of months in a reporting period, by its letter."""
EPOCH: Final = date(1970, 1, 1)
_is_standard: Final = re.compile(TIME_TYPES["StandardTimePeriod"]).fullmatch


class Period(NamedTuple):
    """A period: from its first second to the second after its last."""

    start_s: int
    end_s: int


def period(text: str) -> Period | None:
    """Return the period that a text represents; None if the text is not a period, or not a supported one."""
    found = re.fullmatch(r"(\d{4})(.*?)(?:Z|[+-]\d\d:\d\d)?", text.strip(), re.ASCII)
    if found is None or not _is_standard(text.strip()):
        return None
    year, rest = int(found[1]), found[2]
    try:
        return _period(year, rest)
    except (ValueError, OverflowError):
        return None


def _period(year: int, rest: str) -> Period | None:
    if (months := _months(rest)) is not None:
        first, count = months
        return Period(_month_start(year, first), _month_start(year, first + count))
    if found := re.fullmatch(r"-W(\d\d)", rest):
        start = _seconds(date.fromisocalendar(year, int(found[1]), 1))
        return Period(start, start + 7 * DAY_S)
    if found := re.fullmatch(r"-D(\d{3})", rest):
        day = date(year, 1, 1) + timedelta(days=int(found[1]) - 1)
        return Period(_seconds(day), _seconds(day) + DAY_S) if day.year == year else None
    if found := re.fullmatch(r"-(\d\d)-(\d\d)", rest):
        start = _seconds(date(year, int(found[1]), int(found[2])))
        return Period(start, start + DAY_S)
    if found := re.fullmatch(r"(-\d\d-\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?", rest):
        day = datetime.fromisoformat(f"{year:04}{found[1]}").date()
        start = _seconds(day) + int(found[2]) * 3600 + int(found[3]) * 60 + int(found[4])
        return Period(start, start + 1)
    return None


def _months(rest: str) -> tuple[int, int] | None:
    """Return the first month of the period, from 1, and the number of its months."""
    if not rest:
        return 1, 12
    if found := re.fullmatch(r"-(\d\d)", rest):
        return int(found[1]), 1
    if found := re.fullmatch(r"-([ASTQM])(\d{1,2})", rest):
        count = MONTHS[found[1]]
        return (int(found[2]) - 1) * count + 1, count
    return None


def _month_start(year: int, month: int) -> int:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    # Python does not support the year 10000, in which the last periods end.
    return _seconds(date(year, month, 1)) if year < 10_000 else _seconds(date.max) + DAY_S


def _seconds(day: date) -> int:
    return (day - EPOCH).days * DAY_S
