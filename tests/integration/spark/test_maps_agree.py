"""Spark maps as polars does: the case table, generated maps and data, inverted maps."""

from __future__ import annotations

import random

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.mapping import MapPlan
from kafka_replica.data.polars import transform as local_transform
from kafka_replica.data.polars.reports import map_report as local_map_report
from kafka_replica.errors import UsageError
from kafka_replica_spark import split, transform
from kafka_replica_spark.reports import map_report
from support.effort import first_in_usual, usual_or_long
from support.mapping.case_rows import expected, mapped_rows
from support.mapping.generated_maps import made_map, made_rows
from support.mapping.map_cases import CASES, Case, one
from support.mapping.maps_by_hand import plan_of
from support.mapping.turned_maps import turned_map
from support.rules.structures_by_hand import table, version_of


def on_spark(spark: SparkSession, frame: pl.DataFrame, plan: MapPlan) -> pl.DataFrame:
    """Return Spark's result, in the order of polars."""
    made = pl.DataFrame(transform(spark.createDataFrame(frame.to_arrow()), plan).toArrow())
    assert isinstance(made, pl.DataFrame)
    return made


# Planning a case takes Spark a second.
_CASES = usual_or_long(CASES[::16], CASES[::8], CASES)


@pytest.mark.scaled
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("case", _CASES, ids=[case.name for case in _CASES])
def test_each_case_is_mapped_as_the_standard_requires(spark: SparkSession, case: Case) -> None:
    """Each row becomes what the standard requires, or has its findings; all fields are as on polars."""
    plan = plan_of(version_of(*case.contents), **case.settings)
    frame = table([row for row, _ in mapped_rows(case)])
    found = on_spark(spark, frame, plan)
    assert expected(case, found.to_dicts()) == [wanted for _, wanted in mapped_rows(case)]
    same(found, local_transform(frame, plan))


def same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    """Check for equal columns and rows; rows of one input may be in any order."""
    assert one.columns == other.columns
    assert sorted(map(repr, one.rows())) == sorted(map(repr, other.rows()))


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("seed", first_in_usual([3, 14], 1))
def test_generated_maps_give_equal_rows(spark: SparkSession, seed: int) -> None:
    """Random maps and data give the same rows and findings on both engines (polars is tested against Python)."""
    source = random.Random(seed)
    made = made_map(source)
    frame = table(made_rows(source, made.n_sources, 100))
    plan = plan_of(version_of(*made.contents))
    same(on_spark(spark, frame, plan), local_transform(frame, plan))


@pytest.mark.long
@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("seed", [0, 2])
def test_there_and_back(spark: SparkSession, seed: int) -> None:
    """Data that is mapped and mapped back equals the original."""
    contents, rows = turned_map(random.Random(seed))
    frame = table(rows)
    plan = plan_of(version_of(*contents), rules={"ambiguous-key": "off"})
    mapped = transform(spark.createDataFrame(frame.to_arrow()), plan).drop("_errors", "_source")
    back = pl.DataFrame(transform(mapped, plan, reverse=True).toArrow())
    assert isinstance(back, pl.DataFrame)
    assert back.select(frame.columns).sort(frame.columns).equals(frame.sort(frame.columns))


@pytest.mark.usefixtures("uncompiled")
def test_reports_of_maps(spark: SparkSession) -> None:
    """Both engines make equal reports: counts in one order, and the least findings of each kind, each once."""
    plan = plan_of(version_of(*one("R", "A>x", "B>x")))
    values = ["A", "B", *(f"Z{number}" for number in range(9, 0, -1)), "Z1", None, "é", "𝄞"]
    frame = table([{"A": value, "TIME_PERIOD": "2020"} for value in values])
    found = map_report(transform(spark.createDataFrame(frame.to_arrow()), plan), plan)
    assert found == local_map_report(local_transform(frame, plan), plan)
    unmapped = [sample.finding.value for sample in found.samples if sample.finding.rule == "unmapped-value"]
    assert unmapped == [f"Z{number}" for number in range(1, 6)]
    assert list(found.counts.values()) == [2, 1, 12]


@pytest.mark.long
def test_keys_of_numbers(spark: SparkSession) -> None:
    """Keys are compared, and shown, as texts, like all values."""
    plan = plan_of(version_of(*one("R", "A>x", "B>x")))
    frame = table([{"A": "A", "TIME_PERIOD": 1e20}, {"A": "B", "TIME_PERIOD": 1e20}, {"A": "A", "TIME_PERIOD": 1e-7}])
    found = on_spark(spark, frame, plan)
    same(found, local_transform(frame, plan))
    error_values = [error["value"] for errors in found["_errors"].to_list() for error in errors or ()]
    assert error_values == ["x.1e20"] * 2


def test_columns_that_differ_in_letter_case(spark: SparkSession) -> None:
    """Columns that differ only in letter case are rejected, because Spark does not distinguish them."""
    plan = plan_of(version_of(*one("R", "A>x", "B>x")))
    frame = spark.createDataFrame([("A", "2020", "k")], "A string, TIME_PERIOD string, b string")
    with pytest.raises(UsageError, match="columns that Spark cannot distinguish: b, B; rename or drop one"):
        transform(frame, plan)


@pytest.mark.long
@pytest.mark.parametrize("how", ["map", "cells", "joined"])
def test_long_maps_find_each_code(spark: SparkSession, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    """2,000 rows, in a map, in cells or joined: each code is found, near misses are not; split separates them."""
    if how == "cells":
        monkeypatch.setattr("kafka_replica_spark.literals._HASHED_SINCE", (99, 0))
    elif how == "joined":
        monkeypatch.setattr("kafka_replica_spark.mapping.engine.SMALL", 100)
        monkeypatch.setattr("kafka_replica_spark.mapping.engine.MOST_IN_MAPS", 100)
    codes = [f"C{number}" for number in range(2000)]
    plan = plan_of(version_of(*one("R", *(f"{code}>V{code}" for code in codes))))
    rows = [{"A": code, "TIME_PERIOD": "2020"} for code in [*codes, "C2000", "", "C", "c1", "VC1", "1"]]
    good, bad = split(transform(spark.createDataFrame(table(rows).to_arrow()), plan))
    assert sorted(row["B"] for row in good.collect()) == sorted(f"V{code}" for code in codes)
    assert [row["A"] for row in bad.collect()] == ["C2000", "", "C", "c1", "VC1", "1"]
    assert good.columns == ["B", "TIME_PERIOD"]
    assert bad.columns == ["A", "TIME_PERIOD", "_errors"]
