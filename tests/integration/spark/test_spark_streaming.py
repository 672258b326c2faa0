"""Structured Streaming against a replica of a real topic."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from kafka_replica import Replica
from kafka_replica.errors import BrokerError, ReplicaClosedError, UsageError
from kafka_replica.producer import TransactionalProducer
from kafka_replica.sdmx import split_message
from kafka_replica.testing.pytest_plugin import TopicMaker
from kafka_replica_spark import Batch, foreach_batch, split, transform_stream, validate_stream, views, write_stream
from support.mapping.maps_by_hand import MAP, component_map, named, representation_map, structure_map
from support.spark.spark_world import coded, codelist, component, concepts, format_, message, structure

STRUCTURE = structure(
    "DSD",
    component("Dimension", "AREA", coded("T:CL_AREA(1.0)"))
    + component("TimeDimension", "TIME_PERIOD", format_("ObservationalTimePeriod")),
    measures=component("Measure", "OBS_VALUE", format_("Double")),
)
REFERENCE = "urn:sdmx:org.sdmx.infomodel.datastructure.DataStructure=T:DSD(1.0)"


class World:
    """A topic of structures, a replica of it, and a folder of observations that is read as a stream."""

    def __init__(self, producer: TransactionalProducer, topic: str, replica: Replica, folder: Path) -> None:
        self.producer, self.topic, self.replica, self.folder = producer, topic, replica, folder
        self.data = folder / "data"
        self.data.mkdir()
        self.seen: list[tuple[int, int, list[tuple[str, str | None]]]] = []

    def publish(self, *codes: str) -> int:
        """Publish the list of areas with these codes; return the version that contains it."""
        return self._put(codelist("CL_AREA", codes) + concepts(ids=["AREA", "TIME_PERIOD", "OBS_VALUE"]) + STRUCTURE)

    def publish_map(self, values: dict[str, str]) -> int:
        """Publish a map of areas to places with these values; return the version that contains it."""
        by = representation_map("R", *(f"{area}>{place}" for area, place in values.items()))
        ends = named("S", "AREA") + named("G", "PLACE")
        return self._put(ends + by + structure_map(component_map("AREA", "PLACE", "R")))

    def _put(self, content: str) -> int:
        with self.producer.transaction() as transaction:
            for part in split_message(message(content)):
                transaction.put(str(part.urn), part.value, (("content-type", part.content_type.encode()),))
        position = transaction.committed.position
        return self.replica.wait_for(position, 30).version

    def observe(self, name: str, *areas: str) -> None:
        """Write a file of observations."""
        rows = [{"AREA": area, "TIME_PERIOD": str(2000 + i), "OBS_VALUE": "1"} for i, area in enumerate(areas)]
        (self.folder / name).write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
        (self.folder / name).rename(self.data / f"{name}.json")

    def stream(self, spark: SparkSession) -> DataFrame:
        """Return the folder as a stream, with one file per micro-batch."""
        reader = spark.readStream.schema("AREA string, TIME_PERIOD string, OBS_VALUE string")
        return reader.option("maxFilesPerTrigger", 1).json(str(self.data))

    def write(self, checked: DataFrame, batch: Batch) -> None:
        """Keep the findings: number, version in the rows, and each area with the rule that it breaks."""
        rows = checked.collect()
        versions = {row._version for row in rows} | {batch.version}
        assert len(versions) == 1
        assert {row._position for row in rows} == {batch.position}
        found = sorted((row.AREA, row._errors and row._errors[0].rule) for row in rows)
        self.seen.append((batch.number, batch.version, found))

    @property
    def checkpoint(self) -> str:
        """The folder of the query's checkpoint."""
        return (self.folder / "checkpoint").as_uri()


@pytest.fixture
def world(local_kafka: object, kafka_topic: TopicMaker, tmp_path: Path) -> Iterator[World]:
    """A world with areas A and B."""
    topic = kafka_topic("structures")
    servers = {"bootstrap.servers": local_kafka.bootstrap_servers}  # type: ignore[attr-defined]
    producer = TransactionalProducer(servers, topic, transactional_id=topic)
    with Replica(servers, topic) as replica:
        made = World(producer, topic, replica, tmp_path)
        made.publish("A", "B")
        yield made


def test_a_change_counts_from_the_next_batch_on(spark: SparkSession, world: World) -> None:
    """A change while a batch is being written does not affect that batch; the next one has the new version."""
    world.observe("first", "A", "B", "C")
    world.observe("second", "A", "B", "C")

    def write(checked: DataFrame, batch: Batch) -> None:
        if batch.number == 0:
            assert world.publish("A", "C") > batch.version
        good, bad = split(checked)
        assert (good.count(), bad.count()) == (2, 1)
        world.write(checked, batch)

    query = validate_stream(world.stream(spark), REFERENCE, world.replica, write, checkpoint=world.checkpoint)
    running = query.trigger(availableNow=True).start()
    assert running.awaitTermination(120)
    (_, before, first), (_, after, second) = world.seen
    assert first == [("A", None), ("B", None), ("C", "code-unknown")]
    assert second == [("A", None), ("B", "code-unknown"), ("C", None)]
    assert after > before


@pytest.mark.long
def test_a_repeated_batch_uses_the_newest_version_and_is_marked(
    spark: SparkSession, world: World, caplog: pytest.LogCaptureFixture
) -> None:
    """A failed batch is repeated after a restart with the newest version, and marked as a repetition."""
    caplog.set_level(logging.INFO, "kafka_replica")
    world.observe("first", "A")
    world.observe("second", "C")
    stream = world.stream(spark)

    def dies(checked: DataFrame, batch: Batch) -> None:
        world.write(checked, batch)
        if batch.number == 1:
            raise RuntimeError("the sink is full")

    query = validate_stream(stream, REFERENCE, world.replica, dies, checkpoint=world.checkpoint)
    with pytest.raises(Exception, match="the sink is full"):
        query.trigger(availableNow=True).start().awaitTermination(120)
    old = world.replica.snapshot()
    new = world.publish("A", "C")
    batches: list[Batch] = []

    def writes(checked: DataFrame, batch: Batch) -> None:
        batches.append(batch)
        world.write(checked, batch)

    again = validate_stream(stream, REFERENCE, world.replica, writes, checkpoint=world.checkpoint)
    assert again.trigger(availableNow=True).start().awaitTermination(120)
    assert [(number, found) for number, _, found in world.seen] == [
        (0, [("A", None)]), (1, [("C", "code-unknown")]), (1, [("C", None)]),
    ]  # fmt: skip
    (batch,) = batches
    assert (batch.number, batch.version) == (1, new)
    assert batch.repeats is not None
    assert (batch.repeats.version, json.loads(batch.repeats.position)) == (old.version, old.position.as_json())
    (warning,) = [entry for entry in caplog.records if "repetition" in entry.getMessage()]
    assert warning.levelno == logging.WARNING
    assert f"started before with version {old.version} of" in warning.getMessage()
    assert f"against version {new} of" in warning.getMessage()


def test_views_of_the_version_can_be_joined_in_a_batch(spark: SparkSession, world: World) -> None:
    """Views of the same version may be joined in a batch."""
    world.observe("first", "A", "X")

    def prepare(rows: DataFrame, snapshot: object) -> DataFrame:
        names = views(spark, snapshot).codes(id="CL_AREA").select("code", "name", "_version")  # type: ignore[arg-type]
        return rows.join(names, names.code == rows.AREA, "left")

    found: list[tuple[str, str | None]] = []

    def write(rows: DataFrame, batch: Batch) -> None:
        found.extend((row.AREA, row.name) for row in rows.collect())

    query = write_stream(world.stream(spark), world.replica, prepare, write, checkpoint=world.checkpoint)
    assert query.trigger(availableNow=True).start().awaitTermination(120)
    assert sorted(found) == [("A", "A in words"), ("X", None)]


def test_a_replica_that_ended_ends_the_query(spark: SparkSession, world: World) -> None:
    """A closed or failed replica ends the query, because its version would never become newer."""
    call = foreach_batch(world.replica, lambda rows, _: rows, world.write)
    world.replica.close()
    with pytest.raises(ReplicaClosedError, match="is closed"):
        call(spark.range(1), 0)
    missing = Replica(world.replica.config, "nowhere", wait_for_topic=False).start()
    with pytest.raises(BrokerError):
        missing.wait_ready(60)
    with pytest.raises(BrokerError, match="nowhere failed"):
        foreach_batch(missing, lambda rows, _: rows, world.write)(spark.range(1), 0)
    missing.close()
    assert world.seen == []


def test_a_frame_that_is_no_stream(spark: SparkSession, world: World) -> None:
    """A frame that is not a stream is rejected with a hint at validate()."""
    with pytest.raises(UsageError, match="not streaming; use validate"):
        validate_stream(spark.range(1), REFERENCE, world.replica, world.write, checkpoint=world.checkpoint)


@pytest.mark.long
def test_a_map_counts_from_the_next_batch_on(spark: SparkSession, world: World) -> None:
    """A map that changes while a batch is written does not affect that batch; the next one has the new map."""
    world.publish_map({"A": "X", "B": "Y"})
    world.observe("first", "A", "C")
    world.observe("second", "A", "C")
    seen: list[tuple[int, list[str], list[str]]] = []

    def write(mapped: DataFrame, batch: Batch) -> None:
        if not seen:
            assert world.publish_map({"A": "Z", "C": "Y"}) > batch.version
        good, bad = split(mapped)
        stamps = {(row._version, row._position) for part in (good, bad) for row in part.collect()}
        assert stamps == ({(batch.version, batch.position)})
        seen.append((batch.version, [row.PLACE for row in good.collect()], [row.AREA for row in bad.collect()]))

    query = transform_stream(world.stream(spark), MAP, world.replica, write, checkpoint=world.checkpoint)
    assert query.trigger(availableNow=True).start().awaitTermination(120)
    (before, *first), (after, *second) = seen
    assert first == [["X"], ["C"]]
    assert sorted(second[0]) == ["Y", "Z"]
    assert second[1] == []
    assert after > before
