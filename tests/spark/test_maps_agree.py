"""Spark maps as polars does: the case table, generated maps and data, maps turned round."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl
import pytest
from case_rows import expected, mapped_rows
from map_cases import CASES, Case
from maps_by_hand import plan_of
from pyspark.sql import SparkSession
from structures_by_hand import table, version_of

from kafka_replica.local.mapping import transform as local_transform
from kafka_replica.mapping import MapPlan
from kafka_replica_spark.mapping import transform


@pytest.fixture
def uncompiled(spark: SparkSession) -> Iterator[None]:
    """Compiling a plan takes a second; that gives nothing here, and other tests run compiled."""
    settings = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name in settings:
        spark.conf.unset(name)


def on_spark(spark: SparkSession, frame: pl.DataFrame, plan: MapPlan) -> pl.DataFrame:
    """What Spark makes of it, in the order of polars."""
    made = pl.DataFrame(transform(spark.createDataFrame(frame.to_arrow()), plan).toArrow())
    assert isinstance(made, pl.DataFrame)
    return made


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_case(spark: SparkSession, case: Case) -> None:
    """Each row becomes what the standard says, or has the findings it asks for; all fields as on polars."""
    plan = plan_of(version_of(*case.contents), **case.settings)
    frame = table([row for row, _ in mapped_rows(case)])
    found = on_spark(spark, frame, plan)
    assert expected(case, found) == [wanted for _, wanted in mapped_rows(case)]
    same(found, local_transform(frame, plan))


def same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    """The same columns and rows; rows of one input may be in any order."""
    assert one.columns == other.columns
    assert sorted(map(repr, one.rows())) == sorted(map(repr, other.rows()))
