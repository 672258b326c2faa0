"""Date maps on Spark: small plans, code that Java compiles, and the dates of polars."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from pathlib import Path

import polars as pl
import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.types import StringType, StructField, StructType

from kafka_replica.data.mapping import MapPlan, inverse
from kafka_replica.data.polars import transform as local_transform
from kafka_replica_spark import transform
from kafka_replica_spark.mapping.engine import SparkEngine
from support.mapping.map_cases import dated
from support.mapping.maps_by_hand import date_map, frequency_format, plan_of
from support.rules.structures_by_hand import table, version_of
from support.spark.plans import longest_method, plan_nodes

pytestmark = pytest.mark.long

_PLAIN = dated(date_map("WHEN", "TIME_PERIOD", "MM-yyyy", "Q"))
_DAYS = dated(date_map("WHEN", "TIME_PERIOD", "dd-MM-yyyy", "=FREQ"), freq=True)
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


@pytest.mark.long
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


@pytest.mark.long
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


def test_days_of_the_calendar(spark: SparkSession) -> None:
    """A day that a month does not have is not a date; others have the week that Python's calendar gives them."""
    expected: dict[tuple[str, str], str | None] = {}
    for year in (1, 1900, 2000, 2020, 2023, 2024, 9998):
        for month in range(14):
            for day in range(33):
                when = f"{day:02}-{month:02}-{year:04}"
                expected[when, "D"] = expected[when, "W"] = None
                with suppress(ValueError):
                    one = date(year, month, day)
                    expected[when, "D"] = one.isoformat()
                    expected[when, "W"] = "{:04}-W{:02}".format(*one.isocalendar())
    rows = [{"A": "a", "FREQ": freq, "WHEN": when} for when, freq in expected]
    mapped = transform(spark.createDataFrame(table(rows).to_arrow()), _plan(_DAYS))
    found = mapped.selectExpr("TIME_PERIOD", "_source.WHEN", "_source.FREQ").toArrow().to_pylist()
    good = sorted(row["TIME_PERIOD"] for row in found if row["TIME_PERIOD"])
    assert good == sorted(text for text in expected.values() if text)
    bad = {(row["WHEN"], row["FREQ"]) for row in found if not row["TIME_PERIOD"]}
    assert bad == {key for key, text in expected.items() if text is None}


@pytest.mark.parametrize(
    ("pattern", "written", "read", "shown"),
    [
        ("yyyy-MM-{d}", "2024-02-{}", "2024-02-03", f"2024-01-{15:020}"),
        ("yyyy-{D}", "2024-{}", "2024-01-03", f"2024-{15:020}"),
        ("YYYY-{w}", "2024-{}", "2024-01-21", f"2024-{3:020}"),
    ],
)  # fmt: skip
def test_fields_of_many_digits(spark: SparkSession, pattern: str, written: str, read: str, shown: str) -> None:
    """A field may be wider than a number of 64 bits: no engine fails, or takes too large a number for another one."""
    numbers = [f"{number:020}" for number in (0, 3, 2**31, 2**32 + 3, 2**63 - 1, 2**64 + 3, 10**20 - 1)]
    wide = pattern.format(d="d" * 20, D="D" * 20, w="w" * 20)
    reading = _plan(dated(date_map("WHEN", "TIME_PERIOD", wide, "D")))
    rows = [{"A": "a", "WHEN": written.format(number)} for number in numbers]
    for found in _on_both_engines(spark, rows, reading):
        assert [text for text in found if text] == [read]
        assert len(found) == len(numbers)
    writing = _plan(
        dated(date_map("WHEN", "TIME_PERIOD", "yyyy-MM-dd", "=FREQ"), frequency_format("D", wide), freq=True)
    )
    rows = [{"A": "a", "FREQ": "D", "WHEN": "2024-01-15"}]
    for found in _on_both_engines(spark, rows, writing):
        assert found == [shown]


def _on_both_engines(spark: SparkSession, rows: list[dict[str, str]], plan: MapPlan) -> list[list[str | None]]:
    there = transform(spark.createDataFrame(table(rows).to_arrow()), plan).toArrow()
    return [local_transform(table(rows), plan)["TIME_PERIOD"].to_list(), there["TIME_PERIOD"].to_pylist()]


@pytest.mark.usefixtures("uncompiled")
def test_quotients_of_numbers_at_the_ends_of_64_bits(spark: SparkSession) -> None:
    """Quotients are rounded down, also of numbers from which no remainder can be subtracted."""
    numbers = [-(2**63), -(2**63) + 1, -1001, -1000, -1, 0, 999, 1000, 2**63 - 1]
    frame = spark.createDataFrame([(number,) for number in numbers], "n bigint").coalesce(1)
    mapped = SparkEngine(frame)
    for by in (1, 2, 1000, 86_400):
        rows = frame.select(mapped.floor(F.col("n"), by).alias("quotient")).collect()
        assert [row["quotient"] for row in rows] == [number // by for number in numbers]


def test_marks_in_dates(spark: SparkSession) -> None:
    """A text with the characters that separate fields internally is not a date, on either engine."""
    rows = [{"A": "a", "WHEN": text} for text in ("\x1f2020\x1f01", "\x1f01\x1f2020", "01-2020\x1f", "01-2020", None)]
    plan = _plan(_PLAIN)
    found = transform(spark.createDataFrame(table(rows).to_arrow()), plan).select("TIME_PERIOD").toArrow()
    assert found["TIME_PERIOD"].to_pylist() == [None, None, None, "2020-Q1", None]
    assert local_transform(table(rows), plan)["TIME_PERIOD"].to_list() == [None, None, None, "2020-Q1", None]


@pytest.mark.long
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
