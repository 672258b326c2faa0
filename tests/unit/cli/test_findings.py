"""Locations of findings, the table of findings, and rejected rows in the layout of their files."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.polars import finding_table, validate, write_findings
from kafka_replica.data.polars.datasets.reading import read_plain_csv
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES, Run
from support.effort import examples, first_in_usual
from support.server.data_samples import FILES

pytestmark = pytest.mark.thorough

COLUMNS = [
    "file", "line", "row", "part", "part_row", "path", "series", "time", "component", "value", "rule", "message",
    "severity", "artefact",
]  # fmt: skip
SEX = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=KR_DEMO:CL_SEX(1.0)"


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of the sample dataflow."""
    return compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)


@pytest.fixture(scope="module")
def rows(rules: Rules) -> pl.DataFrame:
    """Forty valid rows."""
    return pl.DataFrame(generate_rows(rules, 40, 1), infer_schema_length=None)


def spoiled(rows: pl.DataFrame, *places: int) -> pl.DataFrame:
    """Return the rows with an unknown code, different in each, in some of them."""
    number = pl.int_range(pl.len())
    return rows.with_columns(SEX=pl.when(number.is_in(list(places))).then(pl.format("X{}", number)).otherwise("SEX"))


def listed(path: Path) -> list[dict[str, Any]]:
    """Return the findings in a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_each_finding_has_the_location_of_its_row(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """Findings of several files name file and line, row, row group, series and period, in the order of the data."""
    folder, out = tmp_path / "data", tmp_path / "findings.jsonl"
    folder.mkdir()
    text = spoiled(rows, 2, 7).head(10).write_csv().split("\n")
    (folder / "a.csv").write_text("\n\n" + "\n".join(text[:4]) + "\n\n\n" + "\n".join(text[4:]))
    spoiled(rows, 11).slice(10, 10).write_csv(folder / "b.csv", separator=";")
    spoiled(rows, 20, 33).slice(20, 20).write_parquet(folder / "c.parquet", row_group_size=6)
    done = run("validate", folder, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--findings", out)
    assert done.returncode == 3, done.stderr
    assert f"5 findings in {out}" in done.stdout
    found = listed(out)
    assert [list(one) for one in found] == [COLUMNS] * 5
    assert [(Path(one["file"]).name, *(one[name] for name in COLUMNS[1:5]), one["value"]) for one in found] == [
        ("a.csv", 6, 3, None, None, "X2"), ("a.csv", 13, 8, None, None, "X7"), ("b.csv", 3, 2, None, None, "X11"),
        ("c.parquet", None, 1, "0", 1, "X20"), ("c.parquet", None, 14, "2", 2, "X33"),
    ]  # fmt: skip
    lines = (folder / "a.csv").read_text().split("\n")
    assert all(one["value"] in lines[one["line"] - 1] for one in found[:2])
    assert {one["rule"] for one in found} == {"code-unknown"}
    assert {(one["component"], one["severity"], one["artefact"]) for one in found} == {("SEX", "error", SEX)}
    for one, row in zip(found, spoiled(rows, 2, 7, 11, 20, 33)[[2, 7, 11, 20, 33]].iter_rows(named=True), strict=True):
        assert one["series"] == ".".join(row[name] or "" for name in ("FREQ", "REF_AREA", "INDICATOR", "SEX"))
        assert one["time"] == row["TIME_PERIOD"]
    report = json.loads((tmp_path / "o" / "report.json").read_text())
    assert report["listed_findings"] == sum(one["count"] for one in report["counts"]) == 5
    where = {(Path(one["file"]).name, one["line"], one["row"], one["part"]) for one in report["samples"]}
    assert ("a.csv", 6, 3, None) in where
    assert ("c.parquet", None, 14, "2") in where


@pytest.mark.parametrize("name", ["ml21.xml", "ml30.xml"])
def test_the_line_is_that_of_the_element(name: str, run: Run, tmp_path: Path) -> None:
    """In SDMX-ML the line is the one on which the element of the observation begins."""
    pretty = re.sub(rb">\s*<", b">\n<", FILES[name])
    data, out = tmp_path / name, tmp_path / "findings.jsonl"
    data.write_bytes(pretty)
    done = run("validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--findings", out)
    assert done.returncode == 3, done.stderr
    (one,) = [one for one in listed(out) if one["rule"] == "text-type"]
    after = pretty.decode().split("\n")[one["line"] - 1 :]
    assert after[0].startswith(("<Obs", "<generic:Obs", "<g:Obs")), after[:2]
    element = after[: next(at for at, line in enumerate(after) if line.endswith("/>") or line.startswith("</")) + 1]
    assert one["value"] in "".join(element)
    assert one["time"] in "".join(element)


def at_pointer(message: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer."""
    for part in pointer.split("/")[1:]:
        key = part.replace("~1", "/").replace("~0", "~")
        message = message[int(key)] if isinstance(message, list) else message[key]
    return message


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".json")])
def test_the_path_is_that_of_the_observation(name: str, run: Run, tmp_path: Path) -> None:
    """In SDMX-JSON a finding names its row, and the observation as a JSON Pointer; so do samples and the ESS report."""
    data, out, ess = tmp_path / name, tmp_path / "findings.jsonl", tmp_path / "r.ess.json"
    data.write_bytes(FILES[name])
    done = run("validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--findings", out,
               "--report", ess)  # fmt: skip
    assert done.returncode == 3, done.stderr
    message, found = json.loads(FILES[name]), listed(out)
    one = next(one for one in found if one["rule"] == "text-type")
    assert one["value"] in at_pointer(message, one["path"])
    assert one["path"].startswith("/data/dataSets/0/")
    assert isinstance(one["row"], int)
    samples = json.loads((tmp_path / "o" / "report.json").read_text())["samples"]
    assert {sample["path"] for sample in samples} == {each["path"] for each in found}
    assert any(one["path"] in str(each.get("data", {}).get("description")) for each in json.loads(ess.read_text()))


_CELLS = st.text("a,;\"' \r\n\u00e9", max_size=4)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.tuples(_CELLS, st.integers(0, 2)), min_size=1, max_size=8), st.integers(0, 2), st.booleans())
def test_lines_of_any_csv(cells: list[tuple[str, int]], before: int, with_marks: bool) -> None:
    """The line of a row is the number of line feeds before it, with line breaks in cells and blank lines."""
    text = "\n" * before + "A,B\n"
    lines, values = [], []
    for number, (cell, blank) in enumerate(cells):
        lines.append(text.count("\n") + 1)
        value = cell.replace("\r\n", "\n").replace("\r", "")
        quoted = value.replace('"', '""')
        text += f'r{number},"{quoted}"\n' + "\n" * blank
        values.append(value or None)
    content = text.encode("utf-8-sig" if with_marks else "utf-8")
    found = read_plain_csv(Path("x.csv"), content=content)
    assert found.values["B"].to_list() == values
    assert found.lines.to_list() == lines


def test_a_wrong_row_is_named_by_its_line_in_the_file(tmp_path: Path) -> None:
    """The line number in the error counts blank lines before the header, too."""
    (tmp_path / "x.csv").write_text("\n\nA,B\n1,2\n3\n")
    with pytest.raises(DatasetError, match="line 5 has 1 cell"):
        read_plain_csv(tmp_path / "x.csv")


def test_rejected_rows_keep_their_layout(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """Rejected rows have the header, separator, encoding, line ends and texts of the file, and can be sent again."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    kept = spoiled(rows, 1, 5).with_columns(pl.lit("").alias("NOTE"), pl.lit('a;"\u00e9"').alias("Remark"))
    kept = kept.select(*reversed(kept.columns)).with_columns(OBS_VALUE=pl.lit("1,50"))
    data.write_bytes(kept.write_csv(separator=";", line_terminator="\r\n").encode("cp1252"))
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", out, "--decimal", ",", "--encoding", "cp1252"]
    where += ["--overwrite"]
    done = run("validate", data, *where)
    assert done.returncode == 3, done.stderr
    given, written = (
        io.StringIO(one.read_bytes().decode("cp1252"), newline="") for one in (data, out / "rejected.csv")
    )
    before, after = list(csv.reader(given, delimiter=";")), list(csv.reader(written, delimiter=";"))
    assert [row[:-1] for row in after] == [before[0], before[2], before[6]]
    assert [row[-1] for row in after] == [
        "ERRORS",
        *(f"error code-unknown: the value of SEX is not a code of KR_DEMO:CL_SEX(1.0) (X{one})" for one in (1, 5)),
    ]
    assert (out / "rejected.csv").read_bytes().count(b"\r\n") == 3
    corrected = (out / "rejected.csv").read_bytes()
    (tmp_path / "again.csv").write_bytes(corrected.replace(b";X1;", b";F;").replace(b";X5;", b";Q;"))
    done = run("validate", tmp_path / "again.csv", *where)
    assert "2 rows, 1 good, 1 rejected" in done.stdout, done.stderr
    again = (out / "rejected.csv").read_bytes().decode("cp1252")
    assert again.split("\r\n")[0] == corrected.decode("cp1252").split("\r\n")[0]
    assert "(X5)" not in again
    assert "(Q)" in again


@pytest.mark.parametrize("kind", ["parquet", "arrow", "parquet.gz", "xlsx"])
def test_rejected_rows_of_tables_keep_their_columns(
    kind: str, run: Run, rows: pl.DataFrame, tmp_path: Path
) -> None:  # fmt: skip
    """Rejected rows of Parquet, Arrow and workbooks have the columns of the file in order, and can be sent again."""
    data, out = tmp_path / f"data.{kind}", tmp_path / "out"
    kept = spoiled(rows, 1, 5).with_columns(
        pl.lit("a, b").alias("NOTE"), pl.col("OBS_VALUE").cast(pl.Float64).fill_null(1.5), DECIMALS=pl.lit(1)
    )  # fmt: skip
    kept = kept.select(*reversed(kept.columns))
    if kind == "xlsx":
        kept.write_excel(data)
    elif kind == "arrow":
        kept.write_ipc(data)
    else:
        made = io.BytesIO()
        kept.write_parquet(made, row_group_size=4)
        data.write_bytes(gzip.compress(made.getvalue()) if kind.endswith("gz") else made.getvalue())
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", out, "--overwrite"]
    assert run("validate", data, *where).returncode == 3
    header, *found = list(csv.reader((out / "rejected.csv").read_text().splitlines()))
    assert header == [*kept.columns, "ERRORS"]
    value = kept.columns.index("OBS_VALUE")
    for row, before in zip(found, kept[[1, 5]].rows(), strict=True):
        assert [one for at, one in enumerate(row[:-1]) if at != value] == [
            str("" if one is None else one) for at, one in enumerate(before) if at != value
        ]
        assert float(row[value]) == before[value]
        assert row[-1].startswith("error code-unknown: the value of SEX")
    again = tmp_path / "again.csv"
    again.write_text((out / "rejected.csv").read_text().replace("X1,", "F,").replace("X5,", "Q,"))
    done = run("validate", again, *where)
    assert "2 rows, 1 good, 1 rejected" in done.stdout, done.stderr
    assert next(csv.reader((out / "rejected.csv").read_text().splitlines())) == header


def test_rows_of_other_structures_do_not_shift_locations(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """Lines and rejected rows are those of the file, where rows of another structure are left out between them."""
    others = pl.int_range(pl.len()).is_in([0, 2, 3])
    named = pl.when(others).then(pl.lit("KR_DEMO:OTHER(1.0)")).otherwise(pl.lit("KR_DEMO:LABOUR(1.0)"))
    frame = spoiled(rows, 1, 5).head(7).select(STRUCTURE=pl.lit("dataflow"), STRUCTURE_ID=named, **{
        name: pl.col(name) for name in rows.columns
    })  # fmt: skip
    frame.write_csv(tmp_path / "data.csv")
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--findings", tmp_path / "f.jsonl"]
    done = run("validate", tmp_path / "data.csv", *where)
    assert "4 rows, 2 good, 2 rejected" in done.stdout, done.stderr
    found = listed(tmp_path / "f.jsonl")
    assert [(one["line"], one["row"], one["value"]) for one in found] == [(3, 2, "X1"), (7, 6, "X5")]
    lines = (tmp_path / "data.csv").read_text().splitlines()
    rejected = (tmp_path / "o" / "rejected.csv").read_text().splitlines()
    assert [line.partition(",error ")[0] for line in rejected[1:]] == [lines[2], lines[6]]


def test_rejected_rows_of_several_layouts(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """Rows of several files with one layout are in the order of the files; of different layouts, in SDMX-CSV."""
    spoiled(rows, 1).head(5).write_csv(tmp_path / "a.csv")
    spoiled(rows, 5).slice(5, 5).write_csv(tmp_path / "b.csv")
    spoiled(rows, 10).slice(10, 5).write_csv(tmp_path / "c.csv", separator=";")
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out"]
    assert run("validate", tmp_path / "a.csv", tmp_path / "b.csv", *where, tmp_path / "1").returncode == 3
    same = pl.read_csv(tmp_path / "1" / "rejected.csv", infer_schema=False)
    assert same.columns == [*rows.columns, "ERRORS"]
    assert same["SEX"].to_list() == ["X1", "X5"]
    assert run("validate", tmp_path / "a.csv", tmp_path / "c.csv", *where, tmp_path / "2").returncode == 3
    mixed = pl.read_csv(tmp_path / "2" / "rejected.csv", infer_schema=False)
    assert mixed.columns[:3] == ["STRUCTURE", "STRUCTURE_ID", "ACTION"]
    assert mixed["SEX"].to_list() == ["X1", "X10"]


def test_formats_of_the_table_agree(rules: Rules, rows: pl.DataFrame, tmp_path: Path) -> None:
    """CSV, JSON lines, Parquet and workbooks have the same findings; a text that looks like a formula is a text."""
    frame = spoiled(rows, 3).with_columns(SEX=pl.when(pl.col("SEX") == "X3").then(pl.lit("=1+1")).otherwise("SEX"))
    table = finding_table(validate(frame.with_columns(EXTRA=1), rules), rules)
    assert table.columns == COLUMNS
    first = table.rows(named=True)[0]
    assert (first["rule"], first["severity"], first["row"], first["series"]) == (
        "column-unknown",
        "warning",
        None,
        None,
    )
    assert "EXTRA" in first["message"] + str(first["component"]) + str(first["value"])
    (one,) = table.filter(value="=1+1").rows(named=True)
    assert (one["row"], one["line"], one["file"]) == (4, None, None)
    for kind in ("csv", "jsonl", "parquet", "xlsx"):
        assert write_findings(table, tmp_path / f"f.{kind}") == table.height
    assert pl.read_parquet(tmp_path / "f.parquet").equals(table)
    assert pl.read_ndjson(tmp_path / "f.jsonl", schema=table.schema).equals(table)
    assert pl.read_csv(tmp_path / "f.csv", schema=table.schema).equals(table)
    with zipfile.ZipFile(tmp_path / "f.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        assert sheet.count("<row ") == table.height + 1
        assert "<f>" not in sheet
        assert "<t>=1+1</t>" in book.read("xl/sharedStrings.xml").decode()
    assert write_findings(table, tmp_path / "f.csv", most=1) == 1
    assert (tmp_path / "f.csv").read_text().count("\n") == 2


def test_the_file_of_findings_about_the_data_set(run: Run, tmp_path: Path) -> None:
    """A finding about the data set names the file if there is only one."""
    listed = tmp_path / "f.csv"
    for names in (["a.csv"], ["a.csv", "b.csv"]):
        (tmp_path / names[-1]).write_text("FREQ,EXTRA\nA,x\n")
        files = [str(tmp_path / name) for name in names]
        where = ["--flow", FLOW, "--structures", SAMPLES, "--overwrite", "--out", tmp_path / "out"]
        run("validate", *files, *where, "--findings", listed)
        found = pl.read_csv(listed, infer_schema=False).filter(pl.col("rule").str.starts_with("column-"))
        assert found.height > 1
        assert set(found["file"]) == {files[0] if len(files) == 1 else None}
        assert set(found["row"]) == {None}


def test_findings_of_a_map(run: Run, tmp_path: Path) -> None:
    """Rows that cannot be mapped are listed with their locations, and with the series of the source."""
    data, out = tmp_path / "labour.csv", tmp_path / "findings.csv"
    data.write_bytes(FILES["labour.csv"])
    mapped = "KR_DEMO:LABOUR_TO_PANEL(1.0)"
    where = ["--map", mapped, "--structures", SAMPLES, "--structures", SAMPLES / "extra", "--out", tmp_path / "o"]
    done = run("map", data, *where, "--findings", out)
    assert done.returncode == 3, done.stderr
    found = pl.read_csv(out, infer_schema=False)
    lines = data.read_text().splitlines()
    assert found.height
    for iter_row in found.iter_rows(named=True):
        row = next(csv.DictReader([lines[0], lines[int(iter_row["line"]) - 1]]))
        assert iter_row["series"] == ".".join(row[name] for name in ("FREQ", "REF_AREA", "INDICATOR", "SEX"))
        assert iter_row["time"] == row["TIME_PERIOD"]
    rejected = (tmp_path / "o" / "rejected.csv").read_text().splitlines()
    assert rejected[0] == f"{lines[0]},ERRORS"
    assert all(any(one.startswith(f"{line},") for line in lines) for one in rejected[1:])


def test_a_limited_table_counts_all_findings(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """``--max-findings`` limits the table; the report and the summary count all findings."""
    spoiled(rows, *range(30)).write_csv(tmp_path / "data.csv")
    out = tmp_path / "f.csv"
    where = [tmp_path / "data.csv", "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--findings", out]
    done = run("validate", *where, "--max-findings", "7")
    assert f"7 findings of 30 in {out}" in done.stdout, done.stderr
    assert pl.read_csv(out)["row"].to_list() == list(range(1, 8))
    report = json.loads((tmp_path / "o" / "report.json").read_text())
    assert (report["listed_findings"], report["counts"][0]["count"]) == (7, 30)
    assert {path.name for path in tmp_path.iterdir()} == {"data.csv", "o", "f.csv"}


def test_files_of_findings_that_are_refused(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """An unknown extension, a missing folder and an earlier file are refused before anything is written."""
    data, out = tmp_path / "data.csv", tmp_path / "o"
    rows.write_csv(data)
    where = [data, "--flow", FLOW, "--structures", SAMPLES, "--out", out, "--findings"]
    done = run("validate", *where, tmp_path / "f.ods")
    assert (done.returncode, ".csv, .jsonl, .parquet, .xlsx" in done.stderr.replace("\n", " ")) == (2, True)
    done = run("validate", *where, tmp_path / "none" / "f.csv")
    assert (done.returncode, "the folder " in done.stderr) == (2, True)
    (tmp_path / "f.csv").write_text("old")
    done = run("validate", *where, tmp_path / "f.csv")
    assert (done.returncode, "--overwrite" in done.stderr) == (2, True)
    assert not out.exists()
    (tmp_path / "bad.csv").write_text('A,B\n1,"2\n')
    assert run("validate", tmp_path / "bad.csv", *where[1:], tmp_path / "f.csv", "--overwrite").returncode == 1
    assert (tmp_path / "f.csv").read_text() == "old"
    assert run("validate", *where, tmp_path / "f.csv", "--overwrite").returncode == 0
    assert (tmp_path / "f.csv").read_text() == ",".join(COLUMNS) + "\n"


@pytest.mark.parametrize(
    ("options", "status"),
    first_in_usual([
        ([], 3),
        (["--fail-on", "never"], 0),
        (["--max-error-share", "0.29"], 0),
        (["--max-error-share", "0.28"], 3),
        (["--rules", "code-unknown=warning"], 0),
        (["--max-error-share", "1.1"], 2),
        (["--fail-on", "error"], 3),
        (["--max-error-share", "0.29", "--fail-on", "warning"], 0),
        (["--max-error-share", "0.29", "--fail-on", "warning", "--rules", "text-type=warning"], 3),
        (["--max-error-share", "0.28", "--fail-on", "never"], 0),
        (["--rules", "code-unknown=warning", "--fail-on", "warning"], 3),
        (["--rules", "code-unknown=information", "--fail-on", "warning"], 0),
        (["--fail-on", "information"], 2),
    ], 6),
)  # fmt: skip
def test_exit_status_by_threshold(options: list[str], status: int, run: Run, rules: Rules, tmp_path: Path) -> None:
    """29 of 100 rows with an error are accepted from a share of 0.29 on; warnings count only on request."""
    rows = pl.DataFrame(generate_rows(rules, 100, 1), infer_schema_length=None)
    if "text-type=warning" in options:
        rows = rows.with_columns(
            OBS_VALUE=pl.when(pl.int_range(pl.len()) < 29).then(pl.lit("n/a")).otherwise("OBS_VALUE")
        )
    spoiled(rows, *range(29)).write_csv(tmp_path / "data.csv")
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o"]
    done = run("validate", tmp_path / "data.csv", *where, *options)
    assert done.returncode == status, done.stdout + done.stderr


def test_an_error_of_the_data_set_is_no_share(run: Run, rows: pl.DataFrame, tmp_path: Path) -> None:
    """An error, or a warning, about the data set as a whole gives status 3 whatever share of rows is accepted."""
    rows.with_columns(EXTRA=1).write_csv(tmp_path / "data.csv")
    where = [tmp_path / "data.csv", "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--overwrite"]
    where += ["--max-error-share", "1"]
    assert run("validate", *where).returncode == 0
    assert run("validate", *where, "--fail-on", "warning").returncode == 3
    assert run("validate", *where, "--rules", "column-unknown=error").returncode == 3
    assert run("validate", *where, "--rules", "column-unknown=error", "--fail-on", "never").returncode == 0
