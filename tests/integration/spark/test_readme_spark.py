"""The programs for Spark in README.md and on two pages run as they are written there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import kafka_replica_spark
from kafka_replica import Snapshot
from kafka_replica.sdmx.samples import extra_files, sample_files
from support.doc_blocks import programs


@pytest.fixture
def page(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the sample data, which is the current one; the pages get the session of all tests."""
    (tmp_path / "samples").mkdir()
    for file in extra_files():
        shutil.copy(file, tmp_path / "samples")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(kafka_replica_spark, "session", lambda _name: spark)
    return tmp_path


@pytest.mark.long
@pytest.mark.runs("README.md", containing="kafka_replica_spark")
def test_the_readme(page: Path, demo: Snapshot) -> None:
    """Codes are in a data frame; two rows of the sample are rejected."""
    (program,) = programs("README.md", containing="kafka_replica_spark")
    names: dict[str, Any] = {"snapshot": demo}
    exec(program.replace('"samples/', f'"{page}/samples/'), names)
    assert (names["good"].count(), names["bad"].count()) == (25, 2)
    assert names["codes"].count() > 20


@pytest.mark.long
@pytest.mark.runs("docs/sdmx-csv.md")
def test_sdmx_csv(page: Path, demo: Snapshot) -> None:
    """A data set is read, checked, and written as SDMX-CSV."""
    (program,) = programs("docs/sdmx-csv.md")
    data = page / "samples" / "labour_data.csv"
    for old, new in {"ESTAT:NA_MAIN(1.6)": "KR_DEMO:LABOUR(1.0)", "data/na_main": str(data)}.items():
        program = program.replace(old, new)
    replica = type("Replica", (), {"snapshot": lambda _self: demo})()
    names: dict[str, Any] = {"replica": replica}
    exec(program.replace('"checked"', f'"{page}/checked"'), names)
    assert list(page.glob("checked/*.csv"))


@pytest.mark.long
@pytest.mark.runs("docs/guide-spark.md", containing="read_files")
def test_the_guide(page: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Two rows are rejected, and shown with their errors."""
    for file in sample_files():
        shutil.copy(file, page / "samples")
    (program,) = programs("docs/guide-spark.md", containing="read_files")
    names: dict[str, Any] = {}
    exec(program.replace('csv("samples/', f'csv("{page}/samples/'), names)
    assert names["good"].count() == 25
    assert "code-unknown" in capsys.readouterr().out
