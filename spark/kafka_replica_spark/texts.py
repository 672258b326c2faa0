"""How values of each text type are written, as regular expressions of Java without anchors.

Source: SDMXCommon.xsd and SDMX 2.1/3.0 Section 6, "Time formats" and "Representation data types"; the types that
begin with ``xs:`` there are those of XML Schema Part 2. Digits are ASCII, as in XML Schema's numbers.
"""

from __future__ import annotations

from typing import Final

_ZONE = r"(?:Z|[+-](?:14:00|(?:0\d|1[0-3]):[0-5]\d))?"
_YEAR = r"-?(?:[1-9]\d{3,}|0(?!000)\d{3})"
_LEAP = r"(?:\d\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)"
_YEAR_MONTH = rf"{_YEAR}-(?:0[1-9]|1[0-2])"
_MONTH_DAY = (
    r"(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])"
    r"|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    r"|02-(?:0[1-9]|1\d|2[0-8]))"
)
_DATE = rf"(?:{_YEAR}-{_MONTH_DAY}|(?={_YEAR}-)-?\d*{_LEAP}-02-29)"
_CLOCK = r"(?:(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?|24:00:00(?:\.0+)?)"
_DURATION = (
    r"P(?=[\dT])(?:\d+Y)?(?:\d+M)?(?:\d+D)?(?:T(?=\d)(?:\d+H)?(?:\d+M)?(?:\d+(?:\.\d+)?S)?)?"  # no weeks in XML Schema
)
_DATE_TIME = rf"{_DATE}T{_CLOCK}{_ZONE}"
_GREGORIAN = rf"(?:{_YEAR}|{_YEAR_MONTH}|{_DATE}){_ZONE}"
_BASIC = rf"(?:{_GREGORIAN}|{_DATE_TIME})"
_DAY_OF_YEAR = r"(?:00[1-9]|0[1-9]\d|[12]\d\d|3[0-5]\d|36[0-6])"
_PERIODS = {
    "ReportingYear": "A1",
    "ReportingSemester": "S[12]",
    "ReportingTrimester": "T[1-3]",
    "ReportingQuarter": "Q[1-4]",
    "ReportingMonth": "M(?:0[1-9]|1[0-2])",
    "ReportingWeek": r"W(?:0[1-9]|[1-4]\d|5[0-3])",
    "ReportingDay": f"D{_DAY_OF_YEAR}",
}
_REPORTING = rf"\d{{4}}-(?:{'|'.join(_PERIODS.values())}){_ZONE}"
_STANDARD = rf"(?:{_BASIC}|{_REPORTING})"
_RANGE = rf"{_DATE}(?:T{_CLOCK})?{_ZONE}/{_DURATION}"

TIME_TYPES: Final = {
    "ObservationalTimePeriod": rf"(?:{_STANDARD}|{_RANGE})",
    "StandardTimePeriod": _STANDARD,
    "BasicTimePeriod": _BASIC,
    "GregorianTimePeriod": _GREGORIAN,
    "GregorianYear": f"{_YEAR}{_ZONE}",
    "GregorianYearMonth": f"{_YEAR_MONTH}{_ZONE}",
    "GregorianDay": f"{_DATE}{_ZONE}",
    "ReportingTimePeriod": _REPORTING,
    **{name: rf"\d{{4}}-{period}{_ZONE}" for name, period in _PERIODS.items()},
    "DateTime": _DATE_TIME,
    "TimeRange": _RANGE,
}
"""The types whose values are periods of time, by their names in the standard."""

_INTEGER = r"[+-]?\d+"
_DECIMAL = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)"
_DOUBLE = rf"(?:{_DECIMAL}(?:[eE][+-]?\d+)?|-?INF|NaN)"

NUMBER_TYPES: Final = {
    "BigInteger": _INTEGER,
    "Integer": _INTEGER,
    "Long": _INTEGER,
    "Short": _INTEGER,
    "Count": _INTEGER,
    "Decimal": _DECIMAL,
    "InclusiveValueRange": _DECIMAL,
    "ExclusiveValueRange": _DECIMAL,
    "Incremental": _DECIMAL,
    "Float": _DOUBLE,
    "Double": _DOUBLE,
}
"""The types whose values are numbers. Double is XML Schema's: ``1d``, ``0x1p3`` and ``Infinity`` are none."""

BOUNDED: Final = {"Short": "smallint", "Integer": "int", "Long": "bigint"}
"""The types of Spark that hold just the values of a bounded integer type."""

OTHER_TYPES: Final = {
    "Alpha": "[A-Za-z]+",
    "AlphaNumeric": "[A-Za-z0-9]+",
    "Numeric": "[0-9]+",
    "Boolean": "true|false|1|0",
    "Month": rf"--(?:0[1-9]|1[0-2]){_ZONE}",
    "MonthDay": rf"--(?:{_MONTH_DAY}|02-29){_ZONE}",
    "Day": rf"---(?:0[1-9]|[12]\d|3[01]){_ZONE}",
    "Time": f"{_CLOCK}{_ZONE}",
    "Duration": f"-?{_DURATION}",
}
"""The other types that restrict how a value is written."""

FREE_TYPES: Final = frozenset({"String", "URI"})
"""The types any text fits: xs:anyURI forbids nothing that can be told cheaply."""

WRITTEN: Final = {**TIME_TYPES, **NUMBER_TYPES, **OTHER_TYPES}
"""Every text type that is checked, with its expression."""


def anchored(expression: str) -> str:
    """The expression for the whole value; ``$`` would let a line end follow."""
    return rf"\A(?:{expression})\z"
