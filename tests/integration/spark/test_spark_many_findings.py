"""Millions of findings on Spark, in a driver with little memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from kafka_replica.sdmx.samples import sample_files
from support.effort import usual_or_long

_ROWS = usual_or_long(1_000_000, 1_000_000, 2_000_000)
_LISTED = _ROWS * 3 // 4


def _write(path: Path) -> None:
    """Write rows that all have an unknown code, each in a series of its own; every other one has no number."""
    number = pl.int_range(_ROWS, eager=True)
    pl.select(
        FREQ=pl.lit("A"), REF_AREA=pl.lit("BE"), INDICATOR=pl.lit("EMP"), SEX=pl.format("Q{}", number),
        TIME_PERIOD=(number % 1000 + 1000).cast(pl.String), UNIT_MEASURE=pl.lit("KPS"), OBS_STATUS=pl.lit("A"),
        DECIMALS=pl.lit("1"), OBS_VALUE=pl.when(number % 2 == 0).then(pl.lit("much")).otherwise(pl.lit("1.5")),
    ).write_csv(path)  # fmt: skip


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_millions_of_findings_in_one_gigabyte(tmp_path: Path) -> None:
    """All are counted, the first half of them is listed in order, and the heap of 1 GB suffices.

    It did not while Spark cached batches of 10,000 rows, and selected the first findings in memory.
    """
    _write(tmp_path / "data.csv")
    command = [
        str(Path(sys.executable).with_name("kafka-replica")), "validate", "data.csv", "--flow", "KR_DEMO:LABOUR(1.0)",
        "--structures", str(sample_files()[0].parent), "--engine", "spark", "--out", "checked",
        "--findings", "findings.parquet", "--max-findings", str(_LISTED), "--report", "report.html",
    ]  # fmt: skip
    memory = {"PYSPARK_SUBMIT_ARGS": "--driver-memory 1g pyspark-shell"}
    done = subprocess.run(
        command, cwd=tmp_path, env=os.environ | memory, capture_output=True, text=True, timeout=3000, check=False
    )
    assert done.returncode == 3, (done.stdout, done.stderr[-4000:])
    report = json.loads((tmp_path / "checked" / "report.json").read_bytes())
    assert (report["rows"], report["bad_rows"]) == (_ROWS, _ROWS)
    assert sorted(one["count"] for one in report["counts"]) == [_ROWS // 2, _ROWS]
    assert report["listed_findings"] == _LISTED
    assert f"{_ROWS:,}" in (tmp_path / "report.html").read_text(encoding="utf-8")
    rows = pl.read_parquet(tmp_path / "findings.parquet", columns=["row"])["row"]
    expected = pl.int_range(1, _LISTED * 2 // 3 + 1, dtype=pl.UInt32, eager=True)
    assert rows.equals(expected.repeat_by(2 - (expected + 1) % 2).explode())
