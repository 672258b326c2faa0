"""Periods as expression nodes, compared with Python's calendar and with periods as numbers."""

from __future__ import annotations

from calendar import isleap
from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.data.validation.conditions import CompareInt, ComponentText, Not, Number, size_of
from kafka_replica.data.validation.evaluation import evaluate_condition
from kafka_replica.data.validation.periods import month_of_period, not_in_calendar, start_of_period
from kafka_replica.sdmx.values.periods import period
from support.effort import examples

P = ComponentText("P")
ZONES = st.sampled_from(["", "Z", "+02:00", "-14:00"])
YEARS = st.sampled_from([1, 4, 100, 400, 1900, 2000, 2024, 2100, 9999]) | st.integers(1, 9999)
DATES = st.dates() | YEARS.flatmap(lambda year: st.sampled_from([date(year, 1, 1), date(year, 12, 31)]))
WHOLE = st.sampled_from(
    ["", "-A1", *(f"-{letter}{at}" for letter, n in (("S", 2), ("T", 3), ("Q", 4)) for at in range(1, n + 1))]
)
MONTHS = st.builds("-{}{:02}".format, st.sampled_from(["", "M"]), st.integers(1, 12))
MONTHLY = st.builds("{:04}{}".format, YEARS, WHOLE | MONTHS)
CLOCKS = st.times().map(lambda time: f"T{time.isoformat()}")
PARTS = st.builds("-W{:02}".format, st.integers(1, 52)) | st.builds("-D{:03}".format, st.integers(1, 365))
OTHERS = (
    st.builds("{:04}{}".format, YEARS, PARTS)
    | DATES.map(str)
    | st.builds("{}{}".format, DATES, CLOCKS)
    | st.builds("{0}{1}/P1Y".format, DATES, CLOCKS | st.just(""))
)
BROKEN = not_in_calendar(P)


@pytest.mark.thorough
@settings(max_examples=examples(1000), deadline=None)
@given(st.builds("{}{}".format, MONTHLY | OTHERS, ZONES))
def test_engines_agree_on_the_start_of_a_period(text: str) -> None:
    """Nodes and numbers agree on the second in which a period begins, also for periods written with a duration."""
    text = f"{text[: text.index('/')]}/P1Y" if "/" in text else text
    known = period(text.split("/")[0])
    assert known is not None
    row = {"P": text}
    assert evaluate_condition(CompareInt(start_of_period(P), "=", Number(known.start_s)), row) is True
    assert evaluate_condition(Not(CompareInt(start_of_period(P), "=", Number(known.start_s + 1))), row) is True


@pytest.mark.thorough
@settings(max_examples=examples(500), deadline=None)
@given(st.builds("{}{}".format, MONTHLY, ZONES))
def test_the_month_in_which_a_period_begins(text: str) -> None:
    """The month in which a period begins has the same first second as the period."""
    known = period(text)
    assert known is not None
    found = [
        month
        for month in range(1, 13)
        if period(f"{text[:4]}-{month:02}").start_s == known.start_s  # type: ignore[union-attr]
    ]
    assert (
        evaluate_condition(CompareInt(month_of_period(P), "=", Number(int(text[:4]) * 12 + found[0] - 1)), {"P": text})
        is True
    )


def test_the_start_of_an_invalid_period_is_unknown() -> None:
    """The start of an invalid period is unknown, and so is the month of a period that begins within a month."""
    for text in ("", "x", "2020-", "2020-1", "2020-W1", "2020-Q5", "2020-01-1", "12020", "2020-01-01T10", "2020-S"):
        assert evaluate_condition(CompareInt(start_of_period(P), ">", Number(-(10**15))), {"P": text}) is None, text
    for text in ("2020-W01", "2020-D002", "2020-01-02", "2020-01-01T00:00:01"):
        assert evaluate_condition(CompareInt(month_of_period(P), ">", Number(0)), {"P": text}) is None, text


def test_bounds_that_are_no_periods() -> None:
    """A bound that is not a period has no start, instead of one in the following year."""
    for text in ("2010-13", "2010-Q5", "2010-S3", "2010-T4", "2010-A2", "2010-W54", "2010-D366", "2010-01-01T25:00:00"):
        assert period(text) is None, text


@pytest.mark.thorough
def test_the_last_week_and_day_of_every_year() -> None:
    """Week 53 and day 366 are wrong in exactly the years without them; earlier weeks and days never are."""
    for year in range(1, 10_000):
        has_week = date(year, 12, 28).isocalendar().week == 53
        expected = {"W52": False, "W53": not has_week, "D365": False, "D366": not isleap(year)}
        results = {last: evaluate_condition(BROKEN, {"P": f"{year:04}-{last}"}) for last in expected}
        assert results == expected, year


def test_conditions_about_periods_stay_short() -> None:
    """Conditions about periods stay short: Spark makes each a single method, and Java does not compile long methods."""
    assert size_of(CompareInt(start_of_period(P), "<", Number(0))) < 250
