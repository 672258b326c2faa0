"""Periods of time as numbers: when a period begins and ends, in Python for constants and as nodes for values.

A number counts seconds from 1970-01-01T00:00:00, in whatever time zone is written: zones are not compared. Years have
four digits; earlier and later ones are unknown. Reporting periods are those of a reporting year that begins on
1 January. Source: SDMX 3.0 Section 6, "Time and time format"; ISO 8601 for weeks.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

from kafka_replica.rules.conditions import (
    All,
    Arithmetic,
    Chosen,
    Compared,
    Condition,
    Constant,
    Extracted,
    Matches,
    Not,
    Number,
    Value,
    Whole,
    Whole_,
    some,
)
from kafka_replica.rules.texts import LEAP_YEAR, TIME_TYPES, ZONE

DAY_S: Final = 86_400
_MONTHS: Final = {"A": 12, "S": 6, "T": 4, "Q": 3, "M": 1}
_EPOCH: Final = date(1970, 1, 1)
_is_standard: Final = re.compile(TIME_TYPES["StandardTimePeriod"]).fullmatch


class Period(NamedTuple):
    """A period: from its first second to the one after its last."""

    start_s: int
    end_s: int


def period(text: str) -> Period | None:
    """The period a text writes; None if it writes none, or one that is not understood."""
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
    """The first month of the period, from 1, and how many it has."""
    if not rest:
        return 1, 12
    if found := re.fullmatch(r"-(\d\d)", rest):
        return int(found[1]), 1
    if found := re.fullmatch(r"-([ASTQM])(\d{1,2})", rest):
        count = _MONTHS[found[1]]
        return (int(found[2]) - 1) * count + 1, count
    return None


def _month_start(year: int, month: int) -> int:
    year, month = year + (month - 1) // 12, (month - 1) % 12 + 1
    # Python knows no year 10000, in which the last ones end.
    return _seconds(date(year, month, 1)) if year < 10_000 else _seconds(date.max) + DAY_S


def _seconds(day: date) -> int:
    return (day - _EPOCH).days * DAY_S


# From here on: nodes.

_Y: Final = r"[0-9]{4}"
_DD: Final = r"[0-9]{2}"
_REST: Final = r"(?:[^0-9:].*)?"
"""What may follow two digits that are not the hour of a time zone."""
MONTHLY: Final = rf"{_Y}(?:-A1|-D001|-M?{_DD}|-[STQ][1-4])?{ZONE}|{_Y}-{_DD}-01(?:T00:00:00(?:\.0+)?)?{ZONE}(?:/.*)?"
"""Periods that begin with a month."""
OF_A_YEAR: Final = rf"{_Y}-(?:W{_DD}|D[0-9]{{3}}){ZONE}"
"""Weeks and days of the year: whether they begin with a month is not seen in how they are written."""
UNDERSTOOD: Final = (
    rf"{_Y}(?:-A1|-[STQ][1-4]|-M?{_DD}|-W{_DD}|-D[0-9]{{3}})?{ZONE}"
    rf"|{_Y}-{_DD}-{_DD}(?:{ZONE}(?:/.*)?|T{_DD}:{_DD}:{_DD}.*)"
)
"""Periods of which is known when they begin."""
_EPOCH_DAY: Final = _EPOCH.toordinal()
_ELSE: Final = Constant(value=True)


def start_of(value: Value) -> Whole_:
    """The second in which the period of a column begins; unknown for what is none, or is not understood."""
    day = _plus(_new_year(value), _until_month(value), _day(value), _of_a_year(value))
    clock = Chosen((
        (Matches(value, rf"{_Y}-{_DD}-{_DD}T.*"),
         _plus(
            _times(_part(value, rf".*T({_DD}):.*"), 3600),
            _times(_part(value, rf".*T{_DD}:({_DD}):.*"), 60),
            _part(value, rf".*T{_DD}:{_DD}:({_DD}).*"),
         )),
        (_ELSE, Number(0)),
    ))  # fmt: skip
    return Chosen(((Matches(value, UNDERSTOOD), _plus(_times(_minus(day, _EPOCH_DAY), DAY_S), clock)),))


def month_of(value: Value) -> Whole_:
    """The month in which a period begins, counted from year 0; unknown where it does not begin with a month."""
    number = _plus(_times(_year(value), 12), _minus(_month(value), 1))
    return Chosen(((Matches(value, MONTHLY), number),))


def _year(value: Value) -> Whole_:
    return _part(value, rf"({_Y}).*")


def _month(value: Value) -> Whole_:
    """The month with which a period begins, or that it is in; the first one if nothing is said of months."""
    parts = [
        (
            Matches(value, rf"{_Y}-{letter}.*"),
            _minus(_times(_part(value, rf"{_Y}-{letter}([0-9]).*"), count), count - 1),
        )
        for letter, count in ((letter, _MONTHS[letter]) for letter in "STQ")
    ]
    written = rf"{_Y}-M?({_DD}){_REST}"
    return Chosen(((Matches(value, written), _part(value, written)), *parts, (_ELSE, Number(1))))


def _day(value: Value) -> Whole_:
    """The day of the month; the first one if none is written."""
    written = rf"{_Y}-{_DD}-({_DD}){_REST}"
    return Chosen(((Matches(value, written), _part(value, written)), (_ELSE, Number(1))))


def _new_year(value: Value) -> Whole_:
    """The days from 0001-01-01 until the year."""
    past = _minus(_year(value), 1)
    return _plus(_times(past, 365), _over(past, 4), _minus(_over(past, 400), _over(past, 100)))


def _until_month(value: Value) -> Whole_:
    """The days of the year before the month begins; after Dershowitz and Reingold, Calendrical Calculations."""
    month = _month(value)
    after_february = Chosen((
        (Compared(month, "<=", Number(2)), Number(0)),
        (Matches(value, rf"{LEAP_YEAR}-.*"), Number(1)),
        (_ELSE, Number(2)),
    ))  # fmt: skip
    return _minus(_over(_minus(_times(month, 367), 362), 12), after_february)


def _of_a_year(value: Value) -> Whole_:
    """The days from the beginning of the year to a period of it that is a day or a week."""
    # Week 1 begins up to three days before 1 January, or after it; 1 January of the year 1 is a Monday.
    first = _minus(Number(3), Arithmetic("%", _plus(_new_year(value), Number(3)), Number(7)))
    return Chosen((
        (Matches(value, rf"{_Y}-D.*"), _minus(_part(value, rf"{_Y}-D([0-9]{{3}}).*"), 1)),
        (Matches(value, rf"{_Y}-W.*"), _plus(_times(_minus(_part(value, rf"{_Y}-W({_DD}).*"), 1), 7), first)),
        (_ELSE, Number(0)),
    ))  # fmt: skip


def _has_53_weeks(year: int) -> bool:
    """Whether a year begins or ends on a Thursday (ISO 8601)."""
    return _last_weekday(year) == 4 or _last_weekday(year - 1) == 3


def _last_weekday(year: int) -> int:
    """The weekday of the last day of a year: 4 is Thursday."""
    return (year + year // 4 - year // 100 + year // 400) % 7


def _long_years() -> str:
    """An expression for the years that have a week 53; the calendar begins anew every 400 years."""
    found: list[str] = []
    for remainder in range(4):
        hundreds = "|".join(f"{hundred:02}" for hundred in range(remainder, 100, 4))
        rest = "|".join(f"{year:02}" for year in range(100) if _has_53_weeks(remainder * 100 + year))
        found.append(f"(?:{hundreds})(?:{rest})")
    return f"(?:{'|'.join(found)})"


_LONG_YEAR: Final = _long_years()


def not_in_calendar(value: Value) -> Condition:
    """Week 53 in a year that has 52 weeks (ISO 8601), day 366 in a year that has 365 days."""
    return some(
        *(
            All((Matches(value, rf"{_Y}-{last}{ZONE}"), Not(Matches(value, rf"{years}-{last}{ZONE}"))))
            for last, years in (("W53", _LONG_YEAR), ("D366", LEAP_YEAR))
        )
    )


def _part(value: Value, expression: str) -> Whole_:
    return Whole(Extracted(value, expression))


def _plus(*parts: Whole_) -> Whole_:
    total, *rest = parts
    for part in rest:
        total = Arithmetic("+", total, part)
    return total


def _minus(left: Whole_, right: Whole_ | int) -> Whole_:
    return Arithmetic("-", left, Number(right) if isinstance(right, int) else right)


def _times(left: Whole_, right: int) -> Whole_:
    return Arithmetic("*", left, Number(right))


def _over(left: Whole_, right: int) -> Whole_:
    return Arithmetic("//", left, Number(right))
