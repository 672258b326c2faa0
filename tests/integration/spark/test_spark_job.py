"""The engine ``spark`` of the commands writes what the local engine writes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs import Engine, Outcome, ValidationJob, engine, sources_of
from kafka_replica.data.polars.datasets import read_sdmx_csv, write_sdmx_csv
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.data.validation.locations import Location
from kafka_replica.errors import ConfigurationError
from kafka_replica.sdmx import Snapshot, Structures

_ORDER = ["TIME_PERIOD", "REF_AREA", "SEX", "INDICATOR", "FREQ"]


@pytest.mark.long
@pytest.mark.usefixtures("spark")
def test_both_engines_write_the_same(demo: Snapshot, spark: SparkSession, tmp_path: Path) -> None:
    """Good rows, rejected rows with their errors in words, counts and the report are the same."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 100, 1), infer_schema_length=None)
    bad = rows.with_columns(SEX=pl.when(pl.int_range(pl.len()) < 3).then(pl.lit("Q")).otherwise("SEX"))
    write_sdmx_csv(bad.head(60), tmp_path / "data.csv", rules)
    bad.slice(60, 20).write_parquet(tmp_path / "more.parquet")
    bad.slice(80, 10).with_columns(pl.col("FREQ").cast(pl.Categorical)).write_ipc(tmp_path / "rest.arrow")
    bad.tail(10).write_ipc_stream(tmp_path / "rest.arrows")
    sources = sources_of([str(tmp_path / "data.csv"), *map(str, sorted(tmp_path.glob("*.[pa]*")))])
    found: dict[str, Outcome] = {}
    for name in ("local", "spark"):
        runs: Engine = engine(name)
        job = ValidationJob(sources=sources, rules=rules, out=tmp_path / name, time_format="normalized")
        job.out.mkdir()
        found[name] = runs.validate(job, lambda words: None)
    assert _without_locations(found["local"]) == found["spark"]
    assert {sample.location.line for sample in found["local"].report.samples} <= {2, 3, 4}
    assert (found["local"].good_rows, found["local"].rejected_rows) == (97, 3)
    for what in ("good.csv", "rejected.csv"):
        one, other = (read_sdmx_csv(tmp_path / name / what).sort(_ORDER) for name in ("local", "spark"))
        assert one.equals(other)
        assert one.height


def _without_locations(outcome: Outcome) -> Outcome:
    """Return an outcome of the local engine as Spark reports it, which does not know the locations of rows."""
    samples = tuple(sample._replace(location=Location()) for sample in outcome.report.samples)
    return replace(outcome, report=replace(outcome.report, samples=samples))


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_line_breaks_in_cells_need_an_option(demo: Snapshot, tmp_path: Path) -> None:
    """Line breaks within cells need an option on Spark; the error that rejects them names it."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 2, 1), infer_schema_length=None)
    write_sdmx_csv(rows.with_columns(OWN=pl.lit("two\nlines")), tmp_path / "data.csv", rules)
    sources = sources_of([str(tmp_path / "data.csv")])
    runs = engine("spark")
    assert runs.writes_here
    with pytest.raises(DatasetError, match=r"data\.csv: a row has more or fewer cells .* use --line-breaks"):
        runs.validate(ValidationJob(sources=sources, rules=rules, out=tmp_path), lambda words: None)
    listing = ValidationJob(sources=sources, rules=rules, out=tmp_path, findings=tmp_path / "findings.xlsx")
    with pytest.raises(ConfigurationError, match="Spark writes no workbooks"):
        runs.validate(listing, lambda words: None)
    done = runs.validate(
        ValidationJob(sources=sources, rules=rules, out=tmp_path, line_breaks=True), lambda words: None
    )
    assert (done.good_rows, done.rejected_rows) == (2, 0)


@pytest.mark.long
@pytest.mark.usefixtures("spark", "uncompiled")
def test_both_engines_read_the_same(demo: Snapshot, tmp_path: Path) -> None:
    """UTF-16, earlier rejected rows, and rows of other structures are read alike; an empty file is invalid."""
    rules = compile_rules(Structures(demo), "KR_DEMO:LABOUR(1.0)")
    rows = pl.DataFrame(generate_rows(rules, 3, 1), infer_schema_length=None)
    errors = pl.lit(None, pl.List(pl.String))
    rows[:1].with_columns(_errors=errors).write_parquet(tmp_path / "rejected.parquet")
    write_sdmx_csv(rows[1:2].with_columns(ERRORS=pl.lit("x")), tmp_path / "rejected.csv", rules)
    (tmp_path / "plain.csv").write_bytes(rows[2:].write_csv().encode("utf-16"))
    (tmp_path / "other.csv").write_text("DATAFLOW,SEX\nKR_DEMO:OTHER(1.0),F\n")
    (tmp_path / "empty.csv").touch()
    names = ("rejected.parquet", "rejected.csv", "plain.csv", "other.csv")
    found = {}
    for name in ("local", "spark"):
        out = tmp_path / name
        out.mkdir()
        job = ValidationJob(sources=sources_of([str(tmp_path / one) for one in names]), rules=rules, out=out)
        found[name] = engine(name).validate(job, lambda words: None)
        assert "ERRORS" not in read_sdmx_csv(out / "good.csv").columns
        with pytest.raises(DatasetError, match="the file is empty"):
            engine(name).validate(replace(job, sources=sources_of([str(tmp_path / "empty.csv")])), lambda words: None)
    assert _without_locations(found["local"]) == found["spark"]
    assert (found["local"].good_rows, found["local"].other_rows) == (3, 1)
