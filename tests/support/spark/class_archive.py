"""An archive of the Java classes that Spark loads: a program of Spark then starts with half of the processor time.

It is created once, in the project's folder ``build``, by a program that does some of what tests do. Java ignores an
archive that does not fit its class path.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import warnings
from functools import cache
from pathlib import Path
from typing import Final

import pyspark
from filelock import FileLock

from kafka_replica.embedded.java import spark_java_home
from support.paths import ROOT

_FOLDER: Final = ROOT / "build" / "spark-classes"
_QUIET: Final = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"
SHORT_JOBS: Final = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Short jobs do not repay Java's second compiler."""
_TRAINING: Final = """
import sys
import pandas as pd
from pyspark import SparkContext
from pyspark.sql import functions as F
from kafka_replica_spark.sessions import QUIET_JAVA, session

archive, folder = sys.argv[1:]
java = f"{QUIET_JAVA} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ArchiveClassesAtExit={archive}"
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
    java = spark_java_home()
    parts = [pyspark.__version__, pyspark.__file__, sys.version, str(java.resolve())]
    parts += [str((java / name).stat().st_mtime_ns) for name in ("release", "bin/java") if (java / name).exists()]
    archive = _FOLDER / f"{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:12]}.jsa"
    _FOLDER.mkdir(parents=True, exist_ok=True)
    with FileLock(archive.with_suffix(".lock")):
        if not archive.is_file() and not _created(archive):
            return ""
    return f"-XX:SharedArchiveFile={archive} {_QUIET}"


def _created(archive: Path) -> bool:
    """Create the archive; return whether that was possible."""
    from tempfile import TemporaryDirectory

    made = archive.with_suffix(".new")
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-c", _TRAINING, str(made), folder],
            cwd=folder, env=os.environ | {"PYTHONWARNINGS": "ignore"}, capture_output=True, text=True, check=False,
        )  # fmt: skip
    if done.returncode or not made.is_file():
        warnings.warn(f"creating an archive of Spark's classes failed; tests take longer: {done.stderr}", stacklevel=2)
        return False
    made.replace(archive)
    return True
