"""Convert periods to calendar days, for ``timeFormat=normalized`` of SDMX-CSV.

Source: SDMX-CSV field guides 1.0, 2.0 and 2.1, "Optional parameters" and example 5; for reporting years that do not
begin on 1 January: SDMX 2.1/3.0 Section 6, "Reporting Time Period".
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Final, Literal, NamedTuple, TypeAlias

from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx.values.text_types import DATE_TIME, OTHER_TYPES, TIME_TYPES, ZONE, anchored

TimeFormat: TypeAlias = Literal["original", "normalized"]
"""Periods as they are recorded, or as calendar days."""
Collected: TypeAlias = Literal["start", "middle", "end"]
"""The point in its period at which a value was collected."""

START_DAY: Final = "REPORTING_YEAR_START_DAY"
IS_TIMED: Final = anchored(DATE_TIME)
"""The expression for periods with a time of day."""
_STANDARD: Final = re.compile(f"(?:{TIME_TYPES['StandardTimePeriod']})", re.ASCII)
_PARTS: Final = re.compile(rf"([0-9]{{4}})(|-[0-9]{{2}}|-[0-9]{{2}}-[0-9]{{2}}|-[ASTQMWD][0-9]+)({ZONE})", re.ASCII)
_MONTH_DAY: Final = re.compile(f"(?:{OTHER_TYPES['MonthDay']})", re.ASCII)
_MONTHS: Final = {"A": 12, "S": 6, "T": 4, "Q": 3, "M": 1}
_DAY: Final = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class NormalizationSettings:
    """The columns and settings for normalizing periods.

    Attributes:
        time: the time dimension.
        start_day: the component with the first day of reporting years; None if the rows have none.
        collected: the point that represents a period.
    """

    time: str
    start_day: str | None
    collected: Collected

    def days(self, periods: Iterable[tuple[str, str | None]], *, timed: bool) -> dict[tuple[str, str | None], str]:
        """Return the normalized text of each period; periods that stay unchanged are left out.

        Date-times and time ranges stay unchanged, because they are in ISO 8601 already; so do texts that are not
        calendar periods.

        Args:
            periods: each period with the first day of its reporting year, or None.
            timed: whether to write times of day; they are needed if any row has a time of day.
        """
        found = {period: day_of_period(period[0], period[1], self.collected, timed=timed) for period in periods}
        return {one: day for one, day in found.items() if day is not None}


class _Span(NamedTuple):
    """The first and the last day of a period."""

    first: date
    last: date


def normalization_for(rules: Rules, columns: Iterable[str], collected: Collected) -> NormalizationSettings | None:
    """Return the settings for normalizing rows; None if they have no periods.

    Args:
        rules: the rules of the rows' artefact.
        columns: the columns of the frame.
        collected: the point that represents a period.
    """
    given = set(columns)
    time = next((column.id for column in rules.columns if column.is_time and column.id in given), None)
    return None if time is None else NormalizationSettings(time, START_DAY if START_DAY in given else None, collected)


def day_of_period(period: str, year_begins: str | None, collected: Collected, *, timed: bool) -> str | None:
    """Return the day, or with ``timed`` the second, that represents a period; None if the period stays unchanged.

    Args:
        period: the period as recorded.
        year_begins: the first day of reporting years, such as ``--07-01``; None means 1 January.
        collected: the point that represents the period.
        timed: whether to write the time of day.
    """
    parts = _PARTS.fullmatch(period)
    if parts is None or not _STANDARD.fullmatch(period):
        return None
    begins = (1, 1)
    if year_begins is not None and _MONTH_DAY.fullmatch(year_begins):
        begins = int(year_begins[2:4]), int(year_begins[5:7])
    try:
        span = _span(int(parts[1]), parts[2].removeprefix("-"), begins)
    except (ValueError, OverflowError):
        return None
    days = (span.last - span.first).days + 1
    shown = {"start": span.first, "middle": span.first + days // 2 * _DAY, "end": span.last}[collected]
    clock = {"start": "T00:00:00", "middle": "T12:00:00" if days % 2 else "T00:00:00", "end": "T23:59:59"}[collected]
    return f"{shown.isoformat()}{clock if timed else ''}{parts[3]}"


def _span(year: int, rest: str, begins: tuple[int, int]) -> _Span:
    """Return the first and last day of a period; raise ValueError if it is not in the calendar."""
    if not rest:
        return _Span(date(year, 1, 1), date(year, 12, 31))
    if rest[0].isdigit():
        month, _, day = rest.partition("-")
        if day:
            return _Span(date(year, int(month), int(day)), date(year, int(month), int(day)))
        return _Span(date(year, int(month), 1), date(year, int(month), monthrange(year, int(month))[1]))
    return _reported(year, rest[0], int(rest[1:]), begins)


def _reported(year: int, letter: str, number: int, begins: tuple[int, int]) -> _Span:
    if letter in _MONTHS:
        after = number * _MONTHS[letter]
        return _Span(_later(year, begins, after - _MONTHS[letter]), _later(year, begins, after) - _DAY)
    base = _later(year, begins, 0)
    if letter == "D":
        day = base + (number - 1) * _DAY
        if day >= _later(year, begins, 12):
            raise ValueError(number)
        return _Span(day, day)
    monday = _first_monday(base) + (number - 1) * 7 * _DAY
    if number > 52 and monday >= _first_monday(_later(year, begins, 12)):
        raise ValueError(number)
    return _Span(monday, monday + 6 * _DAY)


def _later(year: int, begins: tuple[int, int], months: int) -> date:
    """Return the day ``months`` months after the reporting year began; the last of the month if that is shorter."""
    years, month = divmod(begins[0] - 1 + months, 12)
    return date(year + years, month + 1, min(begins[1], monthrange(year + years, month + 1)[1]))


def _first_monday(base: date) -> date:
    """Return the Monday of week 1 of a reporting year that begins on ``base``.

    Most days of week 1 are in the year: it is the week of ``base``, or the next if ``base`` is a Friday or later.
    """
    near = base + 3 * _DAY
    return near - near.weekday() * _DAY
