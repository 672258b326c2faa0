"""A typical program of a user. It is never run: ``make check`` lets mypy and pyright check its types strictly.

A value assigned to a name with a type must fit that type exactly, so that a lost type is noticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import assert_type

from prometheus_client import CollectorRegistry
from pyspark.sql import DataFrame, SparkSession
from starlette.applications import Starlette

from kafka_replica import (
    AsyncReplica,
    Change,
    DeadLetterFile,
    Difference,
    KafkaReplicaError,
    KeyFilter,
    MemoryStore,
    Partition,
    Record,
    Replica,
    RocksStore,
    Snapshot,
    Status,
    Store,
)
from kafka_replica.data import validate as validate_without_spark
from kafka_replica.directories import DatabaseTransactions, Directory, DirectoryView
from kafka_replica.directories.interpreters import (
    ActiveRows,
    ConnectJson,
    DebeziumEvents,
    DeleteAll,
    FolioEvents,
    Put,
)
from kafka_replica.embedded import LocalKafka
from kafka_replica.metrics import export_replica, export_structures
from kafka_replica.producer import TransactionalProducer
from kafka_replica.sdmx import Codelist, LiveStructures, Structures, only
from kafka_replica.server import ListenSettings, ServerSettings, create_app, serve
from kafka_replica.testing import FakeTopic
from kafka_replica_spark import SplitRows, session, split, transform, validate, views

CONFIG = {"bootstrap.servers": "localhost:9092"}
FREQ = "SDMX:CL_FREQ(2.1)"


def look_up(snapshot: Snapshot) -> None:
    """Read records by key, as bytes and as text; structures by reference."""
    record = snapshot.get("urn:x")
    assert_type(record, Record | None)
    assert_type(snapshot.get(b"urn:x", None), Record | None)
    assert_type(snapshot["urn:x"].value, bytes | None)
    assert_type(list(snapshot), list[bytes])
    structures = Structures(snapshot)
    assert_type(structures.codelist(FREQ), Codelist)
    name: str | None = structures.codelist(FREQ).codes["A"].name("en")
    names: Mapping[str, str] = structures.codelist(FREQ).codes["A"].names
    print({**names})
    print(name, snapshot.version, snapshot.position, len(snapshot), b"urn:x" in snapshot)
    print(Structures(snapshot.of("terminals")).find("Codelist"))


def prices(record: Record) -> list[Put] | DeleteAll | None:
    """Interpret a record."""
    return DeleteAll("shop") if record.value == b"closed" else [Put(record.key, record.value or b"")]


def look_up_objects(replica: Replica) -> None:
    """Use directories, with interpreters and database transactions."""
    whole = DatabaseTransactions(replica, "shop.transaction").snapshot()
    assert_type(whole, Snapshot)
    dates = Directory(replica, date, interpreter=ActiveRows("id", rows=DebeziumEvents()))
    assert_type(dates.at(whole), DirectoryView[str, date])
    assert_type(dates["7"], date)
    years = Directory(replica, date, key=lambda found: found.year, interpreter=prices)
    assert_type(years[2026], date)
    assert_type(Directory(replica, date, key="year")[2026], date)
    assert_type(Directory(replica, date, interpreter=ConnectJson()).get("7"), date | None)
    assert_type(Directory(replica, date, interpreter=FolioEvents("diku")).view()["7"], date)


def follow(replica: Replica) -> None:
    """Use listeners, changes, live look-ups, the past, metrics."""

    def listen(change: Change) -> None:
        print(change.version, *change.changed, *change.deleted, len(change.snapshot), change.previous)

    subscription = replica.subscribe(listen)
    for change in replica.changes(timeout_s=30):
        assert_type(change, Change)
    subscription.close()
    with LiveStructures(replica) as live:
        assert_type(live.structures(), Structures)
        export_structures(live, name="codes")
    assert_type(replica.status(), Status)
    assert_type(replica.diff(41), Difference)
    assert_type(replica.at(41), Snapshot)
    registry = CollectorRegistry()
    export_replica(replica, name="structures", registry=registry)


def keep_a_replica(folder: Path) -> None:
    """Use stores, filters, bad records, several topics."""
    store: Store = RocksStore(folder)
    key_filter = only(cls=["Codelist", "DataStructure"], agency="ESTAT*") | ~KeyFilter.regex(r":test\d+$")
    with Replica(
        CONFIG, topics=["structures", "terminals"], store=store, key_filter=key_filter, on_bad_record="dead-letter",
        dead_letters=DeadLetterFile(folder / "bad.jsonl"),
    ) as replica:  # fmt: skip
        look_up(replica.wait_ready(timeout_s=60))
        follow(replica)
    with Replica(CONFIG, topic="structures", store=MemoryStore(), kept_versions=10) as other:
        snapshot = other.snapshot()
        look_up(snapshot)
        print(Structures(other.snapshot()), Structures(snapshot))


async def follow_with_asyncio() -> None:
    """Use a replica with asyncio."""
    async with AsyncReplica(Replica(CONFIG, "structures")) as replica:
        assert_type(await replica.wait_ready(timeout_s=60), Snapshot)
        async for change in replica.changes():
            assert_type(change, Change)
        with LiveStructures(replica.replica) as live:
            look_up(replica.replica.snapshot())
            print(live.structures())


def check_data(frame: DataFrame, snapshot: Snapshot) -> None:
    """Use views, validation and mapping, with Spark and without."""
    spark = session("checks")
    assert_type(spark, SparkSession)
    assert_type(views(spark, snapshot).codes(), DataFrame)
    parts = split(validate(frame, "KR_DEMO:LABOUR(1.0)", snapshot, as_of=date(2024, 1, 1)))
    assert_type(parts, SplitRows)
    good, bad = parts
    assert_type(transform(good, "KR_DEMO:MAP(1.0)", snapshot), DataFrame)
    bad.show()
    print(validate_without_spark)


def write() -> None:
    """Use a broker for tests, transactions, and read your own writes."""
    with LocalKafka() as kafka:
        producer = TransactionalProducer({"bootstrap.servers": kafka.bootstrap_servers}, "structures", "writer")
        with producer.transaction() as transaction:
            transaction.put("key", b"value")
            transaction.delete("other")
        with Replica(CONFIG, "structures") as replica:
            look_up(replica.wait_for(transaction.committed.position, timeout_s=10))
            replica.wait_for({Partition("structures", 0): 17}, timeout_s=10)


def serve_over_http(replica: Replica) -> None:
    """Serve a replica over HTTP, alone or as a part of an app."""
    app = create_app(replica, ServerSettings(allowed_hosts=("structures.example.org",), max_lag_s=60))
    assert_type(app, Starlette)
    serve(replica, ServerSettings(), ListenSettings(port=0), on_listening=print)


def fail(replica: Replica) -> None:
    """Handle errors, which have one base class."""
    try:
        replica.wait_ready(timeout_s=1)
    except KafkaReplicaError as error:
        print(error)


def test_a_topic_without_a_broker(topic: FakeTopic) -> None:
    """A test of a user gets a topic that needs no broker, with the types that it declares."""
    with topic.replica() as replica:
        look_up(replica.snapshot())
