"""A quiet local Spark session, for demos, tests and notebooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from pyspark.sql import SparkSession

from kafka_replica.embedded.java import spark_java_home
from kafka_replica.errors import UsageError

_QUIET: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "4",
    # A laptop's host name may resolve to nothing, or to an address that changes.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def session(app_name: str = "kafka_replica", master: str = "local[2]", **conf: str) -> SparkSession:
    """A local Spark session that keeps quiet: no UI, no progress bars, errors only in the log.

    A convenience; everything here takes any other session as well. If one is active it is returned, with
    ``conf`` set where Spark allows that afterwards.

    Args:
        app_name: what Spark calls it.
        master: Spark's master URL; only ``local[...]`` ones, for the addresses set here are local.
        conf: Spark settings by their full names, which win over the quiet ones:
            ``session(**{"spark.driver.memory": "2g"})``.

    Raises:
        UsageError: the master is not a local one.
        EmbeddedKafkaError: no Java of version 17 or newer was found.
    """
    if not master.startswith("local"):
        raise UsageError(
            f"starting a Spark session on {master!r}: session() makes local ones only; "
            "make your own with SparkSession.builder, views() and validate() take it as it is"
        )
    settings = {**_QUIET, "spark.pyspark.python": sys.executable, **conf}
    builder = SparkSession.Builder().appName(app_name).master(master)
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _java():
        return builder.getOrCreate()


@contextmanager
def _java() -> Iterator[None]:
    """JAVA_HOME as Spark's launcher needs it, put back afterwards."""
    if SparkSession.getActiveSession() is not None:
        yield
        return
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(spark_java_home())
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("JAVA_HOME", None)
        else:
            os.environ["JAVA_HOME"] = before
