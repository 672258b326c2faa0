"""The programs on the pages about Spark run as they are written there, on a real broker and a real Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import DataFrame, SparkSession

import kafka_replica_spark
from kafka_replica import Replica
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.docs.page_world import PageWorld, copy_samples, publish_samples

pytestmark = [pytest.mark.broker, pytest.mark.long]


@pytest.fixture
def world(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, spark: SparkSession, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[PageWorld]:  # fmt: skip
    """A topic with the samples, the folder of sample files, and the session of all tests."""
    monkeypatch.setattr(kafka_replica_spark, "session", lambda _name: spark)
    monkeypatch.chdir(tmp_path)
    copy_samples(tmp_path / "samples")
    topic = kafka_topic("pages")
    publish_samples(local_kafka, topic)
    with Replica({"bootstrap.servers": local_kafka.bootstrap_servers}, topic) as replica:
        replica.wait_ready(60)
        yield PageWorld(local_kafka.bootstrap_servers, topic, tmp_path, replica)


def observations(world: PageWorld, spark: SparkSession) -> DataFrame:
    """Return the sample data."""
    return spark.read.csv(f"{world.folder}/samples/labour_data.csv", header=True)


@pytest.mark.runs("docs/spark.md")
def test_the_overview(world: PageWorld, spark: SparkSession) -> None:
    """Codes are in a frame, and two rows are rejected."""
    names = world.names(observations=observations(world, spark))
    world.run_python("docs/spark.md", names)
    assert (names["good"].count(), names["bad"].count()) == (25, 2)
    assert names["codes"].count() > 20


@pytest.mark.runs("docs/guide-spark.md", containing="broker start")
@pytest.mark.runs("docs/guide-spark.md", containing="read_sdmx_csv")
def test_the_guide_with_a_topic(world: PageWorld, kafka_topic: TopicMaker, capsys: pytest.CaptureFixture[str]) -> None:
    """The command fills a topic, and the program finds the two wrong rows in SDMX-CSV."""
    topic = kafka_topic("guide")
    replaced = {"sdmx.structures": topic, "kafka-replica broker start": "true"}
    world.run_shell("docs/guide-spark.md", replaced, containing="broker start")
    paths = {f'"{name}': f'"{world.folder}/{name}' for name in ("samples/", "findings")}
    names: dict[str, Any] = {}
    world.run_python("docs/guide-spark.md", names, {"sdmx.structures": topic, **paths}, containing="read_sdmx_csv")
    printed = capsys.readouterr().out
    assert "25 good rows, 2 bad rows, checked by version 1\n" in printed
    assert "code-unknown" in printed
    (file,) = [path for path in (world.folder / "findings").glob("*.csv") if "code-unknown" in path.read_text()]
    assert file.read_text().startswith("REF_AREA,SEX,TIME_PERIOD,")


@pytest.mark.long
@pytest.mark.runs("docs/spark-views.md")
def test_views_and_the_data_source(world: PageWorld, spark: SparkSession) -> None:
    """The data source reads the same codes from the broker as the view of the replica."""
    names = world.names(spark=spark)
    world.run_python("docs/spark-views.md", names)
    assert names["codes"].count() == kafka_replica_spark.views(spark, world.replica).codes().count() > 20


@pytest.mark.long
@pytest.mark.runs("docs/spark-udf.md")
def test_a_function_that_looks_codes_up(world: PageWorld, spark: SparkSession) -> None:
    """The function gives names of codes to a column of pandas; Spark plans the selection."""
    names = world.names(spark=spark, observations=observations(world, spark))
    world.run_python("docs/spark-udf.md", names)
    assert list(names["area_name"].func(pd.Series(["LU", None]))) == ["Luxembourg", None]


@pytest.mark.long
@pytest.mark.runs("docs/spark-streaming.md")
def test_a_stream(world: PageWorld, spark: SparkSession) -> None:
    """The rows of a batch are checked, and its good and bad ones are written."""
    schema = observations(world, spark).schema
    stream = spark.readStream.schema(schema).option("header", True).csv(f"{world.folder}/samples/*.csv")
    names: dict[str, Any] = world.names(stream=stream, DataFrame=DataFrame)
    replacing = {
        "s3a://bucket/checkpoint": (world.folder / "checkpoint").as_uri(), '"10 seconds"': '"1 second"',
        'f"good/': f'f"{world.folder}/good/', 'f"bad/': f'f"{world.folder}/bad/',
    }  # fmt: skip
    world.run_python("docs/spark-streaming.md", names, replacing)
    try:
        names["query"].processAllAvailable()
    finally:
        names["query"].stop()
    counts = [spark.read.parquet(f"{world.folder}/{kind}/batch=0").count() for kind in ("good", "bad")]
    assert counts == [25, 2]
