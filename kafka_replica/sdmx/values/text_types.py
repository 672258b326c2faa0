"""The syntax of values of each text type, as expressions that Java and Rust interpret alike, without anchors.

Source: SDMXCommon.xsd and SDMX 2.1/3.0 Section 6, "Time formats" and "Representation data types"; the types that
begin with ``xs:`` there are those of XML Schema Part 2. Digits are ASCII, as in XML Schema's numbers. There is no
look-around, which Rust lacks; if a type needs it, a second expression must match as well (:data:`ALSO`).
"""

from __future__ import annotations

from typing import Final

ZONE: Final = r"(?:Z|[+-](?:14:00|(?:0[0-9]|1[0-3]):[0-5][0-9]))?"
_YEAR = r"-?(?:[1-9][0-9]{3,}|0(?:[1-9][0-9]{2}|0[1-9][0-9]|00[1-9]))"
_LEAP_REST = r"(?:0[48]|[2468][048]|[13579][26])"
_LEAP_HUNDRED = r"(?:0[48]|[2468][048]|[13579][26])"
# Four digits, or more that do not begin with 0; the year 0000 is not a year in XML Schema 1.0.
LEAP_YEAR: Final = (
    rf"(?:[0-9]{{2}}{_LEAP_REST}|{_LEAP_HUNDRED}00"
    rf"|[1-9][0-9]*(?:[0-9]{{2}}{_LEAP_REST}|(?:00|{_LEAP_HUNDRED})00))"
)
_YEAR_MONTH = rf"{_YEAR}-(?:0[1-9]|1[0-2])"
_MONTH_DAY = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)"
    r"|02-(?:0[1-9]|1[0-9]|2[0-8]))"
)
_DATE = rf"(?:{_YEAR}-{_MONTH_DAY}|-?{LEAP_YEAR}-02-29)"
_CLOCK = r"(?:(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]+)?|24:00:00(?:\.0+)?)"
_TIMES = r"(?:[0-9]+H(?:[0-9]+M)?(?:[0-9]+(?:\.[0-9]+)?S)?|[0-9]+M(?:[0-9]+(?:\.[0-9]+)?S)?|[0-9]+(?:\.[0-9]+)?S)"
_DAYS = r"(?:[0-9]+Y(?:[0-9]+M)?(?:[0-9]+D)?|[0-9]+M(?:[0-9]+D)?|[0-9]+D)"
_DURATION = rf"P(?:{_DAYS}(?:T{_TIMES})?|T{_TIMES})"  # no weeks in XML Schema
DATE_TIME: Final = rf"{_DATE}T{_CLOCK}{ZONE}"
GREGORIAN_YEAR: Final = f"{_YEAR}{ZONE}"
GREGORIAN_MONTH: Final = f"{_YEAR_MONTH}{ZONE}"
GREGORIAN_DAY: Final = f"{_DATE}{ZONE}"
_GREGORIAN = rf"(?:{_YEAR}|{_YEAR_MONTH}|{_DATE}){ZONE}"
_BASIC = rf"(?:{_GREGORIAN}|{DATE_TIME})"
_DAY_OF_YEAR = r"(?:00[1-9]|0[1-9][0-9]|[12][0-9]{2}|3[0-5][0-9]|36[0-6])"
PERIODS: Final = {
    "ReportingYear": "A1",
    "ReportingSemester": "S[12]",
    "ReportingTrimester": "T[1-3]",
    "ReportingQuarter": "Q[1-4]",
    "ReportingMonth": "M(?:0[1-9]|1[0-2])",
    "ReportingWeek": r"W(?:0[1-9]|[1-4][0-9]|5[0-3])",
    "ReportingDay": f"D{_DAY_OF_YEAR}",
}
"""The text after the year and a dash in a reporting period, by text type."""
_REPORTING = rf"[0-9]{{4}}-(?:{'|'.join(PERIODS.values())}){ZONE}"
_STANDARD = rf"(?:{_BASIC}|{_REPORTING})"
TIME_RANGE: Final = rf"{_DATE}(?:T{_CLOCK})?{ZONE}/{_DURATION}"

TIME_TYPES: Final = {
    "ObservationalTimePeriod": rf"(?:{_STANDARD}|{TIME_RANGE})",
    "StandardTimePeriod": _STANDARD,
    "BasicTimePeriod": _BASIC,
    "GregorianTimePeriod": _GREGORIAN,
    "GregorianYear": GREGORIAN_YEAR,
    "GregorianYearMonth": GREGORIAN_MONTH,
    "GregorianDay": GREGORIAN_DAY,
    "ReportingTimePeriod": _REPORTING,
    **{name: rf"[0-9]{{4}}-{period}{ZONE}" for name, period in PERIODS.items()},
    "DateTime": DATE_TIME,
    "TimeRange": TIME_RANGE,
}
"""The types whose values are periods of time, by their names in the standard."""

_INTEGER = r"[+-]?[0-9]+"
DECIMAL: Final = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)"
_DOUBLE = rf"(?:{DECIMAL}(?:[eE][+-]?[0-9]+)?|-?INF|NaN)"
FINITE: Final = rf"{DECIMAL}(?:[eE][+-]?[0-9]+)?"
"""Any finite number."""

NUMBER_TYPES: Final = {
    "BigInteger": _INTEGER,
    "Integer": _INTEGER,
    "Long": _INTEGER,
    "Short": _INTEGER,
    "Count": _INTEGER,
    "Decimal": DECIMAL,
    "InclusiveValueRange": DECIMAL,
    "ExclusiveValueRange": DECIMAL,
    "Incremental": DECIMAL,
    "Float": _DOUBLE,
    "Double": _DOUBLE,
}
"""The types whose values are numbers. Double is XML Schema's: ``1d``, ``0x1p3`` and ``Infinity`` are not allowed."""

FLOATING: Final = frozenset({"Float", "Double"})
"""The types that use NaN for an intentionally missing value."""

NOT_A_NUMBER: Final = "NaN"
"""The text for an intentionally missing floating-point number."""
NOT_AVAILABLE: Final = "#N/A"
"""The text for any other intentionally missing value (SDMX 3.x)."""

SIZES: Final = {"Short": 15, "Integer": 31, "Long": 63}
"""The bounded integer types, and the power of two that bounds them."""

OTHER_TYPES: Final = {
    "Alpha": "[A-Za-z]+",
    "AlphaNumeric": "[A-Za-z0-9]+",
    "Numeric": "[0-9]+",
    "Boolean": "true|false|1|0",
    "Month": rf"--(?:0[1-9]|1[0-2]){ZONE}",
    "MonthDay": rf"--(?:{_MONTH_DAY}|02-29){ZONE}",
    "Day": rf"---(?:0[1-9]|[12][0-9]|3[01]){ZONE}",
    "Time": f"{_CLOCK}{ZONE}",
    "Duration": f"-?{_DURATION}",
    "IdentifiableReference": r"urn:sdmx:org\.sdmx\.infomodel\.[a-z]+\.[A-Za-z]+=[A-Za-z0-9_\-.]+:[A-Za-z0-9_@$\-]+"
    r"\([0-9A-Za-z.+*\-]+\)(?:\.[A-Za-z0-9_@$\-]+)*",
}
"""The other types that restrict the syntax of a value."""

FREE_TYPES: Final = frozenset({"String", "URI"})
"""The types that any text matches: xs:anyURI forbids nothing that is cheap to detect."""

WRITTEN: Final = {**TIME_TYPES, **NUMBER_TYPES, **OTHER_TYPES}
"""Every text type that is checked, with its expression."""


def anchored(expression: str) -> str:
    """Return the expression anchored to the whole value; ``$`` would allow a trailing line end."""
    return rf"\A(?:{expression})\z"
