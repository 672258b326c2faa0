"""The progress of commands on data."""

from __future__ import annotations

import io
import re
import sys
import zipfile
from pathlib import Path

import polars as pl
import pytest

from kafka_replica.cli import progress as cli_progress
from kafka_replica.cli.progress import progress_text, shown_progress
from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.jobs import Progress, ValidationJob, engine, sources_of
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.source_rows import BatchSize
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES, Run
from support.server.data_samples import FILES


@pytest.fixture(scope="module")
def rules() -> Rules:
    """The rules of the sample dataflow."""
    return compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)


@pytest.mark.parametrize(
    ("progress", "elapsed_s", "words"),
    [
        (Progress("x"), 1.0, ""),
        (Progress("x", rows=5), 1.0, "5 rows"),
        (Progress("x", 0, 100, rows=0), 0.0, "0 rows, 0 bytes of 100 bytes"),
        (Progress("x", 2_000_000, 4_000_000, rows=1000), 2.0,
         "1,000 rows, 2.0 MB of 4.0 MB, 500 rows/s, 1.0 MB/s, 2 s left"),
        (Progress("x", 1, 101, "checks", 7), 1.5, "7 rows, 1 of 101 checks, 2 min 30 s left"),
        (Progress("x", 101, 101, "checks", 7), 1.5, "7 rows, 101 of 101 checks"),
    ],
)  # fmt: skip
def test_numbers_rates_and_time_left(progress: Progress, elapsed_s: float, words: str) -> None:
    """Rates and time left follow from what is done and the time since the step began."""
    assert progress_text(progress, elapsed_s) == words


@pytest.mark.long
def test_the_engine_reports_bytes_rows_and_checks(rules: Rules, tmp_path: Path) -> None:
    """Bytes are those of the files as stored, rows those that were read; nothing decreases within a step."""
    frame = pl.DataFrame(generate_rows(rules, 12_000, 1), infer_schema_length=None)
    frame.head(1000).write_csv(tmp_path / "a.csv")
    (tmp_path / "b.xml").write_bytes(FILES["ml30.xml"])
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as archive:
        archive.writestr("c.csv", frame.head(10).write_csv())
        archive.writestr("d.csv", frame.tail(10).write_csv())
    seen: list[Progress] = []
    (tmp_path / "out").mkdir()
    job = ValidationJob(sources=sources_of([str(tmp_path)]), rules=rules, out=tmp_path / "out")
    done = LocalEngine(BatchSize(bytes=10_000)).validate(job, seen.append)
    sizes = {path.name: path.stat().st_size for path in tmp_path.iterdir() if path.is_file()}
    reading = [one for one in seen if one.step == "validating"]
    rows = 1000 + FILES["ml30.xml"].count(b"<Obs") + 20
    assert reading[-1].rows == done.report.rows == rows
    assert reading[-1].done == reading[-1].total
    assert abs((reading[-1].total or 0) - sum(sizes.values())) <= 1
    inside = [one for one in reading if 0 < (one.done or 0) < sizes["a.csv"]]
    assert len(inside) >= sizes["a.csv"] // 10_000 - 1
    assert all(0 < (one.rows or 0) < 1000 for one in inside)
    assert sizes["a.csv"] in {one.done for one in reading}
    for key in ("done", "rows"):
        values = [getattr(one, key) for one in reading]
        assert values == sorted(values)


@pytest.mark.thorough
def test_messages_report_rows_while_they_are_read(rules: Rules, tmp_path: Path) -> None:
    """Rows of a message are counted before the file has been read to its end."""
    (first,) = set(re.findall(rb"<Obs [^>]*SEX=\"F\"[^>]*TIME_PERIOD=\"2024\"[^>]*/>", FILES["ml30.xml"])[:1])
    (tmp_path / "x.xml").write_bytes(FILES["ml30.xml"].replace(first, first * 25_000))
    seen: list[Progress] = []
    (tmp_path / "out").mkdir()
    job = ValidationJob(sources=sources_of([str(tmp_path / "x.xml")]), rules=rules, out=tmp_path / "out")
    engine("local").validate(job, seen.append)
    before_the_end = {one.rows or 0 for one in seen if one.step == "reading data" and one.done == 0}
    assert min(before_the_end) == 0
    assert len([rows for rows in before_the_end if 0 < rows <= 25_000]) >= 2


@pytest.mark.thorough
def test_lines_without_a_terminal(run: Run, rules: Rules, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A short run prints no line; a long one prints steps with their numbers on stderr, or none if it is quiet."""
    pl.DataFrame(generate_rows(rules, 50, 1), infer_schema_length=None).write_csv(tmp_path / "data.csv")
    where = [tmp_path / "data.csv", "--flow", FLOW, "--structures", SAMPLES, "--out", tmp_path / "o", "--overwrite"]
    assert "reading data" not in run("validate", *where).stderr
    monkeypatch.setattr(cli_progress, "LINE_EVERY_S", 0)
    done = run("validate", *where)
    size = (tmp_path / "data.csv").stat().st_size
    assert "kafka-replica: reading structures\n" in done.stderr
    assert f"kafka-replica: validating: 50 rows, {size / 1000:.1f} kB of {size / 1000:.1f} kB" in done.stderr
    assert "50 good" in done.stdout
    quiet = run("validate", *where, "--quiet")
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")
    assert run("validate", *where, "--quiet", "--json").stdout.startswith("{")
    wrong = run("validate", *where[:-1], "--quiet")
    assert (wrong.returncode, "--overwrite" in wrong.stderr) == (2, True)


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal shows the step and its numbers."""
    shown = io.StringIO()
    monkeypatch.setattr(sys, "stderr", shown)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    with shown_progress(quiet=False) as step:
        step(Progress("reading [data]", 50, 100, rows=1234))
    assert "reading [data]" in shown.getvalue()
    assert "1,234 rows, 50 bytes of 100 bytes" in shown.getvalue()
