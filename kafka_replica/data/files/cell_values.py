"""The values that the cells of a workbook (.xlsx) show, as text.

Source: ECMA-376 Part 1, 18.8.30 "numFmt", 18.17.4 "Dates and Times".
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from decimal import Decimal
from math import inf, isinf
from typing import Final

from kafka_replica.sdmx.formats.xlsx.reading.package import Package
from kafka_replica.sdmx.formats.xlsx.reading.worksheet import Cell

_DATE_FORMATS: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""The numbers of the built-in formats for dates and times."""
_NO_DATE: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
"""Texts, colours and conditions in a number format, which may contain the letters of dates."""
_DATE_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
_WHOLE: Final = re.compile(r"-?[0-9]+")
_NUMBER: Final = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[Ee][+-]?[0-9]+)?")
_SECONDS: Final = 86_400
_FIRST_DAY: Final = (datetime(1899, 12, 30), datetime(1904, 1, 1))  # noqa: DTZ001 - workbooks have no time zones
_NO_DAY: Final = 60
"""The serial number of 1900-02-29, a day that does not exist; smaller numbers count from one day later."""


class CellValues:
    """Converts cells to text. A workbook stores dates as numbers, which only the format of the cell distinguishes."""

    def __init__(self, package: Package) -> None:
        self._is_since_1904 = package.has_dates_since_1904()
        custom: dict[str, str] = {}
        self._is_date: list[bool] = []
        for element in package.elements("xl/styles.xml", "numFmt", "cellXfs"):
            if element.tag.endswith("numFmt"):
                custom[element.get("numFmtId", "")] = element.get("formatCode", "")
            else:
                self._is_date = [_is_date(xf.get("numFmtId", "0"), custom) for xf in element.iterchildren("{*}xf")]

    def text(self, cell: Cell) -> str:
        """Return the text of a cell. Raises ValueError if it has no value, or one that cannot be represented."""
        if cell.problem:
            raise ValueError(cell.problem)
        if not cell.is_number:
            return cell.text
        number = float(cell.text) if _NUMBER.fullmatch(cell.text) else inf
        if isinf(number):  # or too large for a workbook
            raise ValueError(f"{cell.text[:40]!r} is not a number")
        if cell.style < len(self._is_date) and self._is_date[cell.style]:
            return self._date(number)
        return cell.text if _WHOLE.fullmatch(cell.text) else format(Decimal(repr(number)), "f").removesuffix(".0")

    def _date(self, number: float) -> str:
        """Return a day or a moment. A number before the first day is a time of day only."""
        has_1900 = not self._is_since_1904
        try:
            seconds = round(number * _SECONDS)
            day = seconds // _SECONDS
            moment = _FIRST_DAY[self._is_since_1904] + timedelta(days=has_1900 and day < _NO_DAY, seconds=seconds)
        except OverflowError:  # after the year 9999
            raise ValueError(f"{number!r} is not a date") from None
        if number < 0 or (has_1900 and day == _NO_DAY):
            raise ValueError(f"{number!r} is not a date")
        if has_1900 and day == 0:
            return moment.time().isoformat()
        return moment.date().isoformat() if number.is_integer() else moment.isoformat()


def _is_date(number: str, custom: dict[str, str]) -> bool:
    if number in custom:
        return bool(_DATE_LETTERS.search(_NO_DATE.sub("", custom[number])))
    return number.isdecimal() and int(number) in _DATE_FORMATS
