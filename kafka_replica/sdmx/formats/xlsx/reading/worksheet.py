"""The cells of a worksheet as text.

Source: ECMA-376 Part 1, 18.3.1 "Worksheets" (row, c, v, is) and 18.18.11 "ST_CellType".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple, TypeAlias

from lxml import etree

from kafka_replica.sdmx.formats.xlsx.reading.package import Package, failed, text_of, unescaped

MAX_CELLS: Final = 1_000_000
"""A workbook with more cells than this is refused."""

_MAX_COLUMN: Final = 16_384
_BOOLEANS: Final = {"1": "true", "0": "false"}
"""The values of cells with booleans, as SDMX writes them, so that they are not read as numbers."""
_NOT_AVAILABLE: Final = "#N/A"
_UNSAVED: Final = "="
"""The text of a formula without a saved value."""
_column = re.compile(r"([A-Z]{1,3})[0-9]*").fullmatch


class Cell(NamedTuple):
    """A cell.

    Attributes:
        text: its text.
        is_number: whether it is a number; dates are numbers.
        style: the number of its style.
        problem: why its value is not known; empty if it is known. The cells of sheets for readers may have problems.
    """

    text: str
    is_number: bool = False
    style: int = 0
    problem: str = ""

    @property
    def is_unsaved(self) -> bool:
        """Return whether it is a formula without a saved value; outside of data it is like an empty cell."""
        return bool(self.problem) and self.text == _UNSAVED


Row: TypeAlias = dict[int, Cell]
"""Cells by column, from 0; cells without text are left out."""


class Cells:
    """A reader of the worksheets in one workbook, with a common limit on the number of cells."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._strings: list[str] | None = None
        self._left = MAX_CELLS

    def rows(self, part: str) -> Iterator[Row]:
        """Yield the rows of a worksheet in order; blank rows in the file are empty. Raises MessageError."""
        return (row for _, row in self.numbered_rows(part))

    def numbered_rows(self, part: str) -> Iterator[tuple[int, Row]]:
        """Yield the rows of a worksheet with their numbers, from 1, as :meth:`rows` does. Raises MessageError."""
        number = 0
        for row in self._package.elements(part, "row"):
            number = _number_of(row.get("r"), number + 1)
            found: Row = {}
            at = -1
            for cell in row.iterchildren("{*}c"):
                at = _column_of(cell.get("r"), at + 1)
                value = self._value(cell)
                if value.text:
                    found[at] = value
            self._left -= len(found)
            if self._left < 0:
                raise failed(f"it has more than {MAX_CELLS:,} cells")
            yield number, found

    def _value(self, cell: etree._Element) -> Cell:
        kind = cell.get("t", "n")
        if kind == "inlineStr":
            return Cell("".join(text_of(element) for element in cell.iterchildren("{*}is")))
        written = next((element.text or "" for element in cell.iterchildren("{*}v")), "")
        problem = _problem(cell, kind, written)
        if problem:
            return Cell(written or _UNSAVED, problem=problem)
        if kind == "s" and written:
            return Cell(self._shared(written))
        if kind == "b":
            return Cell(_BOOLEANS.get(written, written))
        if kind == "n":
            return Cell(written, is_number=True, style=_number_of(cell.get("s"), 0))
        return Cell(unescaped(written))

    def _shared(self, number: str) -> str:
        if self._strings is None:
            self._strings = self._package.shared_strings()
        index = int(number) if number.isdecimal() and len(number) < 10 else -1
        if not 0 <= index < len(self._strings):
            raise failed(f"a cell refers to shared string {number[:20]!r}, which does not exist")
        return self._strings[index]


def _problem(cell: etree._Element, kind: str, written: str) -> str:
    """Return why the value of a cell is not known; empty if it is known. A typed #N/A is a value."""
    has_formula = next(cell.iterchildren("{*}f"), None) is not None
    reference = cell.get("r")
    where = "" if reference is None else f"cell {reference[:20]}: "
    if has_formula and not written and kind != "str":
        return f"{where}a formula has no saved value; open and save the workbook"
    if kind == "e" and written and (has_formula or written != _NOT_AVAILABLE):
        return f"{where}the value is the error {written[:20]}; correct it, or clear the cell"
    return ""


def _number_of(written: str | None, otherwise: int) -> int:
    return int(written) if written is not None and written.isdecimal() and len(written) < 10 else otherwise


def _column_of(reference: str | None, following: int) -> int:
    if reference is None:
        column = following
    else:
        found = _column(reference)
        if found is None:
            raise failed(f"a cell has the invalid reference {reference[:20]!r}")
        column = 0
        for letter in found[1]:
            column = column * 26 + ord(letter) - ord("A") + 1
        column -= 1
    if column >= _MAX_COLUMN:
        raise failed("a row has more cells than a worksheet may")
    return column
