"""The table of findings of a job on Spark is that of the local engine."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.jobs import Job, MappingJob, Outcome, ValidationJob, engine, sources_of
from kafka_replica.data.polars.datasets import write_sdmx_csv
from kafka_replica.data.validation import Rules, compile_rules, generate_rows
from kafka_replica.sdmx import Snapshot, Structures
from kafka_replica_spark import job as job_of_spark
from kafka_replica_spark import message_tables
from support.mapping.map_cases import one
from support.mapping.maps_by_hand import plan_of
from support.rules.structures_by_hand import coded, codelist, dimension, measure, rules_of, structure, time
from support.rules.structures_by_hand import version_of as hand_made
from support.server.data_samples import FILES

_UNKNOWN = ("part", "part_row", "line")
"""Columns that Spark does not fill for text and Parquet."""


def _rules(demo: Snapshot) -> Rules:
    return compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")


def _few_components() -> Rules:
    """Rules of a small structure with the components that ``_data`` changes: plans grow with each component."""
    sex, measured = dimension("SEX", coded("SEX")), measure()
    return rules_of(hand_made(codelist("SEX", ["F", "M", "T"]), structure(sex, time(), measured)))


def _data(rules: Rules, rows: int) -> pl.DataFrame:
    """Rows of which each seventh has an unknown code, and some a value that is not a number."""
    made = pl.DataFrame(generate_rows(rules, rows, 1), infer_schema_length=None)
    number = pl.int_range(pl.len())
    return made.with_columns(
        SEX=pl.when(number % 7 == 0).then(pl.lit('Q"x')).otherwise("SEX"),
        OBS_VALUE=pl.when(number % 21 == 0).then(pl.lit("much")).otherwise(pl.col("OBS_VALUE").cast(pl.String)),
    )


def _run(name: str, job: Job) -> Outcome:
    runs = engine(name)
    return runs.map(job, _silent) if isinstance(job, MappingJob) else runs.validate(job, _silent)  # type: ignore[arg-type]


def _silent(_: object) -> None:
    pass


def _table(path: Path) -> pl.DataFrame:
    """Read the findings of either engine, all columns as texts."""
    if path.suffix == ".parquet":
        return pl.read_parquet(path).cast(pl.String)
    if path.suffix == ".jsonl":
        return pl.read_ndjson(path, infer_schema_length=None).cast(pl.String)
    return pl.read_csv(path, infer_schema=False)


def _both(tmp_path: Path, job: Job, kind: str) -> tuple[pl.DataFrame, pl.DataFrame, Outcome, Outcome]:
    tables, outcomes = [], []
    for name in ("local", "spark"):
        out = tmp_path / f"{name}-{kind}"
        out.mkdir(exist_ok=True)
        path = out / f"findings.{kind}"
        ess = (out / "report.ess.json",)
        outcomes.append(_run(name, replace(job, out=out, findings=path, ess_reports=ess)))
        tables.append(_table(path))
        assert not list(out.glob(".*-parts"))
    return tables[0], tables[1], outcomes[0], outcomes[1]


def _ess(path: Path) -> list[dict[str, Any]]:
    """Return the objects of a report, without times, and descriptions of locations, which may have lines or rows."""
    objects: list[dict[str, Any]] = json.loads(path.read_bytes())
    for each in objects:
        del each["event"]
        each["data"].pop("description", None)
    return objects


@contextmanager
def _small_blocks(spark: SparkSession) -> Iterator[None]:
    """Let Spark read files in small blocks, each in a partition of its own."""
    settings = {"spark.sql.files.maxPartitionBytes": "4000", "spark.sql.files.openCostInBytes": "0"}
    for name, value in settings.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name in settings:
            spark.conf.unset(name)


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
def test_findings_of_validation(spark: SparkSession, tmp_path: Path) -> None:
    """Findings have the files, rows and order of the local engine.

    The files are CSV in many blocks, small CSV, several of which are in a partition, compressed CSV, and Parquet.
    """
    rules = _few_components()
    rows = _data(rules, 200)
    write_sdmx_csv(rows[:110], tmp_path / "a data.csv", rules)
    rows[110:130].write_csv(tmp_path / "b.csv")
    rows[130:140].write_csv(tmp_path / "b2.csv")
    (tmp_path / "b3.csv.gz").write_bytes(gzip.compress(rows[140:160].write_csv().encode()))
    rows[160:].write_parquet(tmp_path / "c.parquet", row_group_size=20)
    names = ("a data.csv", "b.csv", "b2.csv", "b3.csv.gz", "c.parquet")
    sources = sources_of([str(tmp_path / name) for name in names])
    job = ValidationJob(sources=sources, rules=rules, out=tmp_path)
    with _small_blocks(spark):
        local, found, first, other = _both(tmp_path, job, "csv")
    assert found.drop(_UNKNOWN).equals(local.drop(_UNKNOWN))
    assert found.columns == local.columns
    assert first.listed_findings == other.listed_findings == local.height > 30
    assert set(local["file"]) == {str(tmp_path / name) for name in names}
    assert first.report.counts == other.report.counts
    assert _ess(tmp_path / "local-csv" / "report.ess.json") == _ess(tmp_path / "spark-csv" / "report.ess.json")


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled", "spark")
def test_a_dimension_without_a_column_is_an_empty_part_of_the_series(demo: Snapshot, tmp_path: Path) -> None:
    """Otherwise the codes of the other dimensions would seem to be those of their neighbours."""
    rules = _rules(demo)
    missing = rules.series[1]
    _data(rules, 8).drop(missing).write_csv(tmp_path / "data.csv")
    job = ValidationJob(sources=sources_of([str(tmp_path / "data.csv")]), rules=rules, out=tmp_path)
    local, found, first, other = _both(tmp_path, job, "csv")
    assert first.report.by_series == other.report.by_series
    for series in (*local["series"].drop_nulls(), *found["series"].drop_nulls(), *first.report.by_series):
        parts = series.split(".")
        assert len(parts) == len(rules.series)
        assert [not part for part in parts] == [name == missing for name in rules.series]


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled", "spark")
@pytest.mark.parametrize("runs_here", [True, False])
def test_findings_of_messages(
    demo: Snapshot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, runs_here: bool
) -> None:
    """Findings of messages of two batches, and of Arrow, have the lines and rows of the local engine.

    On a cluster, where the executors may have other files than the driver, a note says that it holds the rows.
    The folder for temporary files has a name in which Spark would expand characters, or decode them.
    """
    folder = tmp_path / "temporary [a b]{x}*?%20"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    monkeypatch.setattr(message_tables, "BATCH_ROWS", 14)
    monkeypatch.setattr(job_of_spark.SparkEngine, "_runs_here", runs_here)
    rules = _rules(demo)
    names = ("ml21.xml", "ml30.xml", "json1.json", "json2.json") if runs_here else ("ml30.xml", "json1.json")
    for name in names:
        # Each element of XML on a line of its own.
        (tmp_path / name).write_bytes(re.sub(rb">\s*<", b">\n<", FILES[name]))
    _data(rules, 20).write_ipc(tmp_path / "z.arrow")
    sources = sources_of([str(tmp_path / name) for name in (*names, "z.arrow")])
    assert {source.kind for source in sources} == {"message", "arrow"}
    local, found, first, other = _both(tmp_path, ValidationJob(sources=sources, rules=rules, out=tmp_path), "parquet")
    assert found.equals(local)
    assert local["line"].drop_nulls().n_unique() > 1
    assert local["path"].drop_nulls().n_unique() > 1
    assert (first.good_rows, first.rejected_rows) == (other.good_rows, other.rejected_rows)
    assert sum("driver" in note for note in other.notes) == (0 if runs_here else len(names))
    assert not list(folder.iterdir())


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("most_in_memory", [10, 100])
def test_findings_of_a_map(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most_in_memory: int
) -> None:
    """The first findings of a map are those of the local engine, however Spark selects them; the others are counted."""
    monkeypatch.setattr(job_of_spark, "_MOST_IN_MEMORY", most_in_memory)
    version = hand_made(*one("R", "A>x", "B>y", "B>z"))
    plan = plan_of(version)
    ends = [compile_rules(Structures(version), str(side.urn)) for side in (plan.source, plan.target)]
    rows = [{"A": "ABZ"[number % 3], "TIME_PERIOD": str(1900 + number % 100)} for number in range(600)]
    pl.DataFrame(rows).write_csv(tmp_path / "data.csv")
    job = MappingJob(
        sources=sources_of([str(tmp_path / "data.csv")]), rules=ends[0], out=tmp_path, plan=plan, target=ends[1],
        max_findings=70,
    )  # fmt: skip
    with _small_blocks(spark):
        local, found, first, other = _both(tmp_path, job, "jsonl")
    assert found.drop(_UNKNOWN).equals(local.drop(_UNKNOWN))
    assert first.listed_findings == other.listed_findings == local.height == 70
    assert first.report.counts == other.report.counts
    assert sum(first.report.counts.values()) >= 200
    reports = [_ess(tmp_path / f"{name}-jsonl" / "report.ess.json") for name in ("local", "spark")]
    assert len(reports[0]) == len(reports[1])
