"""A quiet local Spark session, for demos, tests and notebooks."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from kafka_replica.embedded.java import spark_java_home
from kafka_replica.errors import UsageError

_LOGGING: Final = Path(__file__).with_name("log4j2-quiet.properties")
QUIET_JAVA: Final = f"-Dlog4j2.configurationFile={_LOGGING.as_uri()}"
"""The Java options of the driver."""
_QUIET: Final = {
    "spark.driver.extraJavaOptions": QUIET_JAVA,
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "4",
    # The loopback address, because the host name of a laptop may not resolve, or may resolve to a changing address.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
}


def session(app_name: str = "kafka_replica", master: str = "local[2]", **conf: str) -> SparkSession:
    """Return a quiet local Spark session, without UI and progress bars, whose log has only errors.

    This function is a convenience; all functions of this package accept any other session as well. If a session is
    active, it is returned, with only ``conf`` applied, as far as Spark allows this for a running session.

    Args:
        app_name: the name of the application in Spark.
        master: Spark's master URL, which must be ``local`` or ``local[...]``, because the addresses set here are local.
        conf: Spark settings by their full names, which override the quiet defaults:
            ``session(**{"spark.driver.memory": "2g"})``.

    Raises:
        UsageError: the master is not local.
        EmbeddedKafkaError: no Java of version 17 or newer was found.
    """
    if not master.startswith("local"):
        raise UsageError(
            f"starting a Spark session on {master!r}: session() only makes local sessions; "
            "create yours with SparkSession.builder; views() and validate() accept it"
        )
    builder, settings = SparkSession.Builder(), conf
    if SparkSession.getActiveSession() is None:
        builder, settings = builder.appName(app_name).master(master), {**_QUIET, **conf}
    for name, value in settings.items():
        builder = builder.config(name, value)
    with _java():
        return builder.getOrCreate()


@contextmanager
def _java() -> Iterator[None]:
    """Set the environment that Spark's launcher needs, and restore it at the end."""
    if SparkSession.getActiveSession() is not None:
        yield
        return
    wanted = {"JAVA_HOME": str(spark_java_home()), "SPARK_LOCAL_IP": "127.0.0.1"}
    # Set in the environment, because Spark reads no setting here; otherwise executors run the first python3 found.
    wanted["PYSPARK_PYTHON"] = os.environ.get("PYSPARK_PYTHON", sys.executable)
    before = {name: os.environ.get(name) for name in wanted}
    os.environ |= wanted
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
