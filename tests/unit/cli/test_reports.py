"""Reports as pages, as JSON, and in the form of the European Statistical System."""

from __future__ import annotations

import csv
import json
import os
import re
from collections import Counter
from datetime import datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import jsonschema
import polars as pl
import pytest

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES, Run
from support.server.data_samples import FILES

pytestmark = pytest.mark.thorough

SCHEMA: Final = "KAFKA_REPLICA_ESS_SCHEMA"
"""The variable with the path of ``validation_report_1.0.1.json`` of github.com/data-cleaning/ValidatReport.

Its repository has no licence, so that the schema is not copied here.
"""
_VOID: Final = {"meta", "rect"}


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of the sample dataflow."""
    return compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)


@pytest.fixture
def data(rules: Rules, tmp_path: Path) -> Path:
    """A file of sixty rows: unknown codes, one with special characters; unreadable values; an unknown column."""
    number = pl.int_range(pl.len())
    frame = pl.DataFrame(generate_rows(rules, 60, 1), infer_schema_length=None).with_columns(
        SEX=pl.when(number < 2)
        .then(pl.lit("<script>&"))
        .when(number == 2)
        .then(pl.lit('a"\\\x01'))
        .when(number < 8)
        .then(pl.lit("Q"))
        .otherwise("SEX"),
        OBS_VALUE=pl.when(number.is_between(20, 23)).then(pl.lit("n/a")).otherwise("OBS_VALUE"),
        EXTRA=pl.lit("x"),
    )
    frame.write_csv(tmp_path / "data.csv")
    return tmp_path / "data.csv"


class _Page(HTMLParser):
    """The elements of a page: their names, attributes and texts; each end tag has to fit."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))


def test_the_page_shows_counts_examples_and_unchecked_rules(run: Run, data: Path, tmp_path: Path) -> None:
    """The page needs no other file and no script, escapes values, and its numbers and bars are those of the data."""
    out, same = tmp_path / "report.html", tmp_path / "report.json"
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o"]
    done = run("validate", data, *where, "--report", out, "--report", same)
    assert done.returncode == 3, done.stderr
    assert f"report in {out}" in done.stdout
    page = _Page(out.read_text())
    names = {tag for tag, _ in page.elements}
    assert not names & {"script", "link", "img", "iframe", "object"}
    assert not [one for _, given in page.elements for one in given if one.startswith("on") or one in {"src", "href"}]
    assert ("meta", "default-src 'none'; style-src 'unsafe-inline'") in {
        (tag, given.get("content")) for tag, given in page.elements
    }
    assert "url(" not in out.read_text()
    cells = [text for tag, text in page.texts if tag == "td"]
    assert "<script>&" in cells
    at = cells.index("code-unknown")
    assert cells[at - 1 : at + 3] == ["error", "code-unknown", "SEX", "8"]
    assert f"{data}, line 2" in cells
    assert "column-unknown" in cells
    strong = [text for tag, text in page.texts if tag == "strong"]
    assert strong == ["12 of 60 rows were rejected (20.0 %)"]
    assert "".join(text for tag, text in page.texts if tag == "h2").count("Findings by") == 2
    widths = [float(given["width"] or 0) for tag, given in page.elements if tag == "rect"]
    assert widths[0] == 2 * widths[1]  # eight and four findings
    assert "All demands of the structure were checked." in [text for tag, text in page.texts if tag == "p"]
    written = (tmp_path / "o" / "report.json").read_bytes()
    assert same.read_bytes() == written


def test_the_page_lists_unchecked_rules_with_the_reason(run: Run, data: Path, tmp_path: Path) -> None:
    """Demands that could not be checked are listed with the reason."""
    frame = pl.read_csv(data, infer_schema=False).with_columns(OBS_STATUS=pl.lit([b"x"], pl.List(pl.Binary)))
    frame.write_parquet(tmp_path / "data.parquet")
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--format", "parquet"]
    done = run("validate", tmp_path / "data.parquet", *where, "--report", tmp_path / "r.html")
    assert done.returncode == 3, done.stderr
    page = _Page((tmp_path / "r.html").read_text())
    assert [text for tag, text in page.texts if tag == "li"] == ["OBS_STATUS: values in a column of its type"]


def test_rules_that_are_switched_off_were_not_checked(run: Run, data: Path, tmp_path: Path) -> None:
    """All reports name the rules that were switched off, and no others."""
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--rules", "code-unknown=off"]
    reports = ["--rules", "pattern=off", "--report", tmp_path / "r.html", "--report", tmp_path / "r.ess.json"]
    assert run("validate", data, *where, *reports).returncode == 3
    page = _Page((tmp_path / "r.html").read_text())
    off = ["code-unknown", "pattern"]
    assert [text for tag, text in page.texts if tag == "li"] == [f"rule {one}: it was switched off" for one in off]
    assert json.loads((tmp_path / "o" / "report.json").read_text())["switched_off"] == off
    found = json.loads((tmp_path / "r.ess.json").read_text())
    assert [one["rule"]["expression"] for one in found if one["value"] == "NA"] == off
    assert not [one for one in found if one["value"] == "1" and one["rule"]["expression"].startswith("code-unknown")]


def test_the_report_of_the_ess(run: Run, data: Path, rules: Rules, tmp_path: Path) -> None:
    """Each finding is a validation with value 0, each rule without findings one with 1; counts are aggregations."""
    out = tmp_path / "report.ess.json"
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o"]
    assert run("validate", data, *where, "--report", out).returncode == 3
    found: list[dict[str, Any]] = json.loads(out.read_text())
    assert len({one["id"] for one in found}) == len(found)
    for one in found:
        assert one["type"] in {"validation", "aggregation"}
        assert datetime.fromisoformat(one["event"]["time"]).tzinfo is not None
        assert one["event"]["actor"].startswith("kafka-replica ")
        assert all(isinstance(key, list) for part in ("source", "target") for key in one["data"][part])
    findings = [one for one in found if one.get("value") == "0" and one["type"] == "validation"]
    assert Counter(finding["rule"]["expression"] for finding in findings) == {
        "column-unknown EXTRA": 1, "code-unknown SEX": 8, "text-type OBS_VALUE": 4,
    }  # fmt: skip
    lines = data.read_text().splitlines()
    for finding in findings[1:]:
        line = re.fullmatch(rf"{re.escape(str(data))}, line (\d+): (.*)", finding["data"]["description"])
        assert line is not None
        ((flow, period, series, component),) = finding["data"]["target"]
        assert flow == str(rules.artefact)
        assert component in {"SEX", "OBS_VALUE"}
        row = next(csv.DictReader([lines[0], lines[int(line[1]) - 1]]))
        assert series == ".".join(row[name] for name in ("FREQ", "REF_AREA", "INDICATOR", "SEX"))
        assert (row["TIME_PERIOD"], row[component]) == (period, line[2])
    kept = {one["rule"]["expression"] for one in found if one["type"] == "validation" and one["value"] == "1"}
    assert "code-unknown FREQ" in kept
    assert "code-unknown SEX" not in kept
    counts = {one["aggregate"]["expression"]: one["value"] for one in found if one["type"] == "aggregation"}
    assert counts == {"count code-unknown SEX": "8", "count text-type OBS_VALUE": "4"}


def test_the_report_of_the_ess_fits_its_schema(run: Run, data: Path, tmp_path: Path) -> None:
    """Reports with and without findings, and of data with unchecked values, are valid by the published schema."""
    if SCHEMA not in os.environ:
        pytest.skip(f"NOT TESTED: reports of the ESS; {SCHEMA} does not name the published schema")
    schema = json.loads(Path(os.environ[SCHEMA]).read_text())
    validator = jsonschema.Draft4Validator(schema)
    frame = pl.read_csv(data, infer_schema=False)
    frame.with_columns(OBS_STATUS=pl.lit([b"x"], pl.List(pl.Binary))).write_parquet(tmp_path / "unchecked.parquet")
    frame.slice(30).write_csv(tmp_path / "good.csv")
    values = set()
    for name in ("data.csv", "unchecked.parquet", "good.csv"):
        out = tmp_path / f"{name}.ess.json"
        where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / name.partition(".")[0]]
        run("validate", tmp_path / name, *where, "--format", "parquet", "--report", out)
        found = json.loads(out.read_text())
        validator.validate(found)
        values |= {one["value"] for one in found if one["type"] == "validation"}
    assert values == {"0", "1", "NA"}
    found[0]["value"] = "2"
    assert not validator.is_valid(found)


def test_reports_of_maps(run: Run, tmp_path: Path) -> None:
    """A mapping writes its report as a page, as JSON and in the form of the ESS."""
    assert run("samples", tmp_path / "s").returncode == 0
    where = ["--map", "KR_DEMO:LABOUR_TO_PANEL(1.0)", "--structures", tmp_path / "s", "--out", tmp_path / "o"]
    reports = [part for name in ("a.html", "a.json", "a.ess.json") for part in ("--report", tmp_path / name)]
    done = run("map", tmp_path / "s" / "labour_data.csv", *where, *reports)
    assert done.returncode == 3, done.stderr
    assert "unmapped-value" in (tmp_path / "a.html").read_text()
    findings = json.loads((tmp_path / "a.ess.json").read_text())
    assert {(finding["type"], finding["value"]) for finding in findings} == {("validation", "0"), ("aggregation", "1")}


def test_reports_that_are_refused(run: Run, data: Path, tmp_path: Path) -> None:
    """An unknown ending is refused, and so is an earlier report unless it is to be replaced."""
    where = ["--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--report"]
    done = run("validate", data, *where, tmp_path / "report.pdf")
    assert (done.returncode, ".html, .json, .ess.json" in done.stderr.replace("\n", " ")) == (2, True)
    (tmp_path / "report.html").write_text("old")
    assert run("validate", data, *where, tmp_path / "report.html").returncode == 2
    assert (tmp_path / "report.html").read_text() == "old"
    assert not (tmp_path / "o").exists()
    assert run("validate", data, *where, tmp_path / "report.html", "--overwrite").returncode == 3
    assert (tmp_path / "report.html").read_text().startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("name", "place", "added", "expected_texts"),
    [
        (
            "ml21.xml", b"</m:StructureSpecificData>",
            b'<m:Footer><m:Message code="413" severity="Warning"><c:Text>Only &lt;some&gt; rows</c:Text>%s</m:Footer>'
            % b'<c:Text xml:lang="fr">Une partie</c:Text></m:Message><m:Message code="1"/>',
            ["Warning 413: Only <some> rows / Une partie", "1"],
        ),
        (
            "json2.json", b'{"', b'{"errors":[{"code":413,"title":"Too much","detail":"Only <some> rows"},{}],"',
            ["error 413: Too much: Only <some> rows", "error"],
        ),
    ],
)  # fmt: skip
def test_reports_contain_footers_and_errors_of_messages(
    name: str, place: bytes, added: bytes, expected_texts: list[str], run: Run, tmp_path: Path
) -> None:
    """Messages in the footer of SDMX-ML, and errors in SDMX-JSON, are in the report, on its page and on stderr."""
    before, found, after = FILES[name].partition(place)
    assert found
    data = tmp_path / name
    data.write_bytes(before + added + (after if name.endswith("json") else found + after))
    page = tmp_path / "r.html"
    done = run("validate", data, "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--report", page)
    notes = [f"{data}: {expected_text}" for expected_text in expected_texts]
    assert json.loads((tmp_path / "o" / "report.json").read_text())["notes"] == notes
    texts = [text for tag, text in _Page(page.read_text()).texts if tag == "li"]
    assert set(notes) <= set(texts)
    assert all(expected_text in done.stderr for expected_text in expected_texts)
