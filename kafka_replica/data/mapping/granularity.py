"""Check whether a written date can be read again as the date that was read before.

Reading gives a period, and writing gives a period that shares a point in time with it. The first period can be
recovered if the second one, when it is read again, contains that point and lies completely within the first.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Final

from kafka_replica.data.mapping.date_patterns import (
    PatternDate,
    Reading,
    Token,
    UnitCount,
    UnusableDateError,
    Writing,
    WrittenDate,
    reading_of_pattern,
    writing_of_pattern,
)

_OF_MONTHS: Final = frozenset({"quarter", "trimester", "semester", "year"})
_OF_DAYS: Final = _OF_MONTHS | {"month", "week"}
_OF_HOURS: Final = _OF_DAYS | {"day"}
_OF_MINUTES: Final = _OF_HOURS | {"hour"}
_LARGER: Final[Mapping[str, frozenset[str]]] = {
    "year": frozenset(), "semester": frozenset({"year"}), "trimester": frozenset({"year"}),
    "quarter": frozenset({"semester", "year"}), "month": _OF_MONTHS, "week": frozenset(), "day": _OF_DAYS,
    "shifted day": frozenset(), "hour": _OF_HOURS, "minute": _OF_MINUTES,
    "second": _OF_MINUTES | {"minute", "shifted day"},
}  # fmt: skip
"""Kinds of periods that fully contain one of the given kind. A shifted day, of an epoch, does not begin at midnight."""
_CLOCK_KINDS: Final[Mapping[int | None, str]] = {3600: "hour", 60: "minute", 1: "second"}
_WAYS: Final = frozenset(
    frozenset(way.split())
    for way in (
        "year", "year number:A", "year number:S", "year number:T", "year number:Q", "year month", "year number:M",
        "week_year week", "week_year number:W", "week_year week weekday", "week_year number:W weekday",
        "year month day", "year day_of_year", "year number:D",
    )
)  # fmt: skip
"""The combinations of fields that denote a date without redundancy."""
_BELOW_HOURS: Final = ("minute", "second", "millisecond")
_HOURS_OF_DAY: Final = ({"hour"}, {"hour_24"}, {"hour_11", "half_day"}, {"hour_12", "half_day"})
_HOURS: Final = (*_HOURS_OF_DAY, {"hour_11"}, {"hour_12"}, set[str]())
_CLOCK: Final = frozenset({"hour", "hour_24", "hour_11", "hour_12", "half_day", *_BELOW_HOURS})
_MOST_DIGITS: Final = {
    "month": 2, "day": 2, "day_of_year": 3, "week": 2, "weekday": 1, "hour": 2, "hour_24": 2, "hour_11": 2,
    "hour_12": 2, "minute": 2, "second": 2,
}  # fmt: skip
"""The largest number of digits of a part; for years, the letters define it, and for milliseconds it is 0."""
_MOST_DIGITS_OF: Final = {"M": 2, "W": 2, "D": 3}


def reason_not_writable(reading: Reading) -> str | None:
    """Return why dates with this reading cannot be written back unchanged; None if they can."""
    if isinstance(reading, UnitCount):
        return None if reading.per_s == 1 else "it counts fractions of a second, and whole seconds are kept"
    if "millisecond" in reading.fields:
        return f"{reading.pattern!r} has fractions of a second, and whole seconds are kept"
    try:
        writing_of_pattern(reading.pattern, reading.locale)
    except UnusableDateError as error:
        return str(error)
    if not _says_once(reading):
        return f"{reading.pattern!r} has a part that does not count for the date, and is not kept"
    return None


def lies_within(again: Reading, reading: Reading) -> bool:
    """Return whether each period that is read again lies within a period that was read before."""
    kind = _kind(reading)
    return _kind(again) == kind or kind in _LARGER[_kind(again)]


def _kind(reading: Reading) -> str:
    if isinstance(reading, PatternDate):
        return _CLOCK_KINDS.get(reading.clock_s, reading.unit)
    if reading.base_s % reading.unit_s:
        return "shifted day"
    return "day" if reading.unit_s > 1 else "second"


def read_again(writing: Writing, reading: Reading) -> Reading | None:
    """Return how to read dates with this writing; None if the reading may miss the point in time that was written.

    Args:
        writing: how the date is written.
        reading: how the date was read before, which limits the years.
    """
    if isinstance(writing, UnitCount):
        return writing
    from_year = reading.short_year_from if isinstance(reading, PatternDate) else 1970
    try:
        again = reading_of_pattern(writing.pattern, writing.locale, from_year)
    except UnusableDateError:
        return None
    # A year of two digits is only unambiguous if the date was read with a year of two digits of the same kind.
    short = {name for name in again.fields if name.startswith("short_")}
    same_years = not short or (isinstance(reading, PatternDate) and short <= set(reading.fields))
    is_unambiguous = same_years and _says_once(again) and _is_to_the_end(_clock(again)) and not _runs_together(writing)
    return again if is_unambiguous else None


def write_again(reading: Reading) -> Writing:
    """Return how to write dates with this reading. Raises UnusableDateError; see :func:`reason_not_writable`."""
    return writing_of_pattern(reading.pattern, reading.locale) if isinstance(reading, PatternDate) else reading


def _clock(reading: PatternDate) -> set[str]:
    return set(reading.fields) & _CLOCK


def _says_once(reading: PatternDate) -> bool:
    """Return whether each part of the date is relevant for the point in time."""
    names = [name.removeprefix("short_").replace("month_name", "month") for name in reading.fields]
    clock = _clock(reading)
    return (
        len(set(names)) == len(names)
        and frozenset(names) - clock in _WAYS
        and clock.difference(_BELOW_HOURS) in _HOURS
    )  # fmt: skip


def _is_to_the_end(clock: set[str]) -> bool:
    """Return whether a time of day has all parts down to its finest."""
    below = clock & set(_BELOW_HOURS)
    return not clock or (clock - below in _HOURS_OF_DAY and below == set(_BELOW_HOURS[: len(below)]))


def _runs_together(writing: WrittenDate) -> bool:
    """Return whether a part with a varying number of digits is adjacent to another digit."""
    pairs = pairwise(writing.tokens)
    return any(
        _has_digits(one, writing) and _has_digits(other, writing) and (_varies(one) or _varies(other))
        for one, other in pairs
    )  # fmt: skip


def _has_digits(token: Token, writing: WrittenDate) -> bool:
    if _is_name(token):
        return any(char.isdigit() for name in (*writing.months, *writing.short_months) for char in name)
    if token.field == "text":
        return any(char.isdigit() for char in token.text)
    return token.field != "half_day"


def _varies(token: Token) -> bool:
    if token.field == "text":
        return False
    most = _MOST_DIGITS_OF.get(token.text, 1) if token.field == "number" else _MOST_DIGITS.get(token.field, 0)
    return _is_name(token) or token.width < most


def _is_name(token: Token) -> bool:
    return token.field == "month" and token.width > 2
