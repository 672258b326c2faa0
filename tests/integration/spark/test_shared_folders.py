"""A job on a cluster writes only to a folder that the executors share with the driver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.jobs import ValidationJob, sources_of
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica.sdmx import Snapshot, Structures
from kafka_replica_spark import job as job_module
from kafka_replica_spark.job import SparkEngine
from kafka_replica_spark.shared_folders import check_shared


def _cluster(count: Callable[[list[str]], int]) -> Any:
    """Return a substitute for a session of two tasks, which reads files with a function."""
    read = SimpleNamespace(text=lambda files: SimpleNamespace(count=lambda: count(files)))
    return SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=2), read=read)


def _fails(files: list[str]) -> int:
    raise ValueError(f"File {files[0]} does not exist")


def _is_cancelled(files: list[str]) -> int:
    raise ValueError("Job 1 cancelled", files)


def test_a_folder_that_executors_cannot_read_is_refused(tmp_path: Path) -> None:
    """A folder is refused if one task finds no file of the driver; no file is left in the folder."""
    check_shared(_cluster(len), tmp_path)
    for count in (_fails, lambda files: len(files) - 1):
        with pytest.raises(ConfigurationError, match="whose executors cannot read this folder of the driver"):
            check_shared(_cluster(count), tmp_path)
    with pytest.raises(ValueError, match="Job 1 cancelled"):
        check_shared(_cluster(_is_cancelled), tmp_path)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(UsageError, match="No such file"):
        check_shared(_cluster(len), tmp_path / "none")


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
def test_a_job_on_a_cluster_writes_to_a_shared_folder(
    spark: SparkSession, demo: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Findings are written by the driver; an unshared folder is refused before anything is written."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 2, 1), infer_schema_length=None)
    rows.with_columns(SEX=pl.lit("Q")).write_parquet(tmp_path / "data.parquet")
    findings, sources = tmp_path / "findings.csv", sources_of([str(tmp_path / "data.parquet")])
    job = ValidationJob(sources=sources, rules=rules, out=tmp_path / "[out]", findings=findings)
    job.out.mkdir()
    monkeypatch.setattr(SparkEngine, "_runs_here", False)
    monkeypatch.setattr("kafka_replica_spark.finding_files._write_parts", _fails)
    SparkEngine().validate(job, lambda words: None)
    assert pl.read_csv(findings)["component"].to_list() == ["SEX", "SEX"]
    monkeypatch.setattr(job_module, "check_shared", lambda _, folder: check_shared(_cluster(_fails), folder))
    (tmp_path / "unshared").mkdir()
    with pytest.raises(ConfigurationError, match="executors cannot read this folder"):
        SparkEngine().validate(replace(job, out=tmp_path / "unshared"), lambda words: None)
    assert list((tmp_path / "unshared").iterdir()) == []
