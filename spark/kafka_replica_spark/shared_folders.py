"""Find out whether the executors of a cluster share a folder with the driver."""

from __future__ import annotations

from pathlib import Path
from secrets import token_hex

from pyspark.sql import SparkSession

from kafka_replica.common.wording import reason_of
from kafka_replica.errors import ConfigurationError, UsageError
from kafka_replica_spark.patterns import pattern_of

_MISSING = ("FileNotFoundException", "FILE_NOT_EXIST", "does not exist")


def check_shared(spark: SparkSession, folder: Path) -> None:
    """Check that executors on other machines have the same files in a folder as the driver.

    Otherwise each executor would write its rows to its own disk, and the driver would find only some of them. The check
    is a job that reads a small file, in as many tasks as the cluster runs at the same time.

    Raises:
        ConfigurationError: an executor does not find a file of the driver.
        UsageError: the driver cannot write to the folder.
    """
    file = folder.absolute() / f"shared-{token_hex(4)}.txt"
    tasks = max(1, spark.sparkContext.defaultParallelism)
    try:
        file.write_text("shared\n", encoding="utf-8")
        found = spark.read.text([f"file://{pattern_of(str(file))}"] * tasks).count()
    except OSError as error:
        raise UsageError(f"writing to {folder}: {reason_of(error)}") from error
    except Exception as error:  # includes the errors of Py4J
        if any(text in str(error) for text in _MISSING):
            raise _not_shared(folder) from error
        raise
    finally:
        file.unlink(missing_ok=True)
    if found != tasks:
        raise _not_shared(folder)


def _not_shared(folder: Path) -> ConfigurationError:
    return ConfigurationError(
        f"writing to {folder}: Spark runs on a cluster, whose executors cannot read this folder of the driver; choose "
        "a folder that all machines share under the same path, or run Spark on this machine (--master local)"
    )
