"""Check that a period has the format that the frequency of its row requires.

Source: SDMX 2.1 Section 6, "Time format" and the mapping of frequencies to reporting periods; the SDMX cross-domain
codelist CL_FREQ 2.1, whose codes may be followed by a multiple (``A5``, ``M_2``). There, H means hourly; it meant
half-yearly before: both are accepted. A time range fits any frequency, because its duration is arbitrary.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from kafka_replica.data.validation.components import DescribedComponent
from kafka_replica.data.validation.conditions import ComponentText, Condition, Matches, Not, every, some
from kafka_replica.sdmx.values.text_types import (
    DATE_TIME,
    GREGORIAN_DAY,
    GREGORIAN_MONTH,
    GREGORIAN_YEAR,
    PERIODS,
    TIME_RANGE,
    TIME_TYPES,
    ZONE,
)


def _reporting(name: str) -> str:
    return rf"[0-9]{{4}}-{PERIODS[name]}{ZONE}"


_YEARLY = f"{GREGORIAN_YEAR}|{_reporting('ReportingYear')}"
_DAILY = f"{GREGORIAN_DAY}|{_reporting('ReportingDay')}"
WRITTEN: Final = {
    "A": _YEARLY,
    "S": _reporting("ReportingSemester"),
    "T": _reporting("ReportingTrimester"),
    "Q": _reporting("ReportingQuarter"),
    "M": f"{GREGORIAN_MONTH}|{_reporting('ReportingMonth')}",
    "W": _reporting("ReportingWeek"),
    "D": _DAILY,
    "B": _DAILY,
    "H": f"{DATE_TIME}|{_reporting('ReportingSemester')}",
    "I": DATE_TIME,
    "N": DATE_TIME,
}
"""The expressions for periods of a frequency, by the first letter of its code."""


class FrequencyCheck(NamedTuple):
    """The frequency check, or the data that it needs."""

    component: str
    broken: Condition
    message: str


def frequency_check(components: Sequence[DescribedComponent]) -> FrequencyCheck | None:
    """Return the check of the time dimension against the frequency dimension; None if either does not exist."""
    time = next((component.column for component in components if component.column.is_time), None)
    freq = next((component for component in components if component.column.is_frequency), None)
    if time is None or freq is None:
        return None
    value, code = ComponentText(time.id), ComponentText(freq.column.id)
    broken = [
        every(Matches(code, f"{letter}_?[0-9]*"), Not(Matches(value, expression)))
        for letter, expression in WRITTEN.items()
        if freq.column.enumeration is None or any(each.startswith(letter) for each in freq.column.values)
    ]
    # A text that is not a period violates another rule.
    type_ = time.text_type if time.text_type in TIME_TYPES else "ObservationalTimePeriod"
    is_period = Matches(value, TIME_TYPES[type_])
    return FrequencyCheck(
        time.id,
        every(some(*broken), is_period, Not(Matches(value, TIME_RANGE))),
        f"is not a period of the frequency in {freq.column.id}",
    )
