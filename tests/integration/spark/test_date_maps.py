"""Date maps on Spark: small plans, code that Java compiles, and the dates of polars."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import StringType, StructField, StructType

from kafka_replica.data.mapping import MapPlan, inverse
from kafka_replica.data.polars import transform as local_transform
from kafka_replica_spark import transform
from support.mapping.map_cases import dated
from support.mapping.maps_by_hand import date_map, frequency_format, plan_of
from support.rules.structures_by_hand import table, version_of
from support.spark.plans import longest_method, plan_nodes

_PLAIN = dated(date_map("WHEN", "TIME_PERIOD", "MM-yyyy", "Q"))
_BY_FREQUENCY = dated(date_map("WHEN", "TIME_PERIOD", "MM-yyyy", "=FREQ"), freq=True)
_SEVERAL = dated(
    date_map("WHEN", "TIME_PERIOD", "dd MMMM yyyy", "=FREQ"),
    date_map("WHEN", "TIME_PERIOD", "MM/dd/yy hh:mm:ss a", "=FREQ", resolve="midPeriod"),
    freq=True,
)
_TURNED = dated(
    date_map("WHEN", "TIME_PERIOD", "yyyyMMdd", "=FREQ", resolve="startOfPeriod"),
    *(frequency_format(freq, "dd MMMM yyyy") for freq in "ASTQMWDB"),
    freq=True,
)


def _plan(contents: tuple[str, ...], *, is_turned: bool = False) -> MapPlan:
    plan = plan_of(version_of(*contents), rules={"ambiguous-key": "off"})
    return inverse(plan) if is_turned else plan


_PLANS = {
    "plain": (_plan(_PLAIN), 1_000),
    "by frequency": (_plan(_BY_FREQUENCY), 2_500),
    "several": (_plan(_SEVERAL), 5_000),
    "turned": (_plan(_TURNED, is_turned=True), 2_700),
}


@pytest.mark.parametrize("name", _PLANS)
def test_size(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """Plans are small and Java compiles each method, with a format for each frequency and with several date maps.

    In one method such dates took more than the 64 KB that Java allows, and their plan had 5,900 nodes.
    """
    plan, most_nodes = _PLANS[name]
    table([dict.fromkeys(plan.source.components, "x")]).write_parquet(tmp_path / "rows.parquet")
    mapped = transform(spark.read.parquet(str(tmp_path / "rows.parquet")), plan)
    assert 0 < longest_method(mapped) < 8_000
    assert plan_nodes(mapped) < most_nodes


def test_dates_of_any_frequency(spark: SparkSession) -> None:
    """A date map with a format for each of the frequencies gives the right dates, also at the ends of time."""
    rows = [
        {"A": "a", "FREQ": freq, "WHEN": f"{month:02}-{year:04}"}
        for freq in "ASTQMWDBHIN"
        for year in (1, 1999, 2024, 9999)
        for month in (1, 2, 6, 12, 13)
    ]
    plan = _plan(_BY_FREQUENCY)
    mapped = transform(spark.createDataFrame(table(rows).to_arrow()), plan)
    found = pl.DataFrame(mapped.toArrow())
    assert isinstance(found, pl.DataFrame)
    assert sorted(map(repr, found.rows())) == sorted(map(repr, local_transform(table(rows), plan).rows()))
    kept = found.filter(pl.col("_errors").is_null())["TIME_PERIOD"].to_list()
    assert len(kept) == 11 * 4 * 4
    assert {"1999", "1999-S1", "1999-T2", "1999-Q4", "1999-02", "1999-W52", "1999-02-28"} <= set(kept)


def test_marks_in_dates(spark: SparkSession) -> None:
    """A text with the characters that separate fields internally is no date, on either engine."""
    rows = [{"A": "a", "WHEN": text} for text in ("\x1f2020\x1f01", "\x1f01\x1f2020", "01-2020\x1f", "01-2020", None)]
    plan = _plan(_PLAIN)
    found = transform(spark.createDataFrame(table(rows).to_arrow()), plan).select("TIME_PERIOD").toArrow()
    assert found["TIME_PERIOD"].to_pylist() == [None, None, None, "2020-Q1", None]
    assert local_transform(table(rows), plan)["TIME_PERIOD"].to_list() == [None, None, None, "2020-Q1", None]


def test_streams(spark: SparkSession, tmp_path: Path) -> None:
    """A stream is mapped without joins, so that it needs no state."""
    table([{"A": "a", "FREQ": "Q", "WHEN": "02-2020"}]).write_parquet(tmp_path / "in" / "rows.parquet", mkdir=True)
    schema = StructType([StructField(name, StringType()) for name in ("A", "FREQ", "WHEN")])
    stream = transform(spark.readStream.schema(schema).parquet(str(tmp_path / "in")), _plan(_BY_FREQUENCY))
    query = (
        stream.select("TIME_PERIOD")
        .writeStream.format("memory")
        .queryName("date_maps")
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert [row["TIME_PERIOD"] for row in spark.table("date_maps").collect()] == ["2020-Q1"]
