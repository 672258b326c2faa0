"""Periods and the calendar days that ``timeFormat=normalized`` writes for them, for both engines.

Sources: SDMX-CSV field guide 2.1, the parameter's text (2014 collected at its end is 2014-12-31) and example 5 (2014-01
is 2014-01-01); SDMX 3.0 Section 6, "Reporting Time Period", for reporting years that begin on another day.
"""

from __future__ import annotations

from typing import NamedTuple

from kafka_replica.data.validation import Rules
from support.rules.structures_by_hand import (
    attribute,
    coded,
    codelist,
    dimension,
    measure,
    rules_of,
    structure,
    text,
    time,
    version_of,
)


class Day(NamedTuple):
    """A period, the first day of its reporting year, and the result by the moment of collection."""

    written: str | None
    year_begins: str | None
    start: str | None
    middle: str | None
    end: str | None


def _same(written: str | None) -> Day:
    return Day(written, None, written, written, written)


DAYS = (
    Day("2014", None, "2014-01-01", "2014-07-02", "2014-12-31"),
    Day("2014-01", None, "2014-01-01", "2014-01-16", "2014-01-31"),
    Day("2016-02", None, "2016-02-01", "2016-02-15", "2016-02-29"),
    Day("2014-12", None, "2014-12-01", "2014-12-16", "2014-12-31"),
    Day("2014-05-06", None, "2014-05-06", "2014-05-06", "2014-05-06"),
    Day("2014-A1", None, "2014-01-01", "2014-07-02", "2014-12-31"),
    Day("2014-S2", None, "2014-07-01", "2014-10-01", "2014-12-31"),
    Day("2014-T3", None, "2014-09-01", "2014-11-01", "2014-12-31"),
    Day("2014-Q4", None, "2014-10-01", "2014-11-16", "2014-12-31"),
    Day("2014-M02", None, "2014-02-01", "2014-02-15", "2014-02-28"),
    Day("2014-W01", None, "2013-12-30", "2014-01-02", "2014-01-05"),
    Day("2015-W53", None, "2015-12-28", "2015-12-31", "2016-01-03"),
    Day("2014-D365", None, "2014-12-31", "2014-12-31", "2014-12-31"),
    Day("0001", None, "0001-01-01", "0001-07-02", "0001-12-31"),
    Day("9998-Q4", None, "9998-10-01", "9998-11-16", "9998-12-31"),
    # A time zone stays after the day.
    Day("2014-01Z", None, "2014-01-01Z", "2014-01-16Z", "2014-01-31Z"),
    Day("2014-05:00", None, "2014-01-01-05:00", "2014-07-02-05:00", "2014-12-31-05:00"),
    Day("2014-Q1+01:00", None, "2014-01-01+01:00", "2014-02-15+01:00", "2014-03-31+01:00"),
    # Reporting years that begin on another day; Gregorian periods are not affected.
    Day("2014-Q1", "--07-01", "2014-07-01", "2014-08-16", "2014-09-30"),
    Day("2014-Q4", "--07-01", "2015-04-01", "2015-05-16", "2015-06-30"),
    Day("2014-A1", "--04-06", "2014-04-06", "2014-10-05", "2015-04-05"),
    Day("2014-M07", "--08-31", "2015-02-28", "2015-03-15", "2015-03-30"),
    Day("2014-D002", "--07-01", "2014-07-02", "2014-07-02", "2014-07-02"),
    # 2011-07-01 is a Friday, so that the year's first week begins on the Monday after it (the standard's own example).
    Day("2011-W36", "--07-01", "2012-03-05", "2012-03-08", "2012-03-11"),
    Day("2014-01", "--07-01", "2014-01-01", "2014-01-16", "2014-01-31"),
    Day("2014-Q1", "first of July", "2014-01-01", "2014-02-15", "2014-03-31"),
    # Values that already conform to ISO 8601, are not periods, or do not exist in the calendar.
    *map(_same, ("2014-05-06/P1M", "2014-W53", "2013-D366", "2014-13", "Spring", "~", "12014", None)),
)

MIXED = (
    Day("2014", None, "2014-01-01T00:00:00", "2014-07-02T12:00:00", "2014-12-31T23:59:59"),
    Day("2016", None, "2016-01-01T00:00:00", "2016-07-02T00:00:00", "2016-12-31T23:59:59"),
    Day("2014-05-06Z", None, "2014-05-06T00:00:00Z", "2014-05-06T12:00:00Z", "2014-05-06T23:59:59Z"),
    _same("2014-05-06T07:08:09"),
)
"""Values with a date-time among them: all get times."""


def time_rules() -> Rules:
    """Rules of a structure with a start of reporting years."""
    return rules_of(
        version_of(
            codelist("CL", ["A", "B"]),
            structure(
                dimension("DIM_1", coded("CL")), time(), measure(),
                attribute("REPORTING_YEAR_START_DAY", text("MonthDay")),
            ),
        )
    )  # fmt: skip


def rows_of_days(days: tuple[Day, ...]) -> list[dict[str, str | None]]:
    """Return a row for each, in the order of OBS_VALUE."""
    return [
        {"DIM_1": "A", "TIME_PERIOD": day.written, "REPORTING_YEAR_START_DAY": day.year_begins, "OBS_VALUE": f"{at:03}"}
        for at, day in enumerate(days)
    ]
