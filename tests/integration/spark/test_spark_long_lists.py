"""Codelists that are too long for map literals: the same findings as on polars, and plans that stay small."""

from __future__ import annotations

import polars as pl
import pytest
from pyspark.sql import SparkSession

from kafka_replica.data.polars import validate as validate_locally
from kafka_replica.data.validation import compile_rules
from kafka_replica.sdmx import Structures
from kafka_replica_spark import validate
from support.spark.spark_world import coded, codelist, component, concepts, format_, message, structure, version_of

CODES = 120_000
REFERENCE = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=T:DSD(1.0)"


@pytest.mark.long
def test_more_codes_than_go_into_maps(spark: SparkSession) -> None:
    """With a list of 120,000 codes all codes are found, near misses are not, and no code is in the plan."""
    long, short = [f"A{number}" for number in range(CODES)], [f"B{number}" for number in range(30)]
    dimensions = "".join(component("Dimension", name, coded(f"T:CL_{name}(1.0)")) for name in ("LONG", "SHORT"))
    dimensions += component("TimeDimension", "TIME_PERIOD", format_("ObservationalTimePeriod"))
    content = codelist("CL_LONG", long) + codelist("CL_SHORT", short)
    content += concepts(ids=["LONG", "SHORT", "TIME_PERIOD", "OBS_VALUE"])
    content += structure("DSD", dimensions, measures=component("Measure", "OBS_VALUE", format_("Double")))
    snapshot = version_of(message(content))
    rules = compile_rules(Structures(snapshot), REFERENCE, rules={"duplicate-key": "off"})
    values = [*long[::7], "", "A", "A120000", "a1", "A01", "A1 ", None, "ÿ", "B1"]
    rows = pl.DataFrame(
        {
            "LONG": values,
            "SHORT": [f"B{number % 32}" for number in range(len(values))],
            "TIME_PERIOD": ["2020"] * len(values),
            "OBS_VALUE": ["1"] * len(values),
        }
    )
    checked = validate(spark.createDataFrame(rows.to_arrow()), rules)
    found = pl.DataFrame(checked.toArrow())
    assert isinstance(found, pl.DataFrame)
    assert found.rows() == validate_locally(rows, rules).rows()
    reported = {row["LONG"] for row in found.to_dicts() for one in row["_errors"] or () if one["component"] == "LONG"}
    assert reported == {"", "A", "A120000", "a1", "A01", "A1 ", None, "ÿ", "B1"}
    plan = checked._jdf.queryExecution().toString()
    assert len(plan) < 1_000_000
