"""Tables on the sheets of workbooks: values as they are meant, other sheets left out, places in findings."""

from __future__ import annotations

import csv
import io
import re
import zipfile
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files import workbook as workbooks
from kafka_replica.data.files.workbook import Workbook, csv_of
from kafka_replica.data.jobs import artefact_of, sources_of
from kafka_replica.data.polars.datasets import write_sdmx_csv
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from kafka_replica.sdmx.formats.xlsx.reading import worksheet
from support.cli.data_runs import FLOW, SAMPLES, runner
from support.rules.structures_by_hand import attribute, dimension, measure, rules_of, structure, text, time, version_of


def workbook(sheets: dict[str, list[list[Any]]], *, since_1904: bool = False) -> bytes:
    """Return a workbook, as another library writes it."""
    made = io.BytesIO()
    book = xlsxwriter.Workbook(made, {"date_1904": since_1904})
    day, moment = book.add_format({"num_format": "dd/mm/yyyy"}), book.add_format({"num_format": "yyyy-mm-dd hh:mm"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for number, row in enumerate(rows):
            for at, value in enumerate(row):
                if isinstance(value, datetime):
                    sheet.write_datetime(number, at, value, moment)
                elif isinstance(value, date):
                    sheet.write_datetime(number, at, value, day)
                elif isinstance(value, timedelta):
                    sheet.write_number(number, at, value / timedelta(days=1), day)
                elif value is not None:
                    sheet.write(number, at, value)
    book.close()
    return made.getvalue()


class WholeTable(NamedTuple):
    """A table of a workbook: its sheet, its form, its content as CSV, and the numbers of its rows."""

    sheet: str
    is_sdmx_csv: bool
    content: bytes
    rows: list[int]


def tables_in(data: bytes, where: str, rules: Rules | None = None) -> list[WholeTable]:
    """Return the tables of a workbook."""
    found = []
    for table in Workbook(io.BytesIO(data), where, rules).tables():
        rows = list(table.rows)
        content = csv_of(table.header, [row for _, row in rows])
        found.append(WholeTable(table.sheet, table.is_sdmx_csv, content, [number for number, _ in rows]))
    return found


_TITLES = ["CURRENCY", "CURRENCY_DENOM"]
_YEARS = [f"{year:04}" for year in range(1, 5001)]
_LATE = timedelta(days=2_958_465.9999999)
"""A serial number of 9999-12-31 that becomes the year 10000 if it is rounded to a second."""
HEADER = ["STRUCTURE", "STRUCTURE_ID", "ACTION", "DIM", "TIME_PERIOD", "OBS_VALUE"]
START = ["dataflow", "T:F(1.0)", "I"]


@pytest.mark.parametrize("since_1904", [False, True])
def test_workbook_values_of_all_types_are_kept(since_1904: bool) -> None:
    """Numbers keep their digits, dates are days, booleans are words; rows have the numbers of the sheet."""
    rows: list[list[Any]] = [
        [], HEADER, [*START, "A,B", 2010, 12.4], [], [*START, 'say "x"', date(2010, 1, 31), 0.1],
        [*START, "#N/A", datetime(2010, 1, 31, 12, 30), -1234567890123],  # noqa: DTZ001 - a workbook has no zones
        [*START, "007", "2010-01", 1e-7], [*START, False, "2010-02", True],
    ]  # fmt: skip
    (table,) = tables_in(workbook({"notes": [["a note"]], "Data": rows}, since_1904=since_1904), "x")
    assert (table.sheet, table.is_sdmx_csv, list(table.rows)) == ("Data", True, [3, 5, 6, 7, 8])
    found = pl.read_csv(table.content, infer_schema=False)
    assert found.columns == HEADER
    assert found.select("DIM", "TIME_PERIOD", "OBS_VALUE").rows() == [
        ("A,B", "2010", "12.4"),
        ('say "x"', "2010-01-31", "0.1"),
        ("#N/A", "2010-01-31T12:30:00", "-1234567890123"),
        ("007", "2010-01", "0.0000001"),
        ("false", "2010-02", "true"),
    ]


def with_cell(cell: str, *, since_1904: bool = False, date_format: bool = False) -> bytes:
    """Return a workbook whose second row has this cell below the title OBS_VALUE."""
    data = workbook({"D": [HEADER, [*START, "A", "2010", _FIRST if date_format else 1.5]]}, since_1904=since_1904)
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            if name.endswith("sheet1.xml"):
                content = re.sub(rb'<c r="F2"( s="[0-9]+")?>.*?</c>', lambda found: cell.encode().replace(
                    b" STYLE", found[1] or b""), content)  # fmt: skip
            new.writestr(name, content)
    return made.getvalue()


_FIRST = date(2010, 1, 31)


def value_in(data: bytes) -> str:
    """Return the value in the second row below the title OBS_VALUE."""
    (table,) = Workbook(io.BytesIO(data), "x").tables()
    ((_, row),) = table.rows
    return row[-1]


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("1234567890123456", "1234567890123456"), ("9007199254740993", "9007199254740993"), ("1E-5", "0.00001"),
        ("1.5E+20", "150000000000000000000"), ("0.10000000000000001", "0.1"), ("12.0", "12"), ("-3", "-3"),
    ],
)  # fmt: skip
def test_numbers_are_written_as_decimals(written: str, value: str) -> None:
    """Whole numbers keep all their digits, and small numbers have no exponent."""
    assert value_in(with_cell(f'<c r="F2"><v>{written}</v></c>')) == value


@pytest.mark.parametrize(
    ("serial", "day", "day_since_1904"),
    [
        ("1", "1900-01-01", "1904-01-02"), ("59", "1900-02-28", "1904-02-29"), ("61", "1900-03-01", "1904-03-02"),
        ("1.25", "1900-01-01T06:00:00", "1904-01-02T06:00:00"), ("0.25", "06:00:00", "1904-01-01T06:00:00"),
    ],
)  # fmt: skip
def test_the_first_dates_of_a_calendar(serial: str, day: str, day_since_1904: str) -> None:
    """1900 counts as a leap year, so the days before its March have other numbers; a fraction alone is a time."""
    for expected, since_1904 in ((day, False), (day_since_1904, True)):
        cell = f'<c r="F2" STYLE><v>{serial}</v></c>'
        assert value_in(with_cell(cell, since_1904=since_1904, date_format=True)) == expected


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ('<c r="F2"><f>A1/3</f></c>', "row 2: cell F2: a formula has no saved value; open and save the workbook"),
        ('<c r="F2"><f>A1/3</f><v></v></c>', "a formula has no saved value"),
        ('<c r="F2" t="e"><f>VLOOKUP(1,A1:A2,1)</f><v>#N/A</v></c>', "cell F2: the value is the error #N/A"),
        ('<c r="F2" t="e"><v>#DIV/0!</v></c>', "the value is the error #DIV/0!"),
        ('<c r="F2"><v>1_000</v></c>', "'1_000' is not a number"),
        ('<c r="F2"><v>NaN</v></c>', "'NaN' is not a number"),
        ('<c r="F2"><v>1E400</v></c>', "'1E400' is not a number"),
        ('<c r="F2" STYLE><v>60</v></c>', "60.0 is not a date"),
        ('<c r="F2" STYLE><v>1E300</v></c>', r"1e\+300 is not a date"),
    ],
)
def test_cells_without_a_value_are_errors(cell: str, reason: str) -> None:
    """A formula that was never computed, a failed look-up, and what is neither a number nor a date."""
    with pytest.raises(DatasetError, match=reason):
        value_in(with_cell(cell, date_format="STYLE" in cell))


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('<c r="F2"><f>A1/3</f><v>2.5</v></c>', "2.5"),
        ('<c r="F2" t="str"><f>""</f><v></v></c>', ""),
        ('<c r="F2" t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c r="F2" t="inlineStr"><is><t>a_x000D_\nb_x005F_x000D_</t></is></c>', "a\r\nb_x000D_"),
        ('<c r="F2" t="str"><f>A1</f><v>a_x0009_b_xD800_</v></c>', "a\tb_xD800_"),
    ],
)
def test_special_cells_have_their_value(cell: str, value: str) -> None:
    """A saved value of a formula, also an empty text; a missing value that was typed; escaped characters."""
    assert value_in(with_cell(cell)) == value


def test_problems_on_sheets_for_readers_are_no_errors() -> None:
    """A formula without a value is an error only where it would be data, or the title of a column of data."""
    data = with_cell('<c r="F2"><v>1</v></c>')
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        for name in old.namelist():
            content = old.read(name)
            new.writestr(name, re.sub(b'<c r="A1".*?</c>', b'<c r="A1"><f>A2</f></c>', content))
    with pytest.raises(DatasetError, match=r"no sheet \(D\) has a table"):
        value_in(made.getvalue())


_UNSAVED, _ERROR, _WITH_PROBLEM = "<f>1/2</f>", "<f>1/0</f><v>#DIV/0!</v>", re.compile("HELPER[0-9]")
_PLAIN = ["CURRENCY", "TIME_PERIOD", "OBS_VALUE"]
_READ = [*_PLAIN, "USD", "2024", "1"]


def with_helpers(rows: list[list[Any]], content: str) -> bytes:
    """Return a workbook in which the cells with the text HELPER0 and so on are formulas with this content."""
    data = workbook({"Data": rows})
    made = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(made, "w") as new:
        shared = re.findall("<si><t[^>]*>(.*?)</t></si>", old.read("xl/sharedStrings.xml").decode())
        kind = "e" if "<v>" in content else "n"
        for name in old.namelist():
            text = old.read(name)
            if name.endswith("sheet1.xml"):
                for at in (at for at, string in enumerate(shared) if _WITH_PROBLEM.fullmatch(string)):
                    text = text.replace(f't="s"><v>{at}</v>'.encode(), f't="{kind}">{content}'.encode())
            new.writestr(name, text)
    return made.getvalue()


_SERIES: list[list[Any]] = [[*_TITLES, "2023", "2024"], ["USD", "EUR", 1, 2]]


@pytest.mark.parametrize("content", [_UNSAVED, _ERROR])
@pytest.mark.parametrize(
    "rows",
    [
        [["HELPER0"], [], *_SERIES],
        [["a note", "HELPER0"], [], *_SERIES],
        [["STATUS", "A", "HELPER0"], [], *_SERIES],
        [_SERIES[0], [*_SERIES[1], "HELPER0"]],
        [*_SERIES, ["HELPER0"], [None, None, None, None, "HELPER0"]],
        [[*_SERIES[0], "NOTE"], [*_SERIES[1], "HELPER0"]],
    ],
)
def test_problems_outside_of_period_columns_are_no_errors(rates: Rules, rows: list[list[Any]], content: str) -> None:
    """Above and below the table, and in columns without a title or of another title, cells are for readers."""
    (table,) = tables_in(with_helpers(rows, content), "x", rates)
    found = csv.DictReader(io.StringIO(table.content.decode()))
    assert [(row["CURRENCY"], row["TIME_PERIOD"], row["OBS_VALUE"], row.get("NOTE", "")) for row in found] == [
        ("USD", year, value, "#DIV/0!" if "NOTE" in rows[0] and content == _ERROR else "")
        for year, value in (("2023", "1"), ("2024", "2"))
    ]


@pytest.mark.parametrize(
    ("rows", "content", "expected"),
    [
        ([[*_PLAIN, "MY_CHECK"], ["USD", 2024, 1, "HELPER0"]], _ERROR,
         [*_PLAIN, "MY_CHECK", "USD", "2024", "1", "#DIV/0!"]),
        ([[*_PLAIN, "MY_CHECK"], ["USD", 2024, 1, "HELPER0"]], _UNSAVED, [*_PLAIN, "MY_CHECK", "USD", "2024", "1", ""]),
        ([[*_PLAIN, "HELPER0"], ["USD", 2024, 1, "HELPER1"], [*[None] * 4, "HELPER2"]], _UNSAVED, _READ),
        ([["HELPER0"], _PLAIN, ["USD", 2024, 1]], _UNSAVED, _READ),
        ([[None, *_PLAIN], ["HELPER0", "USD", 2024, 1]], _UNSAVED, _READ),
        ([[*HEADER, "MY_CHECK"], [*START, "A", 2024, 1, "HELPER0"]], _ERROR,
         [*HEADER, "MY_CHECK", *START, "A", "2024", "1", "#DIV/0!"]),
        ([HEADER, [*START, "A", 2024, 1, "HELPER0"]], _UNSAVED, [*HEADER, *START, "A", "2024", "1"]),
    ],
)  # fmt: skip
def test_problems_outside_of_the_columns_of_components_are_no_errors(
    rates: Rules, rows: list[list[Any]], content: str, expected: list[str]
) -> None:
    """A formula without a saved value is like an empty cell, and an error in the file's own columns is a text."""
    (table,) = tables_in(with_helpers(rows, content), "x", rates)
    assert [cell for row in csv.reader(io.StringIO(table.content.decode())) for cell in row] == expected


@pytest.mark.parametrize(
    "rows", [[["HELPER0", *_PLAIN], ["x", "USD", 2024, 1]], [[*HEADER, "HELPER0"], [*START, "A", 2024, 1, "x"]]]
)
def test_data_below_a_title_without_a_saved_value_is_an_error(rates: Rules, rows: list[list[Any]]) -> None:
    """A column of data is not lost if its title is a formula that was never computed."""
    with pytest.raises(DatasetError, match="sheet 'Data', row 2: a cell lies outside the table"):
        tables_in(with_helpers(rows, _UNSAVED), "x", rates)


@pytest.mark.parametrize("content", [_UNSAVED, _ERROR])
@pytest.mark.parametrize(
    ("rows", "number"),
    [
        ([["STATUS", "HELPER0"], [], *_SERIES], 1),
        ([["CURRENCY_DENOM", "HELPER0"], [], ["CURRENCY", "2023", "2024"], ["USD", 1, 2]], 1),
        ([[*_SERIES[0], "HELPER0", "HELPER1"], _SERIES[1]], 1),
        ([[*_SERIES[0]], ["USD", "HELPER0", 1, 2]], 2),
        ([[*_SERIES[0]], ["USD", "EUR", 1, "HELPER0"]], 2),
        ([_PLAIN, ["USD", 2024, "HELPER0"]], 2),
        ([["CURRENCY:Currency", *_PLAIN[1:]], ["HELPER0", 2024, 1]], 2),
        ([[*HEADER, "STATUS[]"], [*START, "A", 2024, 1, "HELPER0"]], 2),
        ([HEADER, [*START[:1], "HELPER0", START[2], "A", 2024, 1]], 2),
    ],
)  # fmt: skip
def test_problems_in_data_are_errors(rates: Rules, rows: list[list[Any]], number: int, content: str) -> None:
    """A problem in a title, in the header section or below the title of a component is an error with its row."""
    with pytest.raises(DatasetError, match=rf"sheet 'Data', row {number}: cell "):
        tables_in(with_helpers(rows, content), "x", rates)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (workbook({"One": [["a"]], "Two": []}), r"no sheet \(One, Two\) has a table"),
        (workbook({"D": [HEADER, [*START, "A", "2010", 1, "beside"]]}), "sheet 'D', row 2: a cell lies outside"),
        (workbook({"D": [HEADER]})[:-200], "damaged"),
        (b"PK\x03\x04", "damaged"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", r"an old workbook \(\.xls\), or protected by a password; save it as"),
    ],
)
def test_an_unusable_workbook_is_an_error_with_its_location(data: bytes, reason: str) -> None:
    """A workbook without data, with cells next to a table, or with damage is an error that says where."""
    with pytest.raises(DatasetError, match=reason):
        tables_in(data, "data.xlsx")


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of the sample dataflow."""
    return compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)


@pytest.mark.thorough
def test_same_findings_as_csv(rules: Rules, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """A workbook with SDMX-CSV on one sheet and plain CSV on another gives the rows of the same data as SDMX-CSV.

    Findings name the sheet and the row.
    """
    rows = pl.DataFrame(generate_rows(rules, 40, 1), infer_schema_length=None)
    bad = rows.with_columns(SEX=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("??")).otherwise("SEX"))
    file, book = tmp_path / "data.csv", tmp_path / "data.xlsx"
    write_sdmx_csv(bad, file, rules)
    cells = [list(row) for row in pl.read_csv(file, infer_schema=False, has_header=False).rows()]
    plain = [row[3:] for row in cells]
    book.write_bytes(workbook({"first": cells[:21], "empty": [], "second": [plain[0], *plain[21:]]}))
    assert [source.kind for source in sources_of([str(book)])] == ["xlsx"]
    run = runner(capfdbinary)
    for data in (file, book):
        where = ["--structures", SAMPLES, "--out", tmp_path / f"out of {data.name}", "--findings"]
        assert run("validate", data, "--flow", FLOW, *where, tmp_path / f"{data.name}.findings.csv").returncode == 3
    good = [(tmp_path / f"out of {data.name}" / "good.csv").read_text() for data in (file, book)]
    assert good[0] == good[1]
    findings = pl.read_csv(tmp_path / "data.xlsx.findings.csv", infer_schema=False)
    assert set(findings.select("part", "part_row", "rule").rows()) == {("first", "9", "code-unknown")}


@pytest.fixture(scope="module")
def rates() -> Rules:
    """The rules of a structure of exchange rates."""
    return rules_of(version_of(structure(
        dimension("FREQ", text()), dimension("CURRENCY", text()), dimension("CURRENCY_DENOM", text()), time(),
        attribute("STATUS"), measure("OBS_VALUE", text("Double")),
    )))  # fmt: skip


def period_columns(rules: Rules, rows: list[list[Any]], **others: list[list[Any]]) -> list[dict[str, str]]:
    """Return the observations on a sheet with period columns, as dictionaries, with the rows of the sheet."""
    (table,) = tables_in(workbook({"Data": rows, **others}), "x", rules)
    found = csv.DictReader(io.StringIO(table.content.decode()))
    return [{"row": str(number), **row} for number, row in zip(table.rows, found, strict=True)]


def test_period_columns(rates: Rules) -> None:
    """A row for each series, and a column for each period, become observations; the header section has the rest."""
    found = period_columns(rates, [
        [], ["Exchange rates, for readers"], ["CURRENCY_DENOM", "EUR", "the euro"], ["STATUS", "A"], [],
        [None, None, "years", None, "quarter"],
        ["CURRENCY", "STATUS", 2023, "2024", "2024-Q1", date(2024, 3, 1), "NOTE", None],
        ["USD", None, 1.1, None, "1.05", 7, "n", "a remark"], [], ["GBP", "P", None, 0.8, None, None],
        ["JPY", "P"],
    ], notes=[["USD", date(2024, 1, 1)]])  # fmt: skip
    common = {"CURRENCY_DENOM": "EUR"}
    usd, gbp = {"CURRENCY": "USD", "STATUS": "A", "NOTE": "n"}, {"CURRENCY": "GBP", "STATUS": "P", "NOTE": ""}
    assert found == [
        {"row": "8", "FREQ": "A", **common, **usd, "TIME_PERIOD": "2023", "OBS_VALUE": "1.1"},
        {"row": "8", "FREQ": "Q", **common, **usd, "TIME_PERIOD": "2024-Q1", "OBS_VALUE": "1.05"},
        {"row": "8", "FREQ": "D", **common, **usd, "TIME_PERIOD": "2024-03-01", "OBS_VALUE": "7"},
        {"row": "10", "FREQ": "A", **common, **gbp, "TIME_PERIOD": "2024", "OBS_VALUE": "0.8"},
    ]


@pytest.mark.parametrize("given", ["title", "section"])
def test_given_frequencies_are_kept(rates: Rules, given: str) -> None:
    """A frequency in a column or in the header section is not replaced by that of the periods."""
    section = [["CURRENCY_DENOM", "EUR"], *([["FREQ", "M"]] if given == "section" else []), []]
    titles, row = (["CURRENCY", "FREQ"], ["USD", "M"]) if given == "title" else (["CURRENCY"], ["USD"])
    (found,) = period_columns(rates, [*section, [*titles, "2024"], [*row, 1]])
    assert (found["FREQ"], found["TIME_PERIOD"]) == ("M", "2024")


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        (
            [["STATUS", "A"], ["STATUS", "B"], [], [*_TITLES, "2024"], ["USD", "EUR", 1]],
            "'Data', row 2: STATUS has a second",
        ),
        ([[*_TITLES, *_YEARS], ["x" * 30_000, "y", *_YEARS]], "'Data', row 2: the observations, with the values of"),
        ([[*_TITLES, "2024", "2024"], ["USD", "EUR", 1, 2]], "'Data', row 1: two columns have the title '2024'"),
        (
            [["a note"], ["CURRENCY", "2023", "2024"], ["USD", 1, 2]],
            "'Data', row 2: .* the dimension CURRENCY_DENOM; add",
        ),
        ([[*_TITLES, "2024", _LATE], ["USD", "EUR", 1, 2]], "'Data', row 1: 2958465.99.* is not a date"),
        ([[*_TITLES, "2024", "2025"], ["USD", "EUR", 1, _LATE]], "'Data', row 2: 2958465.99.* is not a date"),
    ],
)
def test_unusable_period_columns(rates: Rules, rows: list[list[Any]], reason: str) -> None:
    """A sheet that gives one component or period twice, or expands to too much, is refused with its place."""
    with pytest.raises(DatasetError, match=reason):
        tables_in(workbook({"Data": rows}), "x", rates)


@pytest.mark.thorough
def test_sheets_for_readers_are_left_out(rates: Rules) -> None:
    """A dimension and a period in one row do not make a sheet data, nor does a date that does not exist."""
    data: list[list[Any]] = [["CURRENCY_DENOM", "EUR"], [], ["CURRENCY", "2024"], ["USD", 1]]
    expected = [
        {"row": "4", "FREQ": "A", "CURRENCY_DENOM": "EUR", "CURRENCY": "USD", "TIME_PERIOD": "2024", "OBS_VALUE": "1"}
    ]
    every_notes: tuple[list[list[Any]], ...] = (
        [["changes"], ["CURRENCY", "2024"], ["codes added"]],
        [["as of", _LATE], ["CURRENCY", "x"]],
        [["some"], *[["text"]] * 1_100, [*_TITLES, "2024"], ["USD", "EUR", 1]],
        [[" ", "\t"], []],
    )
    for notes in every_notes:
        assert period_columns(rates, data, notes=notes) == expected


def test_a_value_like_a_period_in_the_header_section(rates: Rules) -> None:
    """A row of the header section whose value could be a period is not taken for the titles."""
    for section in ([["CURRENCY_DENOM", "2709"]], [["CURRENCY", "2709"], ["CURRENCY_DENOM", "2023", "a remark"]]):
        titles = "CURRENCY" if len(section) == 1 else "STATUS"
        (found,) = period_columns(rates, [*section, [], ["FREQ", titles, "2024"], ["A", "X", 5]])
        assert found["TIME_PERIOD"] == "2024"
        assert found["CURRENCY_DENOM"] == section[-1][1]
        assert found[titles] == "X"


def test_titles_and_cells_of_white_space(rates: Rules) -> None:
    """A title may have several lines; cells of white space are empty, wherever they are."""
    (found,) = period_columns(
        rates, [[" "], ["CURRENCY", "CURRENCY_DENOM ", "a\nnote", "2024", " 2025\n"], ["USD", "EUR", " ", 1, " ", "  "]]
    )
    assert found == {
        "row": "3", "FREQ": "A", "CURRENCY": "USD", "CURRENCY_DENOM": "EUR", "a note": "", "TIME_PERIOD": "2024",
        "OBS_VALUE": "1",
    }  # fmt: skip
    header = ["STRUCTURE", "STRUCTURE_ID", "ACTION", "DIM\nENSION"]
    (table,) = tables_in(workbook({"D": [header, [*START, "A", " "], [" "]]}), "x")
    assert table.content.decode() == "STRUCTURE,STRUCTURE_ID,ACTION,DIM ENSION\ndataflow,T:F(1.0),I,A\n"


def test_the_frequency_by_its_role() -> None:
    """The dimension of the frequency is found by its role, and a period shows it also with a time zone."""
    rules = rules_of(version_of(structure(
        dimension("FREQUENCY", text(), role="FREQ"), dimension("CURRENCY", text()), time(),
        measure("OBS_VALUE", text("Double")),
    )))  # fmt: skip
    found = period_columns(rules, [["CURRENCY", "2024Z", "2024-M03+01:00", "2024-W05"], ["USD", 1, 2, 3]])
    assert [row["FREQUENCY"] for row in found] == ["A", "M", "W"]


@pytest.mark.thorough
def test_sheets_without_data_are_not_read_whole(rates: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """A sheet that is left out does not count much towards the limit on cells; one with data does."""
    monkeypatch.setattr(worksheet, "MAX_CELLS", 10_000)
    rows: list[list[Any]] = [[1] * 5 for _ in range(2_001)]
    data: list[list[Any]] = [[*_TITLES, "2024"], ["USD", "EUR", 1]]
    tables = tables_in(workbook({"Notes": rows, "Data": data}), "x", rates)
    assert [table.sheet for table in tables] == ["Data"]
    with pytest.raises(DatasetError, match="more than 10,000 cells"):
        tables_in(workbook({"Data": [[*_TITLES, "2024"], *rows]}), "x", rates)


@pytest.mark.thorough
def test_the_limit_applies_to_the_workbook(rates: Rules, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several sheets together may not expand to more than one may."""
    monkeypatch.setattr(workbooks, "_MOST_WRITTEN", 8 << 20)  # a sheet of the real limit takes seconds
    rows: list[list[Any]] = [[*_TITLES, *_YEARS[:200]], ["x" * 30_000, "y", *_YEARS[:200]]]
    assert period_columns(rates, rows)
    with pytest.raises(DatasetError, match=r"sheet 'other', row 2: .* exceed 8 MiB in the workbook"):
        period_columns(rates, rows, other=rows)


def test_codes_that_are_ids_do_not_make_period_columns(rates: Rules) -> None:
    """A plain table is read as before if a code is the id of a dimension next to a period."""
    rows: list[list[Any]] = [["CURRENCY", "FREQ", "TIME_PERIOD", "OBS_VALUE"], ["CURRENCY", "FREQ", "2024", 2025]]
    (table,) = tables_in(workbook({"D": rows}), "x", rates)
    assert table.content.decode() == "CURRENCY,FREQ,TIME_PERIOD,OBS_VALUE\nCURRENCY,FREQ,2024,2025\n"


@pytest.mark.thorough
def test_period_columns_have_the_findings_of_csv(
    rules: Rules, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A workbook with a column for each period gives the good rows and the findings of the same data as plain CSV."""
    frame = pl.DataFrame(generate_rows(rules, 60, 1), infer_schema_length=None).select(pl.col(pl.String))
    frame = frame.with_columns(SEX=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("??")).otherwise("SEX"))
    frame = frame.with_columns(pl.col("OBS_VALUE").fill_null("3"))
    names = [name for name in frame.columns if name not in {"STRUCTURE", "STRUCTURE_ID", "ACTION"}]
    plain = frame.select(names)
    plain.write_csv(tmp_path / "data.csv")
    others = [name for name in names if name not in {"TIME_PERIOD", "OBS_VALUE"}]
    wide = plain.pivot("TIME_PERIOD", index=others, values="OBS_VALUE")
    (tmp_path / "data.xlsx").write_bytes(workbook({"D": [wide.columns, *map(list, wide.rows())]}))
    run = runner(capfdbinary)
    found = []
    for name in ("data.csv", "data.xlsx"):
        out, listed = tmp_path / f"out of {name}", tmp_path / f"{name}.findings.csv"
        where = ["--structures", SAMPLES, "--out", out, "--findings", listed]
        assert run("validate", tmp_path / name, "--flow", FLOW, *where).returncode == 3
        findings = pl.read_csv(listed, infer_schema=False)
        places = findings.select("rule", "component", "value", "series", "time").rows()
        found.append((sorted((out / "good.csv").read_text().splitlines()), sorted(places)))
    assert found[0] == found[1]
    assert "part_row" in findings.columns


def test_a_workbook_is_not_taken_for_an_archive(tmp_path: Path) -> None:
    """A workbook is not an archive of data, also within an archive."""
    data = workbook({"D": [HEADER, [*START, "A", "2010", 1]]})
    (tmp_path / "a.xlsx").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("inner.xlsx", data)
    for source in sources_of([str(tmp_path)]):
        assert (source.kind, source.read()) == ("xlsx", data)


def test_the_structure_that_a_workbook_names(tmp_path: Path) -> None:
    """The first row of the first table names the structure, whatever the other cells of the row."""
    file = tmp_path / "data.xlsx"
    file.write_bytes(workbook({"notes": [["a"]], "D": [HEADER, [*START, "A", "2010", 1]]}))
    assert str(artefact_of(sources_of([str(file)])[0]).reference) == "T:F(1.0)"
    with_error = with_helpers([[*HEADER, "MY_CHECK"], [*START, "A", 2024, 1, "HELPER0"]], _ERROR)
    file.write_bytes(with_error)
    assert str(artefact_of(sources_of([str(file)])[0]).reference) == "T:F(1.0)"


@pytest.mark.thorough
def test_an_invalid_reference_is_an_error_with_its_sheet_and_row(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """The error names the file, the sheet and the row."""
    file = tmp_path / "data.xlsx"
    file.write_bytes(workbook({"D": [HEADER, [*START, "A", "2010", 1], ["cube", *START[1:], "A", "2010", 1]]}))
    done = runner(capfdbinary)("validate", file, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "out")
    assert done.returncode == 1
    assert "data.xlsx, sheet D, row 3: the kind of the structure is 'cube'" in " ".join(done.stderr.split())
