"""A driver program for a standalone cluster whose executors do not have the package. It prints its findings as JSON."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812

from kafka_replica.stores.read_only import look
from kafka_replica_spark import broadcast, register_data_source, split, validate, views
from support.spark.jobs_material import AREAS, FLOW, checkpoint


def observations(spark: SparkSession) -> DataFrame:
    """Return 2,000 observations in 8 partitions; every fourth has an invalid code."""
    sex = F.element_at(F.array(*map(F.lit, "TFMX")), (F.col("id") % 4 + 1).cast("int"))
    return spark.range(0, 2000, 1, 8).select(
        F.lit("A").alias("FREQ"),
        F.lit("BE").alias("REF_AREA"),
        F.lit("EMP").alias("INDICATOR"),
        sex.alias("SEX"),
        (F.col("id") + 1000).cast("string").alias("TIME_PERIOD"),
        F.lit("1").alias("OBS_VALUE"),
        F.lit("KPS").alias("UNIT_MEASURE"),
        F.lit("A").alias("OBS_STATUS"),
        F.lit("1").alias("DECIMALS"),
    )


def executor(_: object) -> str:
    """Return the process id of the executor."""
    return str(os.getppid())


def has_package(_: object) -> bool:
    """Return True if the package can be used in this process."""
    try:
        from kafka_replica.sdmx import Urn
    except ImportError:
        return False
    return Urn.of_reference("Codelist", "T:CL(1.0)").id == "CL"


def main(master: str, folder: Path, package: str) -> dict[str, object]:
    """Test views, validation and look-ups on executors without the package; then send the package to them."""
    builder = SparkSession.Builder().master(master)
    for name, value in {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.executor.memory": "600m",
        "spark.executor.cores": "1",
        "spark.cores.max": "2",
        "spark.sql.shuffle.partitions": "4",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.scheduler.minRegisteredResourcesRatio": "1",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    checkpoint(folder / "store")
    snapshot = look(folder / "store").snapshot
    found: dict[str, object] = {}
    register_data_source(spark)
    options = {"store": str(folder / "store"), "view": "codes", "sliceBytes": "500"}
    codes = spark.read.format("kafka_replica").options(**options).load()
    found["partitions"] = codes.select(F.spark_partition_id()).distinct().count()
    found["equal"] = sorted(codes.collect()) == sorted(views(spark, snapshot).codes().collect())
    data = observations(spark)
    good, bad = split(validate(data, FLOW, snapshot))
    found["good"], found["bad"] = good.count(), bad.count()
    here = broadcast(spark, snapshot)

    @F.pandas_udf("string")  # type: ignore[attr-defined,call-overload,untyped-decorator,unused-ignore]
    def area(values: pd.Series) -> pd.Series:
        return here.name(AREAS, values)

    found["areas"] = [row[0] for row in data.select(area("REF_AREA")).distinct().collect()]
    executors, packages = F.udf(executor, "string"), F.udf(has_package, "boolean")
    found["executors"] = data.select(executors("SEX")).distinct().count()
    found["installed"] = [row[0] for row in data.select(packages("SEX")).distinct().collect()]
    spark.sparkContext.addPyFile(package)
    shipped = F.udf(has_package, "boolean")
    found["shipped"] = [row[0] for row in data.select(shipped("SEX")).distinct().collect()]
    spark.stop()
    return found


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])))
