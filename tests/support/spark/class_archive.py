"""An archive of the Java classes that Spark loads: a program of Spark then starts with half of the processor time.

It is created once, in the project's folder ``build``, by a program that does some of what tests do. Java ignores an
archive that does not fit its class path. If it cannot be created, tests take longer, and a file says why.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pyspark
from filelock import FileLock

from kafka_replica.embedded.class_archive import reading_options, writing_option
from kafka_replica.embedded.java import Java, find_java
from support.paths import ROOT

_FOLDER: Final = ROOT / "build" / "spark-classes"
_QUIET: Final = "-Xlog:disable -Xlog:all=error"
_GIVE_UP_S: Final = 200
"""Tests that wait for the archive have 300 s; the training takes 15 s, or minutes on a machine that does much else."""
SHORT_JOBS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Short jobs do not repay Java's second compiler."""
_TRAINING: Final = """
import sys
import pandas as pd
from pyspark import SparkContext
from pyspark.sql import functions as F
from kafka_replica_spark.sessions import QUIET_JAVA, session

option, folder = sys.argv[1:]
java = f"{QUIET_JAVA} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC {option}"
spark = session("training", **{"spark.driver.extraJavaOptions": java, "spark.sql.shuffle.partitions": "2"})
rows = spark.range(1000).withColumn("text", F.concat(F.lit("a"), F.col("id").cast("string")))
rows.write.option("header", True).csv(f"{folder}/csv")
rows.write.parquet(f"{folder}/parquet")
rows.write.json(f"{folder}/json")
read = spark.read.option("header", True).schema("id long, text string").csv(f"{folder}/csv")
small = spark.createDataFrame(pd.DataFrame({"id": [1, 2], "name": ["x", "y"]}))
doubled = F.pandas_udf(lambda numbers: numbers * 2, "long")
joined = spark.read.parquet(f"{folder}/parquet").join(F.broadcast(small), "id", "left").join(read, "id")
found = joined.select("id", doubled("id"), F.struct("name"), F.collect_list(read.text).over(__window__))
found.filter(read.text.rlike("1")).toPandas()
spark.read.json(f"{folder}/json").groupBy("text").agg(F.count("*"), F.max("id")).orderBy("text").collect()
rows.mapInArrow(lambda batches: batches, rows.schema).count()
stream = spark.readStream.schema(rows.schema).parquet(f"{folder}/parquet")
written = stream.writeStream.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True)
written.format("parquet").start(f"{folder}/streamed").awaitTermination()
gateway = SparkContext._gateway
spark.stop()
gateway.shutdown()
gateway.proc.stdin.close()
gateway.proc.wait()
""".replace("__window__", '__import__("pyspark.sql").sql.Window.partitionBy("name").orderBy("id")')


def short_job_options() -> str:
    """Return options of Java for programs of Spark that run for seconds."""
    return " ".join(filter(None, [SHORT_JOBS, archive_options()]))


@cache
def archive_options() -> str:
    """Return options of Java for programs of Spark, after creating the archive if necessary; empty if that failed."""
    java = find_java()
    parts = [pyspark.__version__, pyspark.__file__, sys.version, str(java.path.resolve()), str(java.version)]
    archive = _FOLDER / f"{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:12]}.jsa"
    failed = archive.with_suffix(".failed")
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(archive.with_suffix(".lock")):
        if not archive.is_file() and not failed.is_file():
            _create(java, archive, failed)
    return " ".join([*map(shlex.quote, reading_options(java, archive)), _QUIET]) if archive.is_file() else ""


def _create(java: Java, archive: Path, failed: Path) -> None:
    """Create the archive, or a file with the reason for which that is not possible."""
    made = archive.with_suffix(".new")
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-c", _TRAINING, writing_option(java, made), folder], timeout=_GIVE_UP_S,
                cwd=folder, env=os.environ | {"PYTHONWARNINGS": "ignore"}, capture_output=True, text=True, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            failed.write_text(f"{java}: {late}\n")
            return
    if done.returncode or not made.is_file():
        failed.write_text(f"{java}: status {done.returncode}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}\n")
    else:
        made.replace(archive)
