"""Read the tables on the sheets of a workbook (.xlsx) as SDMX-CSV or plain CSV.

Source: ECMA-376 Part 1, 18.3.1 "Worksheets", 18.8.30 "numFmt", 18.17.4 "Dates and Times".
"""

from __future__ import annotations

import csv
import io
import re
from array import array
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.validation.model import Rules
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.xlsx.reading.package import Package
from kafka_replica.sdmx.formats.xlsx.reading.worksheet import Cell, Cells, Row

_FIRST_CELL: Final = re.compile(r"STRUCTURE(?:\[.\])?|DATAFLOW").fullmatch
_DATE_FORMATS: Final = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})
"""The numbers of the built-in formats for dates and times."""
_NO_DATE: Final = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
"""Texts, colours and conditions in a number format, which may contain the letters of dates."""
_DATE_LETTERS: Final = re.compile(r"[ymdhs]", re.IGNORECASE)
_FIRST_DAY: Final = (datetime(1899, 12, 30), datetime(1904, 1, 1))  # noqa: DTZ001 - workbooks have no time zones
_LAST_DAY: Final = 2_958_465  # 9999-12-31


class Table(NamedTuple):
    """A table on a sheet.

    Attributes:
        sheet: the name of the sheet.
        is_sdmx_csv: whether it is SDMX-CSV.
        content: the table as CSV in UTF-8, with commas.
        rows: the numbers of its rows on the sheet, counted from 1, without that of the header.
    """

    sheet: str
    is_sdmx_csv: bool
    content: bytes
    rows: Sequence[int]


def tables_in(data: bytes, where: str, rules: Rules | None = None) -> list[Table]:
    """Return the tables of a workbook, in the order of its sheets.

    A table begins in the first row of its sheet that is not blank. It is SDMX-CSV if the first cell is ``STRUCTURE`` or
    ``DATAFLOW``. Otherwise it is data if one of its cells is a dimension of the rules. Other sheets are left out.

    Args:
        data: the content of the file.
        where: the file, for errors.
        rules: the rules of the expected structure.

    Raises:
        DatasetError: the file is not a workbook, is damaged, or has no such table.
    """
    dimensions = frozenset() if rules is None else frozenset(one.id for one in rules.columns if one.kind == "dimension")
    try:
        package = Package(data)
        cells, values = Cells(package), _Values(package)
        sheets = package.sheets()
        found = [_table(name, cells.numbered_rows(part), values, dimensions) for name, part in sheets]
    except (SdmxError, ValueError) as error:
        raise DatasetError(f"reading {where}: {error}") from error
    tables = [one for one in found if one is not None]
    if not tables:
        names = ", ".join(name[:80] for name, _ in sheets[:10])
        raise DatasetError(
            f"reading {where}: no sheet ({names}) has a table of data; its first row must have STRUCTURE or DATAFLOW "
            "in its first cell (SDMX-CSV), or the ids of components"
        )
    return tables


def _table(sheet: str, rows: Iterator[tuple[int, Row]], values: _Values, dimensions: frozenset[str]) -> Table | None:
    number, header = next(((number, row) for number, row in rows if row), (0, {}))
    if not header:
        return None
    first = min(header)
    texts = {at: cell.text.strip() for at, cell in header.items()}
    is_sdmx_csv = bool(_FIRST_CELL(texts[first]))
    if not is_sdmx_csv and dimensions.isdisjoint(texts.values()):
        return None
    width = max(header) + 1
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow([texts.get(at, "") for at in range(first, width)])
    numbers = array("L")
    for number, row in rows:
        if not row:
            continue
        if min(row) < first or max(row) >= width:
            raise ValueError(
                f"sheet {sheet[:80]!r}, row {number}: a cell lies outside the table: it has no header above it"
            )
        writer.writerow([values.text(row[at], sheet, number) if at in row else "" for at in range(first, width)])
        numbers.append(number)
    return Table(sheet, is_sdmx_csv, written.getvalue().encode(), numbers)


class _Values:
    """Converts cells to text. A workbook stores dates as numbers, which only the format of the cell distinguishes."""

    def __init__(self, package: Package) -> None:
        self._first_day = _FIRST_DAY[package.has_dates_since_1904()]
        custom: dict[str, str] = {}
        self._is_date: list[bool] = []
        for one in package.elements("xl/styles.xml", "numFmt", "cellXfs"):
            if one.tag.endswith("numFmt"):
                custom[one.get("numFmtId", "")] = one.get("formatCode", "")
            else:
                self._is_date = [_is_date(xf.get("numFmtId", "0"), custom) for xf in one.iterchildren("{*}xf")]

    def text(self, cell: Cell, sheet: str, row: int) -> str:
        """Return the text of a cell. Raises ValueError if it is a date that does not exist."""
        if not cell.is_number:
            return cell.text
        try:
            number = float(cell.text)
        except ValueError:
            raise ValueError(f"sheet {sheet[:80]!r}, row {row}: {cell.text[:40]!r} is not a number") from None
        if cell.style < len(self._is_date) and self._is_date[cell.style]:
            return self._date(number, sheet, row)
        is_whole = number.is_integer() and abs(number) < 1e15
        return str(int(number)) if is_whole else repr(number)

    def _date(self, number: float, sheet: str, row: int) -> str:
        if not 0 <= number < _LAST_DAY + 1:
            raise ValueError(f"sheet {sheet[:80]!r}, row {row}: {number!r} is not a date")
        moment = self._first_day + timedelta(seconds=round(number * 86_400))
        return moment.date().isoformat() if number.is_integer() else moment.isoformat()


def _is_date(number: str, custom: dict[str, str]) -> bool:
    if number in custom:
        return bool(_DATE_LETTERS.search(_NO_DATE.sub("", custom[number])))
    return number.isdecimal() and int(number) in _DATE_FORMATS
