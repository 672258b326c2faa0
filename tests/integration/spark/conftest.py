"""A Spark session for all tests of this folder."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from typing import Final

import pytest
from pyspark.sql import SparkSession

from kafka_replica import Snapshot
from kafka_replica_spark import session
from kafka_replica_spark.sessions import QUIET_JAVA
from support.spark.class_archive import SHORT_JOBS, archive_options
from support.spark.in_one_job import small_jobs
from support.spark.spark_world import RULES_MESSAGE, samples, version_of

_SHORT_JOBS: Final = (
    f"{SHORT_JOBS} -XX:MetaspaceSize=256m -XX:ReservedCodeCacheSize=240m -Xmn400m "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all of these tests as using Spark."""
    for item in items:
        if item.path.parent.name == "spark":
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session", autouse=True)
def _spark_starts_faster() -> Iterator[None]:
    """Let all programs of Spark that these tests start, and their session, use an archive of classes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_SUBMIT_OPTS", f"{os.environ.get('SPARK_SUBMIT_OPTS', '')} {archive_options()}")
        yield


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session as session() creates it, without what these short jobs do not repay.

    That is Java's second compiler, the check of Spark's classes, and the line of Python that Spark notes with each
    expression, for its errors: this takes longer than the expression. Java also gets more room than by default for
    classes, compiled code and new objects: it would collect all garbage to make room for classes, and drop code that it
    needs again.
    """
    java = f"{QUIET_JAVA} {_SHORT_JOBS}"
    settings = {
        "spark.sql.session.timeZone": "UTC",
        "spark.driver.extraJavaOptions": java,
        "spark.python.sql.dataFrameDebugging.enabled": "false",
        "spark.sql.ui.retainedExecutions": "10",
    }
    made = session("tests", **settings)
    yield made
    made.stop()


@pytest.fixture(scope="session")
def demo() -> Snapshot:
    """The samples."""
    return samples()


@pytest.fixture(scope="session")
def rules() -> Snapshot:
    """The data structure with a component for each rule."""
    return version_of(RULES_MESSAGE)


@pytest.fixture
def uncompiled(spark: SparkSession) -> Iterator[None]:
    """Run the test's jobs without compiling them or planning them again: other tests do both, and it takes seconds."""
    with small_jobs(spark):
        yield


@pytest.fixture(autouse=True)
def _heap_stays_free() -> Iterator[None]:
    """Free what a test has cached: the heap of the session that all tests share would otherwise fill up.

    Java then collected garbage for half of the processor time.
    """
    yield
    shared = SparkSession.getActiveSession()
    if shared is not None:
        shared.catalog.clearCache()
        gc.collect()  # Java keeps the frames that Python's collector has not freed
