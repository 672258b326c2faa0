"""A Spark session for all tests of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from kafka_replica import Snapshot
from kafka_replica_spark import session
from kafka_replica_spark.sessions import QUIET_JAVA
from support.spark.spark_world import RULES_MESSAGE, samples, version_of


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark all of these tests as using Spark."""
    for item in items:
        if item.path.parent.name == "spark":
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session as session() creates it, except for Java's second compiler, which these short jobs do not repay."""
    java = f"{QUIET_JAVA} -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    made = session("tests", **{"spark.sql.session.timeZone": "UTC", "spark.driver.extraJavaOptions": java})
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
    """Disable whole-stage compilation: it takes a second per plan and gains nothing here, and other tests use it."""
    settings = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}
    for name, value in settings.items():
        spark.conf.set(name, value)
    yield
    for name in settings:
        spark.conf.unset(name)
