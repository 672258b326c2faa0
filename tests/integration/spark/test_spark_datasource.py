"""spark.read.format("kafka_replica"): from a real broker, and from stores."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

from kafka_replica import MemoryStore, Partition, Position, Record, Replica
from kafka_replica.errors import ConfigurationError, StoreError, UsageError
from kafka_replica.producer import TransactionalProducer
from kafka_replica.records import topic_key
from kafka_replica.sdmx import split_message
from kafka_replica.stores.contract import Store
from kafka_replica.stores.delta import Delta
from kafka_replica.stores.read_only import look
from kafka_replica.stores.rocks import RocksStore
from kafka_replica.testing.pytest_plugin import TopicMaker
from kafka_replica.transactions.resume_point import ResumePoint
from kafka_replica_spark import register_data_source, views
from kafka_replica_spark.datasource import KafkaReplicaSource
from kafka_replica_spark.options import parse_options, snapshot_of
from kafka_replica_spark.tables import VIEWS
from support.effort import first_in_usual, usual_or_long
from support.spark.other_process import answer
from support.spark.spark_world import SOURCE, codelist, message
from support.spark.views_material import parts, records


def read(spark: SparkSession, view: str, **options: object) -> DataFrame:
    """Return a frame of the data source; in names of options _ is replaced by a dot."""
    register_data_source(spark)
    reader = spark.read.format("kafka_replica").option("view", view)
    for name, value in options.items():
        reader = reader.option(name.replace("_", "."), str(value))
    return reader.load()


def filled(store: Store) -> None:
    """The material, as version 1, then the store is closed."""
    found = records()
    position = Position({SOURCE: len(found)})
    store.apply(Delta(found), position, ResumePoint(position))
    store.close()


@pytest.mark.long
def test_from_a_broker(spark: SparkSession, local_kafka: object, kafka_topic: TopicMaker) -> None:
    """A load gives the rows and columns of views() of a replica, in a fixed version; a later load has a later one."""
    servers: str = local_kafka.bootstrap_servers  # type: ignore[attr-defined]
    topic = kafka_topic("structures")
    producer = TransactionalProducer({"bootstrap.servers": servers}, topic, transactional_id=topic)
    with producer.transaction() as transaction:
        for key, value, content_type in parts():
            transaction.put(key, value, (("content-type", content_type.encode()),))
    producer.wait_visible(transaction.committed, 60)
    options = {"kafka_bootstrap_servers": servers, "kafka_client_id": "spark", "topic": topic}
    frame = read(spark, "codes", **options)
    with Replica({"bootstrap.servers": servers}, topic) as replica:
        position = transaction.committed.position
        snapshot = replica.wait_for(position, 30)
        here = views(spark, snapshot).codes()
    assert sorted(frame.collect()) == sorted(here.collect())
    assert frame.schema == here.schema
    version_metadata = frame.schema["_version"].metadata
    assert (version_metadata["version"], json.loads(version_metadata["position"])) == (1, snapshot.position.as_json())
    (part,) = split_message(message(codelist("CL_AREA", ["NEW"])))
    with producer.transaction() as second:
        second.put(str(part.urn), part.value, (("content-type", part.content_type.encode()),))
    areas = frame.filter("codelist = 'CL_AREA'").select("code", "_version")
    for _ in range(2):
        assert [tuple(row) for row in areas.collect()] == [("EU", 1), ("A", 1), ("B", 1)]
    (row,) = read(spark, "codes", **options, id="CL_AREA").select("code", "_position").collect()
    assert row.code == "NEW"
    end = second.committed.position
    assert end is not None
    ((_, offset),) = end.items()
    assert list(json.loads(row._position).values()) >= [offset]


@pytest.mark.scaled
@pytest.mark.parametrize("kind", first_in_usual(["rocksdb", "checkpoint"], 1))
def test_from_a_store(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """A checkpoint file and the folder of a store are read, even while another replica uses them."""
    path = tmp_path / "store"
    filled(MemoryStore(path) if kind == "checkpoint" else RocksStore(path))
    holder = MemoryStore(path) if kind == "checkpoint" else RocksStore(path)
    try:
        for view in usual_or_long(["structures", "codes"], VIEWS):  # each starts a Python
            frame = read(spark, view, store=path)
            assert frame.count() == getattr(views(spark, look(path).snapshot), view)().count() > 0
    finally:
        holder.close()


@pytest.mark.long
def test_a_table_in_many_slices_has_each_row_once(spark: SparkSession, tmp_path: Path) -> None:
    """A table in many slices has each row once, in as many partitions; no rows are a frame of the same columns."""
    filled(MemoryStore(tmp_path / "store"))
    whole = read(spark, "codes", store=tmp_path / "store")
    small = read(spark, "codes", store=tmp_path / "store", sliceBytes=1)
    rows = small.collect()
    assert small.rdd.getNumPartitions() == len(rows) == 8
    assert whole.rdd.getNumPartitions() == 1
    assert sorted(rows) == sorted(whole.collect())
    none = read(spark, "codes", store=tmp_path / "store", agency="NOBODY")
    assert none.collect() == []
    assert none.schema == whole.schema


def test_no_password_goes_beyond_load(tmp_path: Path) -> None:
    """No password goes beyond load(); the tasks contain neither the table nor this package."""
    filled(MemoryStore(tmp_path / "store"))
    source = KafkaReplicaSource({"store": str(tmp_path / "store"), "view": "codes"})
    schema = source.schema()
    source.options["kafka.sasl.password"] = "secret"
    kept = cloudpickle.dumps(source)
    assert b"secret" not in kept
    reader = pickle.loads(kept).reader(schema)
    task = cloudpickle.dumps(reader)
    assert len(task) < 10_000
    (part,) = reader.partitions()
    code = "[[row['code'], row['_version']] for batch in found[0].read(found[1]) for row in batch.to_pylist()]"
    found = answer(cloudpickle.dumps((reader, part)), code, tmp_path)
    assert found == [[code, 1] for code in ("EU", "A", "B", "X_EU", "X_A", "X_B", "Z", "€")]


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"view": "codes"}, "give kafka.bootstrap.servers and topic, or store"),
        ({"view": "codes", "kafka.bootstrap.servers": "x:1"}, "give kafka.bootstrap.servers and topic"),
        ({"view": "codes", "store": "x", "kafka.bootstrap.servers": "x:1", "topic": "t"}, "exclude each other"),
        ({"view": "kodes", "store": "x"}, "view='kodes' is not possible; it is one of structures, codes"),
        ({"store": "x"}, "view=None is not possible"),
        ({"view": "codes", "store": "x", "agencies": "T"}, "unknown option agencies"),
        ({"view": "codes", "store": "x", "timeoutSeconds": "soon"}, "timeoutSeconds='soon' is not a number above 0"),
    ],
)
def test_invalid_options_are_reported_before_reading(options: dict[str, str], reason: str) -> None:
    """Each invalid option is reported before anything is read."""
    with pytest.raises(ConfigurationError, match=reason):
        parse_options(options)


@pytest.mark.parametrize("kind", ["rocksdb", "checkpoint"])
@pytest.mark.parametrize(
    ("has_key_spaces", "topic", "expected"),
    [
        (True, "a", {b"k"}),
        (True, "b", {b"k"}),
        (True, "", "separate key spaces: select one of them with topic"),
        (True, "a,b", "separate key spaces: select one of them with topic"),
        (True, "c", "no topic c"),
        (False, "", {b"a\0k", b"b\0k"}),
        (False, "b,a", {b"a\0k", b"b\0k"}),
        (False, "a", "as one key space; leave topic out"),
    ],
)
def test_a_topic_of_a_store_is_selected_if_topics_have_key_spaces(
    tmp_path: Path, kind: str, *, has_key_spaces: bool, topic: str, expected: set[bytes] | str
) -> None:
    """A store of topics with separate key spaces needs one topic; one of several topics of a key space is refused."""
    store = MemoryStore(tmp_path / "store") if kind == "checkpoint" else RocksStore(tmp_path / "store")
    parts = Partition("a", 0), Partition("b", 0)
    position = Position(dict.fromkeys(parts, 1))
    found = [Record(topic_key(part.topic, b"k"), b"value", 0, -1, (), part) for part in parts]
    store.apply(Delta(found), position, ResumePoint(position, has_key_spaces=has_key_spaces))
    store.close()
    options = parse_options({"view": "codes", "store": str(tmp_path / "store"), "topic": topic})
    if isinstance(expected, set):
        with snapshot_of(options) as snapshot:
            assert set(snapshot) == expected
    else:
        with pytest.raises(ConfigurationError, match=expected), snapshot_of(options):
            pass


def test_failures_raise_errors_with_advice(spark: SparkSession, tmp_path: Path) -> None:
    """A missing store, a too large table, and a given schema each raise an error with advice."""
    with pytest.raises(StoreError, match="give the folder of a store, or a checkpoint file"):
        look(tmp_path / "nothing")
    filled(MemoryStore(tmp_path / "store"))
    with pytest.raises(Exception, match="select fewer artefacts"):
        read(spark, "codes", store=tmp_path / "store", maxBytes=100)
    with pytest.raises(UsageError, match="omit schema"):
        KafkaReplicaSource({}).reader(None)  # type: ignore[arg-type]
