"""Tables on the sheets of workbooks: values as they are meant, other sheets left out, places in findings."""

from __future__ import annotations

import io
import zipfile
from datetime import date, datetime
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import xlsxwriter  # type: ignore[import-untyped]

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.files.workbook import tables_in
from kafka_replica.data.jobs import artefact_of, sources_of
from kafka_replica.data.polars.datasets import write_sdmx_csv
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES, runner


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
                elif value is not None:
                    sheet.write(number, at, value)
    book.close()
    return made.getvalue()


HEADER = ["STRUCTURE", "STRUCTURE_ID", "ACTION", "DIM", "TIME_PERIOD", "OBS_VALUE"]
START = ["dataflow", "T:F(1.0)", "I"]


@pytest.mark.parametrize("since_1904", [False, True])
def test_workbook_numbers_dates_and_texts_are_kept(since_1904: bool) -> None:
    """Numbers keep their digits, dates are days, and texts are unchanged; rows have the numbers of the sheet."""
    rows: list[list[Any]] = [
        [], HEADER, [*START, "A,B", 2010, 12.4], [], [*START, 'say "x"', date(2010, 1, 31), 0.1],
        [*START, "#N/A", datetime(2010, 1, 31, 12, 30), -1234567890123],  # noqa: DTZ001 - a workbook has no zones
        [*START, "007", "2010-01", 1e-7],
    ]  # fmt: skip
    (table,) = tables_in(workbook({"notes": [["a note"]], "Data": rows}, since_1904=since_1904), "x")
    assert (table.sheet, table.is_sdmx_csv, list(table.rows)) == ("Data", True, [3, 5, 6, 7])
    found = pl.read_csv(table.content, infer_schema=False)
    assert found.columns == HEADER
    assert found.select("DIM", "TIME_PERIOD", "OBS_VALUE").rows() == [
        ("A,B", "2010", "12.4"),
        ('say "x"', "2010-01-31", "0.1"),
        ("#N/A", "2010-01-31T12:30:00", "-1234567890123"),
        ("007", "2010-01", "1e-07"),
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (workbook({"One": [["a"]], "Two": []}), r"no sheet \(One, Two\) has a table"),
        (workbook({"D": [HEADER, [*START, "A", "2010", 1, "beside"]]}), "sheet 'D', row 2: a cell lies outside"),
        (workbook({"D": [HEADER]})[:-200], "damaged"),
        (b"PK\x03\x04", "damaged"),
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
    assert [one.kind for one in sources_of([str(book)])] == ["xlsx"]
    run = runner(capfdbinary)
    for data in (file, book):
        where = ["--structures", SAMPLES, "--out", tmp_path / f"out of {data.name}", "--findings"]
        assert run("validate", data, "--flow", FLOW, *where, tmp_path / f"{data.name}.findings.csv").returncode == 3
    good = [(tmp_path / f"out of {data.name}" / "good.csv").read_text() for data in (file, book)]
    assert good[0] == good[1]
    findings = pl.read_csv(tmp_path / "data.xlsx.findings.csv", infer_schema=False)
    assert set(findings.select("part", "part_row", "rule").rows()) == {("first", "9", "code-unknown")}


def test_a_workbook_is_not_taken_for_an_archive(tmp_path: Path) -> None:
    """A workbook is no archive of data, also within an archive."""
    data = workbook({"D": [HEADER, [*START, "A", "2010", 1]]})
    (tmp_path / "a.xlsx").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
        archive.writestr("inner.xlsx", data)
    for source in sources_of([str(tmp_path)]):
        assert (source.kind, source.read()) == ("xlsx", data)


def test_the_structure_that_a_workbook_names(tmp_path: Path) -> None:
    """The first row of the first table names the structure."""
    file = tmp_path / "data.xlsx"
    file.write_bytes(workbook({"notes": [["a"]], "D": [HEADER, [*START, "A", "2010", 1]]}))
    assert str(artefact_of(sources_of([str(file)])[0]).reference) == "T:F(1.0)"
