"""A client of a Spark Connect server. It prints its findings as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

from kafka_replica.errors import UsageError
from kafka_replica.stores.read_only import look
from kafka_replica_spark import broadcast, register_data_source, split, validate, validate_stream, views
from support.spark.cluster_job import observations
from support.spark.jobs_material import FLOW, checkpoint


def main(address: str, folder: Path) -> dict[str, object]:
    """Test that frames and validation work, and that functions that need the driver in this process are rejected."""
    spark = SparkSession.Builder().remote(address).getOrCreate()
    checkpoint(folder / "store")
    snapshot = look(folder / "store").snapshot
    found: dict[str, object] = {"session": type(spark).__module__}
    register_data_source(spark)
    codes = spark.read.format("kafka_replica").option("store", str(folder / "store")).option("view", "codes").load()
    here = views(spark, snapshot).codes()
    found["equal"] = sorted(codes.collect()) == sorted(here.collect())
    found["metadata"] = [codes.schema["_version"].metadata["version"], here.schema["_version"].metadata["version"]]
    good, bad = split(validate(observations(spark), FLOW, snapshot))
    found["good"], found["bad"] = good.count(), bad.count()
    stream = spark.readStream.format("rate").load()
    found["refused"] = [
        _refused(lambda: broadcast(spark, snapshot)),
        _refused(lambda: validate_stream(stream, FLOW, None, print, checkpoint="")),  # type: ignore[arg-type]
    ]
    spark.stop()
    return found


def _refused(call: object) -> str:
    try:
        call()  # type: ignore[operator]
    except UsageError as error:
        return str(error)
    return "not refused"


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]))))
