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
    Extracted,
    Matches,
    Not,
    Number,
    Value,
    Whole,
    Whole_,
    some,
)
from kafka_replica.rules.texts import LEAP_YEAR, ZONE

DAY_S: Final = 86_400
_MONTHS: Final = {"A": 12, "S": 6, "T": 4, "Q": 3, "M": 1}
_EPOCH: Final = date(1970, 1, 1)


class Period(NamedTuple):
    """A period: from its first second to the one after its last."""

    start_s: int
    end_s: int


def period(text: str) -> Period | None:
    """The period a text writes; None if it writes none, or one that is not understood."""
    found = re.fullmatch(r"(\d{4})(.*?)(?:Z|[+-]\d\d:\d\d)?", text.strip(), re.ASCII)
    if found is None:
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
        start = _seconds(date(year, 1, 1) + timedelta(days=int(found[1]) - 1))
        return Period(start, start + DAY_S)
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
    return _seconds(date(year + (month - 1) // 12, (month - 1) % 12 + 1, 1))


def _seconds(day: date) -> int:
    return (day - _EPOCH).days * DAY_S


# From here on: nodes.

_Y: Final = r"[0-9]{4}"
MONTHLY: Final = rf"{_Y}(?:-A1|-M?[0-9]{{2}}(?:-01(?:T00:00:00)?)?|-[STQ][1-4])?{ZONE}"
"""Periods that may begin with a month."""


def start_of(value: Value) -> Whole_:
    """The second in which the period of a column begins; unknown for what is none, or is not understood."""
    year = _part(value, rf"({_Y}).*")
    month = _part(value, rf"{_Y}-M?([0-9]{{2}}).*")
    day = _part(value, rf"{_Y}-[0-9]{{2}}-([0-9]{{2}}).*")
    clock = _plus(
        _times(_part(value, r".*T([0-9]{2}):.*"), 3600),
        _times(_part(value, r".*T[0-9]{2}:([0-9]{2}):.*"), 60),
        _part(value, r".*T[0-9]{2}:[0-9]{2}:([0-9]{2}).*"),
    )
    days = _civil(year, month, day)
    cases: list[tuple[Condition, Whole_]] = [
        (Matches(value, rf"{_Y}-[0-9]{{2}}-[0-9]{{2}}T[0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}}.*"),
         _plus(_times(days, DAY_S), clock)),
        (Matches(value, rf"{_Y}-[0-9]{{2}}-[0-9]{{2}}{ZONE}(?:/.*)?"), _times(days, DAY_S)),
        (Matches(value, rf"{_Y}-M?[0-9]{{2}}{ZONE}"), _times(_civil(year, month, Number(1)), DAY_S)),
        (Matches(value, rf"{_Y}(?:-A1)?{ZONE}"), _times(_civil(year, Number(1), Number(1)), DAY_S)),
    ]  # fmt: skip
    for letter, count in (("S", 6), ("T", 4), ("Q", 3)):
        number = _part(value, rf"{_Y}-{letter}([0-9]).*")
        first = _plus(_times(_minus(number, 1), count), Number(1))
        cases.append((Matches(value, rf"{_Y}-{letter}[1-4]{ZONE}"), _times(_civil(year, first, Number(1)), DAY_S)))
    ordinal = _part(value, rf"{_Y}-D([0-9]{{3}}).*")
    new_year = _civil(year, Number(1), Number(1))
    cases.append((Matches(value, rf"{_Y}-D[0-9]{{3}}{ZONE}"), _times(_plus(new_year, _minus(ordinal, 1)), DAY_S)))
    week = _part(value, rf"{_Y}-W([0-9]{{2}}).*")
    monday = _plus(_first_monday(year), _times(_minus(week, 1), 7))
    cases.append((Matches(value, rf"{_Y}-W[0-9]{{2}}{ZONE}"), _times(monday, DAY_S)))
    return Chosen(tuple(cases))


def month_of(value: Value) -> Whole_:
    """The month in which a period begins, counted from year 0; unknown where it does not begin with a month."""
    year = _part(value, rf"({_Y}).*")
    cases: list[tuple[Condition, Whole_]] = [
        (Matches(value, rf"{_Y}-M?[0-9]{{2}}(?:-01(?:T00:00:00)?)?{ZONE}"),
         _plus(_times(year, 12), _minus(_part(value, rf"{_Y}-M?([0-9]{{2}}).*"), 1))),
        (Matches(value, rf"{_Y}(?:-A1)?{ZONE}"), _times(year, 12)),
    ]  # fmt: skip
    for letter, count in (("S", 6), ("T", 4), ("Q", 3)):
        number = _part(value, rf"{_Y}-{letter}([0-9]).*")
        cases.append(
            (Matches(value, rf"{_Y}-{letter}[1-4]{ZONE}"), _plus(_times(year, 12), _times(_minus(number, 1), count)))
        )
    return Chosen(tuple(cases))


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


def _civil(year: Whole_, month: Whole_, day: Whole_) -> Whole_:
    """Days from 1970-01-01, after Howard Hinnant's days_from_civil; years from 1 on."""
    shifted = Chosen(((Compared(month, "<=", Number(2)), _minus(year, 1)), (_always(month), year)))
    turned = Arithmetic("%", _plus(month, Number(9)), Number(12))
    in_year = _minus(_plus(_over(_plus(_times(turned, 153), Number(2)), 5), day), 1)
    until_year = _plus(_times(shifted, 365), _over(shifted, 4), _minus(_over(shifted, 400), _over(shifted, 100)))
    return _minus(_plus(until_year, in_year), 719_468)


def _first_monday(year: Whole_) -> Whole_:
    """The day on which week 1 begins: the Monday on or before 4 January."""
    fourth = _civil(year, Number(1), Number(4))
    # 719,470 makes it positive, and 0 a Monday.
    return _minus(fourth, Arithmetic("%", _plus(fourth, Number(719_470)), Number(7)))


def _always(of: Whole_) -> Condition:
    return Compared(of, ">", Number(2))


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
