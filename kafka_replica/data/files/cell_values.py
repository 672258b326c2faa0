"""The values that the cells of a workbook (.xlsx) show, as text.

Source: ECMA-376 Part 1, 18.8.30 "numFmt", 18.17.4 "Dates and Times".
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import Final

from kafka_replica.sdmx.formats.xlsx.reading.package import Package
from kafka_replica.sdmx.formats.xlsx.reading.worksheet import Cell

_DATE_FORMATS: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""The numbers of the built-in formats for dates and times."""
_NO_DATE: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
"""Texts, colours and conditions in a number format, which may contain the letters of dates."""
_DATE_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
_FIRST_DAY: Final = (datetime(1899, 12, 30), datetime(1904, 1, 1))  # noqa: DTZ001 - workbooks have no time zones


class CellValues:
    """Converts cells to text. A workbook stores dates as numbers, which only the format of the cell distinguishes."""

    def __init__(self, package: Package) -> None:
        self._first_day = _FIRST_DAY[package.has_dates_since_1904()]
        custom: dict[str, str] = {}
        self._is_date: list[bool] = []
        for element in package.elements("xl/styles.xml", "numFmt", "cellXfs"):
            if element.tag.endswith("numFmt"):
                custom[element.get("numFmtId", "")] = element.get("formatCode", "")
            else:
                self._is_date = [_is_date(xf.get("numFmtId", "0"), custom) for xf in element.iterchildren("{*}xf")]

    def text(self, cell: Cell) -> str:
        """Return the text of a cell. Raises ValueError if it is a number or a date that does not exist."""
        if not cell.is_number:
            return cell.text
        try:
            number = float(cell.text)
        except ValueError:
            raise ValueError(f"{cell.text[:40]!r} is not a number") from None
        if cell.style < len(self._is_date) and self._is_date[cell.style]:
            return self._date(number)
        is_whole = number.is_integer() and abs(number) < 1e15
        return str(int(number)) if is_whole else repr(number)

    def _date(self, number: float) -> str:
        try:
            moment = self._first_day + timedelta(seconds=round(number * 86_400))
        except (OverflowError, ValueError):  # infinite, not a number, or after the year 9999
            moment = None
        if moment is None or number < 0:
            raise ValueError(f"{number!r} is not a date")
        return moment.date().isoformat() if number.is_integer() else moment.isoformat()


def _is_date(number: str, custom: dict[str, str]) -> bool:
    if number in custom:
        return bool(_DATE_LETTERS.search(_NO_DATE.sub("", custom[number])))
    return number.isdecimal() and int(number) in _DATE_FORMATS
