"""Rows of CSV with a wrong number of cells: they are rejected as they are, and the run continues."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES, Run

pytestmark = pytest.mark.thorough


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """A header and twenty valid rows of CSV, and then four rows with other numbers of cells."""
    rules = compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)
    made = pl.DataFrame(generate_rows(rules, 20, 1), infer_schema_length=None).write_csv().splitlines()
    return [*made, "A,\u00e9", f"{made[1]},more,\u00e9", '"a\nb",c', "x"]


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_wrong_rows_are_rejected_as_they_are(line_end: str, run: Run, lines: list[str], tmp_path: Path) -> None:
    """The other rows are validated; line, row and text of a wrong row are in the findings, and its text is kept."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    order = [0, *range(1, 6), 21, *range(6, 12), 22, 23, *range(12, 21), 24]
    written = [lines[at] for at in order]
    written[3] = written[3].replace(",", ",?", 1)
    data.write_bytes(line_end.join(written).encode("cp1252"))
    where = ["--flow", FLOW, "--structures", SAMPLES, "--encoding", "cp1252", "--overwrite", "--out", out]
    done = run("validate", data, *where, "--findings", tmp_path / "f.jsonl", "--report", tmp_path / "report.html")
    assert done.returncode == 3, done.stderr  # the page has no series for these rows
    report = json.loads((out / "report.json").read_text())
    assert (report["rows"], report["written_rows"]["good"], report["written_rows"]["rejected"]) == (24, 19, 5)
    assert len(report["by_series"]) == 1  # wrong rows have none
    found = [json.loads(line) for line in (tmp_path / "f.jsonl").read_text().splitlines()]
    wrong = [one for one in found if one["rule"] == "cell-count"]
    physical = data.read_bytes().decode("cp1252").split("\n")
    assert [one["value"] for one in wrong] == lines[21:]
    assert [one["row"] for one in wrong] == [6, 13, 14, 24]
    assert [physical[one["line"] - 1].rstrip("\r") for one in wrong] == [line.split("\n")[0] for line in lines[21:]]
    assert wrong[0]["message"] == f"the row has 2 cells, the header {len(lines[0].split(','))}"
    assert {one["severity"] for one in wrong} == {"error"}
    rejected = (out / "rejected.csv").read_bytes().decode("cp1252")
    assert rejected.startswith(f"{lines[0]},ERRORS{line_end}{written[3]},")
    places = [rejected.index(f"{line_end}{line},") for line in lines[21:]]
    assert places == sorted(places)
    assert rejected.count("error cell-count: the row has") == 4
    again = run("validate", out / "rejected.csv", *where)
    assert again.returncode == 3
    assert json.loads((out / "report.json").read_text())["written_rows"]["rejected"] == 5


def test_the_page_shows_rejected_rows_if_their_rule_is_only_a_warning(
    run: Run, lines: list[str], tmp_path: Path
) -> None:
    """A row with a wrong number of cells is rejected whatever the severity, so the page must not say all is well."""
    data, page = tmp_path / "data.csv", tmp_path / "report.html"
    data.write_text("\n".join(lines), encoding="utf-8")
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "out", "--rules", "cell-count=warning"]
    run("validate", data, *where, "--report", page)
    assert '<div class="verdict bad"><strong>4 of 24 rows were rejected' in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("separator", [",", ";"])
def test_wrong_rows_that_are_sent_again_do_not_change(
    separator: str, run: Run, lines: list[str], tmp_path: Path
) -> None:
    """The errors of an earlier run are not cells of a wrong row, and are written again without the old ones."""
    header, good = (line.replace(",", separator) for line in lines[:2])
    wrong = ["A", separator.join(["A", "YY", "UNE_R"]), f'"a{separator}""b\nc"{separator}"d', f"{good}{separator}x"]
    wrong[2] += f'{separator}e"'
    data, out, found = tmp_path / "data.csv", tmp_path / "out", tmp_path / "f.jsonl"
    data.write_text("\n".join([header, good, *wrong]))
    where = ["--flow", FLOW, "--structures", SAMPLES, "--overwrite", "--out", out, "--findings", found]
    assert run("validate", data, *where).returncode == 3
    rejected, listed = (out / "rejected.csv").read_text(), _values_and_messages(found)
    assert [value for value, _ in listed] == wrong
    for _ in range(2):
        done = run("validate", out / "rejected.csv", *where)
        assert done.returncode == 3, done.stderr
        assert (out / "rejected.csv").read_text() == rejected
        assert _values_and_messages(found) == listed


def test_a_wrong_row_without_the_errors_of_an_earlier_run(run: Run, lines: list[str], tmp_path: Path) -> None:
    """Texts that are not errors of an earlier run stay cells, and a row without such errors keeps all its cells."""
    data, found = tmp_path / "data.csv", tmp_path / "f.jsonl"
    wrong = ["A,error", "A,B,no error code-unknown: x", f"{lines[1]},x,y"]
    data.write_text("\n".join([f"{lines[0]},ERRORS", f"{lines[1]},", *wrong]))
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "out", "--findings", found]
    assert run("validate", data, *where).returncode == 3
    wanted = len(lines[0].split(",")) + 1
    assert _values_and_messages(found) == [
        (one, f"the row has {len(one.split(','))} cells, the header {wanted}") for one in wrong
    ]


def _values_and_messages(findings: Path) -> list[tuple[str, str]]:
    found = [json.loads(line) for line in findings.read_text().splitlines()]
    return [(one["value"], one["message"]) for one in found if one["rule"] == "cell-count"]


def test_wrong_rows_of_files_that_differ(run: Run, lines: list[str], tmp_path: Path) -> None:
    """A wrong row has only its error, with its text, if the layout cannot be kept; maps reject it, too."""
    folder, out = tmp_path / "data", tmp_path / "out"
    folder.mkdir()
    (folder / "a.csv").write_text("\n".join([lines[0], lines[1], lines[21]]))
    (folder / "b.csv").write_text("\n".join([lines[0], lines[2]]).replace(",", ";"))
    where = ["--structures", SAMPLES, "--overwrite", "--out", out]
    for command in (("validate", "--flow", FLOW), ("map", "--map", "KR_DEMO:LABOUR_TO_PANEL(1.0)")):
        done = run(command[0], folder, *command[1:], *where)
        assert done.returncode == 3, done.stderr
        rejected = (out / "rejected.csv").read_text().splitlines()
        assert [one.endswith(f'({lines[21]})"') for one in rejected[1:]] == [True]
        assert json.loads((out / "report.json").read_text())["counts"][0]["rule"] == "cell-count"


def test_severities(run: Run, lines: list[str], tmp_path: Path) -> None:
    """A wrong row is rejected as a warning, too; the run ends at it if the rule is off."""
    data, out = tmp_path / "data.csv", tmp_path / "out"
    data.write_text("\n".join([*lines[:9], lines[21]]))
    where = [data, "--flow", FLOW, "--structures", SAMPLES, "--out", out, "--overwrite", "--rules"]
    assert run("validate", *where, "cell-count=warning").returncode == 3
    assert lines[21] in (out / "rejected.csv").read_text()
    off = run("validate", *where, "cell-count=off")
    assert (off.returncode, f"reading {data}: line 10 has 2 cells" in off.stderr.replace("\n", " ")) == (1, True)
