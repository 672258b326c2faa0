"""Frames whose columns have different types are combined without changing a value, as Spark's tests show of Spark."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from kafka_replica.cli.structure_source import snapshot_of_files
from kafka_replica.data.errors import DatasetError
from kafka_replica.data.jobs import ValidationJob, sources_of
from kafka_replica.data.polars.datasets import read_sdmx_csv
from kafka_replica.data.polars.job import LocalEngine
from kafka_replica.data.polars.unions import union_of
from kafka_replica.data.validation import compile_rules, generate_rows
from kafka_replica.sdmx import Structures
from support.cli.data_runs import FLOW, SAMPLES
from support.datasets.union_cases import union_frames


def test_columns_of_different_types_are_combined_without_changing_a_value() -> None:
    """Integers stay integers; values of other types that differ become the texts that validation compares."""
    one, other, expected = union_frames()
    assert union_of([one, other], "data").to_dict(as_series=False) == expected.to_dict(as_series=False)


def test_texts_of_different_forms_get_the_form_that_represents_all() -> None:
    """Single texts become several texts, or texts by language; the names of fields in the files do not matter."""
    pairs = pl.List(pl.Struct({"key": pl.String(), "value": pl.String()}))
    frames = [
        pl.DataFrame({"l": ["a", None], "m": ["b", None], "n": [1.5, None]}),
        pl.DataFrame(
            {"l": [[{"key": "en", "value": "c"}]], "m": [["d", "e"]], "n": [[]]},
            schema={"l": pairs, "m": pl.List(pl.String()), "n": pl.List(pairs)},
        ),
    ]
    text = {"language": "und", "text": "a"}
    assert union_of(frames, "data").to_dicts() == [
        {"l": [text], "m": ["b"], "n": [[text | {"text": "1.5"}]]},
        {"l": None, "m": None, "n": None},
        {"l": [{"language": "en", "text": "c"}], "m": ["d", "e"], "n": []},
    ]


def test_unsigned_integers_and_records_are_combined() -> None:
    """Unsigned integers of 64 bits have no type in common with signed ones; polars combines records."""
    frames = [
        pl.DataFrame({"n": [2**64 - 1], "r": [{"x": 1}]}, schema_overrides={"n": pl.UInt64()}),
        pl.DataFrame({"n": [-1], "r": [{"x": 0.5}], "only": [1]}),
    ]
    assert union_of(frames, "data").to_dicts() == [
        {"n": "18446744073709551615", "r": {"x": 1.0}, "only": None}, {"n": "-1", "r": {"x": 0.5}, "only": 1},
    ]  # fmt: skip


def test_columns_that_have_no_common_form_are_refused() -> None:
    """Binary values and texts cannot be combined; the error names the column, its types and the files."""
    frames = [pl.DataFrame({"n": ["a"]}), pl.DataFrame({"n": [b"b"]})]
    with pytest.raises(DatasetError, match=r"reading a\.csv and 1 more: column n has .*: Binary, String; read these"):
        union_of(frames, "a.csv and 1 more")


@pytest.mark.thorough
def test_rows_of_several_files_have_the_findings_and_values_of_each_file_alone(tmp_path: Path) -> None:
    """Numbers, times and several values in one file change no row of another: all rows stay valid, as written."""
    rules = compile_rules(Structures(snapshot_of_files((SAMPLES,))), FLOW)
    rows = pl.DataFrame(generate_rows(rules, 8, 1), infer_schema_length=None).with_columns(pl.lit("A").alias("FREQ"))
    rows = rows.with_columns(TIME_PERIOD=pl.format("{}", pl.int_range(2001, 2009)), OBS_VALUE=pl.lit("3.7"))
    typed = pl.col("DECIMALS").cast(pl.Float64), pl.lit(3.7, pl.Float32).alias("OBS_VALUE")
    rows[:2].with_columns(typed).write_parquet(tmp_path / "a.parquet")
    rows[2:4].with_columns(OBS_VALUE=pl.lit(3.7)).write_ipc(tmp_path / "b.arrow")
    rows[4:6].write_csv(tmp_path / "c.csv")
    several = rows[6:].with_columns(OBS_STATUS=pl.concat_list(pl.lit("A"))).rename({"OBS_STATUS": "OBS_STATUS[]"})
    own = several.with_columns(pl.col("OBS_STATUS[]").list.join(";"))
    own.select(
        pl.lit("dataflow").alias("STRUCTURE[;]"), pl.lit(FLOW).alias("STRUCTURE_ID"), *own.columns
    ).write_csv(tmp_path / "d.csv")  # fmt: skip
    (out := tmp_path / "out").mkdir()
    job = ValidationJob(sources=sources_of(map(str, sorted(tmp_path.glob("*.*")))), rules=rules, out=out)
    done = LocalEngine().validate(job, lambda progress: None)
    assert (done.good_rows, done.report.counts) == (8, {})
    good = read_sdmx_csv(out / "good.csv")
    assert [*good["DECIMALS"]] == [*rows["DECIMALS"]]
    assert set(good["OBS_VALUE"]) == {"3.7"}
