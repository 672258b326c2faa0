"""The engine ``spark`` of the commands writes what the local engine writes."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.jobs import Engine, Outcome, ValidationJob, engine, sources_of
from kafka_replica.local.datasets import read_sdmx_csv, write_sdmx_csv
from kafka_replica.rules import compile_rules, fitting_rows
from kafka_replica.sdmx import Snapshot, Structures

_ORDER = ["TIME_PERIOD", "REF_AREA", "SEX", "INDICATOR", "FREQ"]


@pytest.mark.usefixtures("spark")
def test_both_engines_write_the_same(demo: Snapshot, spark: SparkSession, tmp_path: Path) -> None:
    """Good rows, rejected rows with their errors in words, counts and the report are the same."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(fitting_rows(rules, 100, 1), infer_schema_length=None)
    bad = rows.with_columns(SEX=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("Q")).otherwise("SEX"))
    write_sdmx_csv(bad.head(60), tmp_path / "data.csv", rules)
    bad.tail(40).write_parquet(tmp_path / "rest.parquet")
    sources = sources_of([str(tmp_path / "data.csv"), str(tmp_path / "rest.parquet")])
    found: dict[str, Outcome] = {}
    for name in ("local", "spark"):
        runs: Engine = engine(name)
        job = ValidationJob(sources=sources, rules=rules, out=tmp_path / name, time_format="normalized")
        job.out.mkdir()
        found[name] = runs.validate(job, lambda words: None)
    assert found["local"] == found["spark"]
    assert (found["local"].good_rows, found["local"].rejected_rows) == (97, 3)
    for what in ("good.csv", "rejected.csv"):
        one, other = (read_sdmx_csv(tmp_path / name / what).sort(_ORDER) for name in ("local", "spark"))
        assert one.equals(other)
        assert one.height
