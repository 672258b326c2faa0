"""Read the tables on the sheets of a workbook (.xlsx) as SDMX-CSV or plain CSV, also with a column for each period.

Source: ECMA-376 Part 1, 18.3.1 "Worksheets".
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import IO, Final, NamedTuple

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.cell_values import CellValues
from kafka_replica.data.files.csv_layout import CODE_LABEL
from kafka_replica.data.files.period_columns import MOST_ROWS_ABOVE, SheetRow, TitleRow, observations_of, title_row
from kafka_replica.data.validation.model import ACTION, Rules
from kafka_replica.sdmx.errors import SdmxError
from kafka_replica.sdmx.formats.xlsx.reading.package import Package
from kafka_replica.sdmx.formats.xlsx.reading.worksheet import Cell, Cells, Row

_FIRST_CELL: Final = re.compile(r"STRUCTURE(?:\[.\])?|DATAFLOW").fullmatch
_STRUCTURE_COLUMNS: Final = frozenset({"STRUCTURE", "STRUCTURE_ID", "DATAFLOW", ACTION})
"""Titles of columns of data that are not components."""
_MOST_WRITTEN: Final = 1 << 27
"""The maximum number of characters of observations from sheets with period columns, which repeat series' values."""


class Table(NamedTuple):
    """A table on a sheet.

    Attributes:
        sheet: the name of the sheet.
        is_sdmx_csv: whether it is SDMX-CSV.
        header: the titles of its columns.
        rows: its rows, which can be read once, with their numbers on the sheet, from 1. Observations of one series, in
            a table with a column for each period, have the same number.
    """

    sheet: str
    is_sdmx_csv: bool
    header: Sequence[str]
    rows: Iterator[tuple[int, Sequence[str]]]


class Workbook:
    """The tables of a workbook, whose rows are read as streams.

    Args:
        file: the file, which must stay open.
        where: the file, for errors.
        rules: the rules of the expected structure.
        is_for_names: whether only the columns that name the structure are needed, so that an error in a cell of another
            column is a text.

    Raises:
        DatasetError: the file is not a workbook, or is damaged.
    """

    def __init__(self, file: IO[bytes], where: str, rules: Rules | None = None, *, is_for_names: bool = False) -> None:
        self._where = where
        with self._errors():
            self._package = Package(file)
            self._cells = Cells(self._package)
            self._reader = _SheetReader(CellValues(self._package), rules, is_for_names=is_for_names)
            self._sheets = self._package.sheets()

    @property
    def done(self) -> float:
        """Return the fraction of the file that has been read."""
        return self._package.done

    def tables(self) -> Iterator[Table]:
        """Yield the tables, in the order of the sheets; the rows of each must be read before the next table.

        A table begins in the first row of its sheet that is not blank. It is SDMX-CSV if the first cell is
        ``STRUCTURE`` or ``DATAFLOW``. Otherwise it is data if one of its cells is a dimension of the rules, or if the
        sheet has a column for each period; see :mod:`kafka_replica.data.files.period_columns`. Other sheets are left
        out. Cells that contain only whitespace are empty, and outside of data also formulas without a saved value.

        Raises:
            DatasetError: the file is damaged, or has no such table.
        """
        has_tables = False
        with self._errors():
            for name, part in self._sheets:
                table = self._reader.table(name, _filled(self._cells.numbered_rows(part)))
                if table is not None:
                    has_tables = True
                    yield table._replace(rows=self._checked(table))
        if not has_tables:
            names = ", ".join(name[:80] for name, _ in self._sheets[:10])
            raise DatasetError(
                f"reading {self._where}: no sheet ({names}) has a table of data; its first row must have STRUCTURE or "
                "DATAFLOW in its first cell (SDMX-CSV), or ids of components of the named structure, among them a "
                "dimension; a table with a column for each period must have ids of dimensions and periods in one row"
            )

    def _checked(self, table: Table) -> Iterator[tuple[int, Sequence[str]]]:
        with self._errors(), _in_sheet(table.sheet):
            yield from table.rows

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except (SdmxError, ValueError) as error:
            raise DatasetError(f"reading {self._where}: {error}") from error


@contextmanager
def _in_sheet(sheet: str) -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise ValueError(f"sheet {sheet[:80]!r}, {error}") from error


def csv_of(header: Sequence[str], rows: Iterable[Sequence[str]]) -> bytes:
    """Return rows below their header as CSV in UTF-8, with commas."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return written.getvalue().encode()


def _filled(rows: Iterator[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
    """Leave out cells that look empty, and rows that have no other cells."""
    for number, row in rows:
        filled = {at: cell for at, cell in row.items() if not cell.text.isspace()}
        if filled:
            yield number, filled


class _SheetReader:
    """Reads the sheets of one workbook, one after the other, and only a limited part of a sheet without data."""

    def __init__(self, values: CellValues, rules: Rules | None, *, is_for_names: bool) -> None:
        self._values = values
        self._rules = rules
        self._is_for_names = is_for_names
        self._left = _MOST_WRITTEN

    def table(self, sheet: str, rows: Iterator[tuple[int, Row]]) -> Table | None:
        """Return the table on a sheet; None if it is not data. Raises ValueError, which names the sheet."""
        with _in_sheet(sheet):
            return self._table(sheet, rows)

    def _table(self, sheet: str, rows: Iterator[tuple[int, Row]]) -> Table | None:
        first = next((row for row in rows if not _is_unsaved(row[1])), None)
        if first is None:
            return None
        number, header = first[0], _without_unsaved_edges(first[1])
        titles = {at: _title(cell.text) for at, cell in header.items()}
        if _FIRST_CELL(titles[min(titles)]):
            _check_titles(number, header)
            return self._as_csv(sheet, titles, rows, is_sdmx_csv=True)
        if self._rules is None:
            return None
        found, following = self._title_row(chain([first], rows), self._rules)
        if found is not None:
            return self._with_period_columns(sheet, found, following)
        dimensions = [column.id for column in self._rules.columns if column.kind == "dimension"]
        if set(dimensions).isdisjoint(titles.values()):
            return None
        _check_titles(number, header)
        return self._as_csv(sheet, titles, (row for row in following if row[0] != number), is_sdmx_csv=False)

    def _title_row(
        self, rows: Iterator[tuple[int, Row]], rules: Rules
    ) -> tuple[TitleRow | None, Iterator[tuple[int, Row]]]:
        """Return the row with titles of periods, if there is one, and the rows after it, otherwise all rows."""
        above = [*islice(rows, MOST_ROWS_ABOVE)]
        texts: list[SheetRow] = [
            (number, {at: _title(self._text_if_any(cell)) for at, cell in _from_first_saved(row).items()})
            for number, row in above
            if not _is_unsaved(row)
        ]
        found = title_row(texts, rules)
        if found is None:
            return None, chain(above, rows)
        for number, row in above:
            # A date that does not exist, or a formula without a value, is an error only in data.
            if number < found.number:
                self._texts(number, _section_cells(row, found.components.known))
            elif number == found.number:
                self._texts(number, row)
        return found, chain((row for row in above if row[0] > found.number), rows)

    def _with_period_columns(self, sheet: str, titles: TitleRow, rows: Iterator[tuple[int, Row]]) -> Table:
        found = observations_of(titles, self._series_rows(titles, rows))
        return Table(sheet, is_sdmx_csv=False, header=found.header, rows=self._limited(found.rows))

    def _series_rows(self, titles: TitleRow, rows: Iterator[tuple[int, Row]]) -> Iterator[SheetRow]:
        """Yield the texts of rows that have observations, without the columns that have no title."""
        data = titles.periods.keys() | self._data_columns(titles.others, is_sdmx_csv=False)
        titled = titles.periods.keys() | titles.others.keys()
        for number, row in rows:
            if not titles.periods.keys().isdisjoint(row):
                cells = {at: cell for at, cell in row.items() if at in titled}
                yield number, {at: text.strip() for at, text in self._texts(number, cells, data).items()}

    def _limited(self, rows: Iterator[tuple[int, Sequence[str]]]) -> Iterator[tuple[int, Sequence[str]]]:
        for number, row in rows:
            self._left -= len(row) + sum(map(len, row))
            if self._left < 0:
                raise ValueError(
                    f"row {number}: the observations, with the values of their series, exceed "
                    f"{_MOST_WRITTEN >> 20} MiB in the workbook; save such data as CSV"
                )
            yield number, row

    def _as_csv(
        self, sheet: str, titles: Mapping[int, str], rows: Iterator[tuple[int, Row]], *, is_sdmx_csv: bool
    ) -> Table:
        columns = range(min(titles), max(titles) + 1)
        header = [titles.get(at, "") for at in columns]
        data = self._data_columns(titles, is_sdmx_csv=is_sdmx_csv)
        return Table(sheet, is_sdmx_csv, header, self._rows_below(columns, data, rows))

    def _data_columns(self, titles: Mapping[int, str], *, is_sdmx_csv: bool) -> frozenset[int]:
        """Return the columns whose title is a component, also with its name; without rules, all columns."""
        if self._rules is None and not self._is_for_names:
            return frozenset(titles)
        ids = _STRUCTURE_COLUMNS | {column.id for column in (() if self._rules is None else self._rules.columns)}
        return frozenset(at for at, title in titles.items() if _id(title, is_sdmx_csv=is_sdmx_csv) in ids)

    def _rows_below(
        self, columns: range, data: Container[int], rows: Iterator[tuple[int, Row]]
    ) -> Iterator[tuple[int, Sequence[str]]]:
        for number, row in rows:
            texts = self._texts(number, row, data)
            if texts and (min(texts) < columns.start or max(texts) >= columns.stop):
                raise ValueError(f"row {number}: a cell lies outside the table: it has no header above it")
            if texts:
                yield number, [texts.get(at, "") for at in columns]

    def _texts(self, number: int, row: Row, data: Container[int] | None = None) -> dict[int, str]:
        """Return the texts of a row. A problem is an error only in the columns of data; None means that all are."""
        try:
            return {
                at: cell.text if cell.problem and not _is_in(at, data) else self._values.text(cell)
                for at, cell in row.items()
                if not cell.is_unsaved or _is_in(at, data)
            }
        except ValueError as error:
            raise ValueError(f"row {number}: {error}") from None

    def _text_if_any(self, cell: Cell) -> str:
        """Return the text of a cell, or its problem, so that two titles with problems are not considered equal."""
        try:
            return self._values.text(cell)
        except ValueError:
            return cell.problem or cell.text


def _is_in(at: int, data: Container[int] | None) -> bool:
    return data is None or at in data


def _is_unsaved(row: Row) -> bool:
    return all(cell.is_unsaved for cell in row.values())


def _from_first_saved(row: Row) -> Row:
    """Leave out formulas without a saved value to the left of all other cells."""
    first = min(at for at, cell in row.items() if not cell.is_unsaved)
    return {at: cell for at, cell in row.items() if at >= first}


def _without_unsaved_edges(row: Row) -> Row:
    """Leave out formulas without a saved value to the left and to the right of all other cells."""
    last = max(at for at, cell in row.items() if not cell.is_unsaved)
    return {at: cell for at, cell in _from_first_saved(row).items() if at <= last}


def _section_cells(row: Row, known: Container[str]) -> Row:
    """Return the id and the value in a row of the header section; nothing if the row is for readers."""
    if _is_unsaved(row):
        return {}
    cells = sorted(_from_first_saved(row).items())
    return dict(cells[:2]) if _title(cells[0][1].text) in known else {}


def _check_titles(number: int, header: Row) -> None:
    """Check that the cells of a row of titles have values. Raises ValueError."""
    problem = next((cell.problem for cell in header.values() if cell.problem), None)
    if problem is not None:
        raise ValueError(f"row {number}: {problem}")


def _id(title: str, *, is_sdmx_csv: bool) -> str:
    """Return the id in a title such as ``FREQ: Frequency``, in SDMX-CSV also ``TITLE[en;fr]``."""
    id_ = title.partition(CODE_LABEL)[0]
    return id_.partition("[")[0] if is_sdmx_csv else id_


def _title(text: str) -> str:
    """Return a title on one line."""
    return " ".join(text.split())
