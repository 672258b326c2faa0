"""Time periods as numbers: nodes of conditions that compute when the period of a value begins and ends.

A number counts seconds from 1970-01-01T00:00:00 in the time zone as written; differences of time zones are ignored.
Years have four digits; earlier and later years are unknown. Reporting periods belong to reporting years that begin on 1
January. Source: SDMX 3.0 Section 6, "Time and time format"; ISO 8601 for weeks.
"""

from __future__ import annotations

from typing import Final

from kafka_replica.data.validation.conditions import (
    And,
    Arithmetic,
    Case,
    CompareInt,
    ComponentText,
    Condition,
    Constant,
    IntExpression,
    IntOfText,
    Matches,
    Not,
    Number,
    RegexGroup,
    some,
)
from kafka_replica.sdmx.values.periods import DAY_S, EPOCH, MONTHS
from kafka_replica.sdmx.values.text_types import LEAP_YEAR, ZONE

_Y: Final = r"[0-9]{4}"
_DD: Final = r"[0-9]{2}"
_REST: Final = r"(?:[^0-9:].*)?"
"""The text that may follow two digits that are not the hour of a time zone."""
MONTHLY: Final = rf"{_Y}(?:-A1|-D001|-M?{_DD}|-[STQ][1-4])?{ZONE}|{_Y}-{_DD}-01(?:T00:00:00(?:\.0+)?)?{ZONE}(?:/.*)?"
"""Periods that begin with a month."""
OF_A_YEAR: Final = rf"{_Y}-(?:W{_DD}|D[0-9]{{3}}){ZONE}"
"""Weeks and days of the year, whose text does not show whether they begin with a month."""
UNDERSTOOD: Final = (
    rf"{_Y}(?:-A1|-[STQ][1-4]|-M?{_DD}|-W{_DD}|-D[0-9]{{3}})?{ZONE}"
    rf"|{_Y}-{_DD}-{_DD}(?:{ZONE}(?:/.*)?|T{_DD}:{_DD}:{_DD}.*)"
)
"""Periods whose beginning is known."""
_EPOCH_DAY: Final = EPOCH.toordinal()
_ELSE: Final = Constant(value=True)


def start_of_period(value: ComponentText) -> IntExpression:
    """Return the second in which the period of a column begins; unknown if the text is not understood."""
    day = _plus(_new_year(value), _until_month(value), _day(value), _of_a_year(value))
    clock = Case((
        (Matches(value, rf"{_Y}-{_DD}-{_DD}T.*"),
         _plus(
            _times(_part(value, rf".*T({_DD}):.*"), 3600),
            _times(_part(value, rf".*T{_DD}:({_DD}):.*"), 60),
            _part(value, rf".*T{_DD}:{_DD}:({_DD}).*"),
         )),
        (_ELSE, Number(0)),
    ))  # fmt: skip
    return Case(((Matches(value, UNDERSTOOD), _plus(_times(_minus(day, _EPOCH_DAY), DAY_S), clock)),))


def month_of_period(value: ComponentText) -> IntExpression:
    """Return the month in which a period begins, counted from year 0; unknown if it does not begin with a month."""
    number = _plus(_times(_year(value), 12), _minus(_month(value), 1))
    return Case(((Matches(value, MONTHLY), number),))


def _year(value: ComponentText) -> IntExpression:
    return _part(value, rf"({_Y}).*")


def _month(value: ComponentText) -> IntExpression:
    """Return the month that a period begins with, or lies in; the first month if none is written."""
    parts = [
        (
            Matches(value, rf"{_Y}-{letter}.*"),
            _minus(_times(_part(value, rf"{_Y}-{letter}([0-9]).*"), count), count - 1),
        )
        for letter, count in ((letter, MONTHS[letter]) for letter in "STQ")
    ]
    written = rf"{_Y}-M?({_DD}){_REST}"
    return Case(((Matches(value, written), _part(value, written)), *parts, (_ELSE, Number(1))))


def _day(value: ComponentText) -> IntExpression:
    """Return the day of the month; the first day if none is written."""
    written = rf"{_Y}-{_DD}-({_DD}){_REST}"
    return Case(((Matches(value, written), _part(value, written)), (_ELSE, Number(1))))


def _new_year(value: ComponentText) -> IntExpression:
    """Return the days from 0001-01-01 to the beginning of the year."""
    past = _minus(_year(value), 1)
    return _plus(_times(past, 365), _over(past, 4), _minus(_over(past, 400), _over(past, 100)))


def _until_month(value: ComponentText) -> IntExpression:
    """Return the number of days in the year before the month; see Dershowitz and Reingold, Calendrical Calculations."""
    month = _month(value)
    after_february = Case((
        (CompareInt(month, "<=", Number(2)), Number(0)),
        (Matches(value, rf"{LEAP_YEAR}-.*"), Number(1)),
        (_ELSE, Number(2)),
    ))  # fmt: skip
    return _minus(_over(_minus(_times(month, 367), 362), 12), after_february)


def _of_a_year(value: ComponentText) -> IntExpression:
    """Return the days from the beginning of the year to a day or week of the year."""
    # Week 1 begins up to three days before or after 1 January; 1 January of the year 1 is a Monday.
    first = _minus(Number(3), Arithmetic("%", _plus(_new_year(value), Number(3)), Number(7)))
    return Case((
        (Matches(value, rf"{_Y}-D.*"), _minus(_part(value, rf"{_Y}-D([0-9]{{3}}).*"), 1)),
        (Matches(value, rf"{_Y}-W.*"), _plus(_times(_minus(_part(value, rf"{_Y}-W({_DD}).*"), 1), 7), first)),
        (_ELSE, Number(0)),
    ))  # fmt: skip


def _has_53_weeks(year: int) -> bool:
    """Return whether a year begins or ends on a Thursday (ISO 8601)."""
    return _last_weekday(year) == 4 or _last_weekday(year - 1) == 3


def _last_weekday(year: int) -> int:
    """Return the weekday of the last day of a year: 4 is Thursday."""
    return (year + year // 4 - year // 100 + year // 400) % 7


def _long_years() -> str:
    """Return an expression for the years that have a week 53; the calendar repeats every 400 years."""
    found: list[str] = []
    for remainder in range(4):
        hundreds = "|".join(f"{hundred:02}" for hundred in range(remainder, 100, 4))
        rest = "|".join(f"{year:02}" for year in range(100) if _has_53_weeks(remainder * 100 + year))
        found.append(f"(?:{hundreds})(?:{rest})")
    return f"(?:{'|'.join(found)})"


_LONG_YEAR: Final = _long_years()


def not_in_calendar(value: ComponentText) -> Condition:
    """Return whether a period is week 53 in a year of 52 weeks (ISO 8601), or day 366 in a year of 365 days."""
    return some(
        *(
            And((Matches(value, rf"{_Y}-{last}{ZONE}"), Not(Matches(value, rf"{years}-{last}{ZONE}"))))
            for last, years in (("W53", _LONG_YEAR), ("D366", LEAP_YEAR))
        )
    )


def _part(value: ComponentText, expression: str) -> IntExpression:
    return IntOfText(RegexGroup(value, expression))


def _plus(*parts: IntExpression) -> IntExpression:
    total, *rest = parts
    for part in rest:
        total = Arithmetic("+", total, part)
    return total


def _minus(left: IntExpression, right: IntExpression | int) -> IntExpression:
    return Arithmetic("-", left, Number(right) if isinstance(right, int) else right)


def _times(left: IntExpression, right: int) -> IntExpression:
    return Arithmetic("*", left, Number(right))


def _over(left: IntExpression, right: int) -> IntExpression:
    return Arithmetic("//", left, Number(right))
