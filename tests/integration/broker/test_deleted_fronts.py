"""G8 on a real broker with ``cleanup.policy=compact,delete``: replicas lose the records that the log loses."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient

from kafka_replica import Change, MemoryStore, Partition, Record, Replica, RocksStore, Store
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import assert_same_as_topic, config, decided, durable, values
from support.broker.kafka_tools import all_decided, producer, write
from support.waiting import wait_until

pytestmark = [pytest.mark.broker, pytest.mark.usefixtures("boundaries"), pytest.mark.quiescence_long]

COMPACT_DELETE = {"cleanup.policy": "compact,delete"}
STORES = pytest.mark.parametrize("kind", ["memory", "disk"])


def store(kind: str, folder: Path) -> Store:
    """Return a store of that kind."""
    return MemoryStore() if kind == "memory" else RocksStore(folder / "store")


def delete_before(kafka: LocalKafka, topic: str, offsets: dict[int, int]) -> None:
    """Delete all records below an offset of each partition (DeleteRecords)."""
    admin = AdminClient(config(kafka))
    answers = admin.delete_records([TopicPartition(topic, number, offset) for number, offset in offsets.items()])
    for answer in answers.values():
        answer.result(10)


@STORES
def test_keys_deleted_by_age_disappear_from_a_running_replica(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, kind: str
) -> None:
    """50 deleted keys disappear without a write: listeners receive deletes, and a fresh replica holds the same."""
    topic = kafka_topic("front", config=COMPACT_DELETE)
    writer = producer(local_kafka.bootstrap_servers, topic)
    for first in range(0, 105, 5):
        write(writer, topic, {f"k{number}": "x" for number in range(first, first + 5)})  # six offsets each
    heard: list[Change] = []
    with Replica(config(local_kafka), topic, store(kind, tmp_path)) as replica:
        replica.subscribe(heard.append)
        replica.wait_ready(timeout_s=60)
        before = decided(replica, local_kafka, topic)
        assert len(before) == 105
        delete_before(local_kafka, topic, {0: 60})
        wait_until(lambda: replica.snapshot().version > before.version)
        snapshot = replica.snapshot()
        assert_same_as_topic(snapshot, local_kafka, topic)
        assert (len(snapshot), len(before), snapshot.position) == (55, 105, before.position)
        wait_until(lambda: heard[-1].version == snapshot.version)
        assert {key.decode() for key in heard[-1].deleted} == {f"k{number}" for number in range(50)}
        assert not heard[-1].changed
        with Replica(config(local_kafka), topic) as fresh:
            assert dict(fresh.wait_ready(timeout_s=60)) == dict(snapshot)
        write(writer, topic, {"k0": "again", "k60": None})
        assert_same_as_topic(decided(replica, local_kafka, topic), local_kafka, topic)
        assert replica.status().counts.rebuilds == 0


def test_a_log_start_that_has_moved_while_the_replica_was_down(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Deletions during downtime are applied, with and without new records; the next start has nothing to do."""
    topic = kafka_topic("away", config=COMPACT_DELETE)
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {f"k{number}": "x" for number in range(10)})
    with durable(local_kafka, topic, tmp_path) as replica:
        incarnation = decided(replica, local_kafka, topic) and replica.incarnation
    delete_before(local_kafka, topic, {0: 4})
    with durable(local_kafka, topic, tmp_path) as replica:
        assert set(values(replica.snapshot())) == {f"k{number}" for number in range(4, 10)}
        version = replica.snapshot().version
    write(writer, topic, {"k4": "y", "k0": "y"})
    delete_before(local_kafka, topic, {0: 6})
    with durable(local_kafka, topic, tmp_path) as replica:
        snapshot = decided(replica, local_kafka, topic)
        assert values(snapshot) == {"k0": "y", "k4": "y", **{f"k{number}": "x" for number in range(6, 10)}}
        assert_same_as_topic(snapshot, local_kafka, topic)
        assert (replica.status().counts.rebuilds, replica.incarnation) == (0, incarnation)
        assert snapshot.version > version
    with durable(local_kafka, topic, tmp_path) as replica:
        assert replica.snapshot().version == snapshot.version


@STORES
def test_several_partitions_and_a_transaction_that_is_open(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, kind: str
) -> None:
    """Each partition has its own log start; a transaction that it cuts through is shown with its remaining records."""
    topic = kafka_topic("parts", partitions=3, config=COMPACT_DELETE)
    writer, slow = (producer(local_kafka.bootstrap_servers, f"{topic}-{name}") for name in ("writer", "slow"))

    def produce(key: str, partition: int) -> None:
        slow.produce(topic, key=key.encode(), value=b"slow", partition=partition)

    write(writer, topic, {f"k{number}": "x" for number in range(30)})
    with Replica(config(local_kafka), topic, store(kind, tmp_path)) as replica:
        replica.wait_ready(timeout_s=60)
        ends = {number: end for (_, number), end in all_decided(local_kafka.bootstrap_servers, topic, 3).items()}
        decided(replica, local_kafka, topic, 3)
        slow.begin_transaction()
        for number in range(3):
            produce(f"first{number}", number)
            produce(f"second{number}", number)
        slow.flush()
        markers = replica.status().boundaries == "markers"  # which do not wait for open transactions
        if markers:  # a replica that has not read them yet would rightly begin again
            wait_until(lambda: replica.status().read_position[Partition(topic, 0)] == ends[0] + 2)
        delete_before(local_kafka, topic, {0: ends[0] + 1, 1: 3})
        if markers:
            wait_until(lambda: len(replica.snapshot()) < 30)
        slow.commit_transaction()
        snapshot = decided(replica, local_kafka, topic, 3)
        assert_same_as_topic(snapshot, local_kafka, topic, 3)
        assert {record.offset for record in snapshot.values() if record.partition == 0} == {ends[0] + 1}
        assert {"second0", "first1", "second1", "first2", "second2"} <= set(values(snapshot))
        assert "first0" not in snapshot
        # A reader of committed records had not reached the deleted ones, and had to begin again.
        assert replica.status().counts.rebuilds == (not markers)


def test_a_front_that_is_deleted_while_the_topic_is_read_for_the_first_time(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Records that are read, staged, and deleted before they can be shown never show."""
    topic = kafka_topic("first", config=COMPACT_DELETE)
    writer = producer(local_kafka.bootstrap_servers, topic)
    write(writer, topic, {f"k{number}": "x" * 1000 for number in range(200)})
    for number in range(40):  # records before the first version, in many fetches
        write(writer, topic, {f"more{number}": "x" * 5000})
    shown: set[bytes] = set()

    def delete_when_read(record: Record) -> None:
        if record.key == b"k150":
            delete_before(local_kafka, topic, {0: 100})

    on_disk = RocksStore(tmp_path / "store", write_buffer_bytes=1 << 16)
    on_disk.part_bytes = 10_000
    settings = config(local_kafka, max__partition__fetch__bytes=20_000)
    with Replica(settings, topic, on_disk, validator=delete_when_read) as replica:
        replica.subscribe(lambda change: shown.update(change.snapshot))
        replica.wait_ready(timeout_s=60)
        wait_until(lambda: "k0" not in replica.snapshot())
        snapshot = decided(replica, local_kafka, topic)
        assert_same_as_topic(snapshot, local_kafka, topic)
        assert len(snapshot) == 140
        wait_until(lambda: b"k199" in shown)
        if replica.status().boundaries == "markers":  # otherwise nothing is checked before the end
            assert b"k0" not in shown
            assert snapshot.version == 1


def test_initial_records_are_loaded_again_if_records_are_deleted_unread(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, boundaries: str
) -> None:
    """Records that Kafka deletes during the load may be from before it, but not from later."""
    topic, database = kafka_topic("initial", config={"cleanup.policy": "delete"}), {"a": "1"}
    writer, loaded = producer(local_kafka.bootstrap_servers, topic), 0
    write(writer, topic, {"a": "1"})  # two offsets, with the marker

    def load() -> list[tuple[str, bytes]]:
        nonlocal loaded
        loaded += 1
        found = [(key, value.encode()) for key, value in database.items()]
        delete_before(local_kafka, topic, {0: 2})
        if loaded == 1:
            database["a"] = "2"
            write(writer, topic, {"a": "2"})
            delete_before(local_kafka, topic, {0: 4})
        return found

    with Replica(config(local_kafka), topic, initial_records=load) as replica:
        assert values(replica.wait_ready(timeout_s=60)) == {"a": "2"}
        write(writer, topic, {"b": "3"})
        assert values(decided(replica, local_kafka, topic)) == {"a": "2", "b": "3"}
        if boundaries == "markers":  # librdkafka may have read the record during the load
            assert (loaded, replica.status().counts.rebuilds) == (2, 1)
