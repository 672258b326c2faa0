"""Frames whose columns have different types are combined without changing a value."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.errors import DatasetError
from kafka_replica_spark.unions import union_of
from support.datasets.union_cases import union_frames

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("uncompiled")]


def test_columns_of_different_types_are_combined_as_texts(spark: SparkSession) -> None:
    """Numbers become the texts that validation compares, single values become several, texts get a language."""
    frames = [
        spark.sql("SELECT 1 n, 0.1f x, 1e-7d y, 2.50BD z, 'a' s, 'b' l, 'c' m, 1 same, 'own' only"),
        spark.sql(
            "SELECT '010' N, 'x' x, '2' y, '1.250' z, array('b', 'c') s, map('en', 'd') l, array(map('fr', 'e')) m, "
            "2 same"
        ),
        spark.sql("SELECT 2L n, 5.0d x, NULL y, 3 z, CAST(NULL AS STRING) s, NULL l, array('f') m, 3 same"),
    ]
    rows = [row.asDict(recursive=True) for row in union_of(frames, "data").collect()]
    assert rows == [
        {"n": "1", "x": "0.1", "y": "0.0000001", "z": "2.5", "s": ["a"], "l": {"und": "b"}, "m": [{"und": "c"}],
         "same": 1, "only": "own"},
        {"n": "010", "x": "x", "y": "2", "z": "1.250", "s": ["b", "c"], "l": {"en": "d"}, "m": [{"fr": "e"}],
         "same": 2, "only": None},
        {"n": "2", "x": "5", "y": None, "z": "3", "s": None, "l": None, "m": [{"und": "f"}], "same": 3, "only": None},
    ]  # fmt: skip


def test_both_engines_combine_files_alike(spark: SparkSession, tmp_path: Path) -> None:
    """Numbers and times of different types become the texts that they would be alone, as on the local engine."""
    one, other, expected = union_frames()
    files = [str(tmp_path / "one.parquet"), str(tmp_path / "other.parquet")]
    for file, frame in zip(files, (one, other), strict=True):
        frame.write_parquet(file)
    rows = union_of([spark.read.parquet(file) for file in files], "data").collect()
    assert [row.asDict() for row in rows] == expected.to_dicts()


def test_integers_and_records_of_different_types_are_combined_by_spark(spark: SparkSession) -> None:
    """Spark combines these, and a column without any value takes the type of the others."""
    frames = [
        spark.sql("SELECT 1 AS a, TIMESTAMP'2020-01-02 03:04:05' AS b, named_struct('x', 1) AS c, NULL AS d"),
        spark.sql("SELECT 2L AS a, TIMESTAMP_NTZ'2020-01-02 03:04:05' AS b, named_struct('x', 2L) AS c, 'd' AS d"),
    ]
    found = union_of(frames, "files")
    assert [kind for _, kind in found.dtypes] == ["bigint", "string", "struct<x:bigint>", "string"]
    assert [(row.b, row.d) for row in found.orderBy("a").collect()] == [("2020-01-02T03:04:05", d) for d in (None, "d")]


def test_columns_that_have_no_common_form_are_refused(spark: SparkSession) -> None:
    """Binary values and texts cannot be combined; the error names the column, its types and the files."""
    frames = [spark.sql("SELECT 'a' n"), spark.sql("SELECT X'00' n")]
    with pytest.raises(DatasetError, match=r"reading data and 1 more: column n has .* combined: binary, string"):
        union_of(frames, "data and 1 more")
