"""Weeks and days of every year against Python's calendar."""

from __future__ import annotations

from calendar import isleap
from datetime import date

from kafka_replica.rules.conditions import Value
from kafka_replica.rules.evaluation import evaluate
from kafka_replica.rules.periods import not_in_calendar

BROKEN = not_in_calendar(Value("P"))


def test_the_last_week_and_day_of_every_year() -> None:
    """Week 53 and day 366 are wrong in just the years that have none; weeks and days before them never are."""
    for year in range(1, 10_000):
        has_week = date(year, 12, 28).isocalendar().week == 53
        expected = {"W52": False, "W53": not has_week, "D365": False, "D366": not isleap(year)}
        told = {last: evaluate(BROKEN, {"P": f"{year:04}-{last}"}) for last in expected}
        assert told == expected, year
