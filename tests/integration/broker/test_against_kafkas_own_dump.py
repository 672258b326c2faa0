"""The log's batches and markers as the reader returns them, against Kafka's own DumpLogSegments."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Producer

from kafka_replica import Change, Partition, Replica
from kafka_replica.broker.reading.marker_reader import MarkerReader
from kafka_replica.embedded import LocalKafka
from kafka_replica.testing.pytest_plugin import TopicMaker
from kafka_replica.transactions import Batch, Kind
from support.broker.dump_log import DumpedBatch, dump, tools_jar
from support.broker.kafka_tools import AGGRESSIVE, Writer, producer, quiet, wait_decided
from support.waiting import wait_until

__all__ = ["tools_jar"]

pytestmark = [pytest.mark.long, pytest.mark.broker]


def read_all(bootstrap: str, topic: str, end: int) -> list[Batch]:
    """Return every batch of the marker reader up to an offset."""
    batches: list[Batch] = []
    with closing(MarkerReader({"bootstrap.servers": bootstrap}, [topic])) as reader:
        reader.open()
        position, give_up_s = 0, time.monotonic() + 60
        while position < end:
            assert time.monotonic() < give_up_s, f"read up to offset {position} of {end}"
            reading = reader.read(0.1).reading
            batches += reading.batches
            position = max(reading.positions.values())
    return batches


def kind_of(batch: DumpedBatch) -> Kind:
    """The partition as the replica names it."""
    if batch.control:
        return Kind.COMMIT if batch.marker == "COMMIT" else Kind.ABORT
    return Kind.DATA if batch.transactional else Kind.PLAIN


def as_read(batch: DumpedBatch) -> tuple[Kind, int, int, int, int, int]:
    """The records that the replica reads from the batch."""
    return kind_of(batch), batch.first, batch.end, batch.count, batch.producer_id, batch.producer_epoch


def test_batches_equal_kafkas_dump(local_kafka: LocalKafka, kafka_topic: TopicMaker, tools_jar: Path) -> None:
    """Batches of two interleaving writers, with aborts and plain records, equal Kafka's dump, record by record."""
    topic = kafka_topic("dumped")
    bootstrap = local_kafka.bootstrap_servers
    writers = [
        producer(bootstrap, f"{topic}-{i}", **{"compression.type": codec}) for i, codec in enumerate(["lz4", "zstd"])
    ]
    plain = Producer(quiet({"bootstrap.servers": bootstrap, "linger.ms": 0, "compression.type": "snappy"}))
    for number in range(8):
        for writer in writers:
            writer.begin_transaction()
        for part in range(3):
            for who, writer in enumerate(writers):
                value = None if number % 5 == 4 else f"{number}.{part}".encode()
                writer.produce(topic, key=f"{who}-{part}".encode(), value=value)
                writer.flush()
            plain.produce(topic, key=b"plain", value=str(number).encode())
            plain.flush()
        (writers[1].abort_transaction if number % 3 == 0 else writers[1].commit_transaction)()
        (writers[0].abort_transaction if number % 4 == 1 else writers[0].commit_transaction)()
    end = wait_decided(bootstrap, topic)
    found = read_all(bootstrap, topic, end)
    dumped = dump(local_kafka, tools_jar, topic)
    assert [tuple(batch[1:7]) for batch in found] == [as_read(batch) for batch in dumped]
    assert {Kind.COMMIT, Kind.ABORT, Kind.DATA, Kind.PLAIN} == {batch.kind for batch in found}
    for batch, theirs in zip(found, dumped, strict=True):
        if not theirs.control:
            ours = [
                (offset, key.decode(), value and value.decode()) for key, value, offset, *_ in batch.content.records()
            ]
            assert ours == theirs.records


@pytest.mark.long
def test_each_transaction_makes_one_version_in_order(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tools_jar: Path
) -> None:
    """Versions under three interleaving writers are the transactions of Kafka's dump, one each, in order."""
    topic = kafka_topic("grain")
    bootstrap = local_kafka.bootstrap_servers
    writers = [Writer(bootstrap, topic, number, seed=5, pause_s=0.02) for number in range(3)]
    changes: list[Change] = []
    with Replica(quiet({"bootstrap.servers": bootstrap}), topic, boundaries="markers") as replica:
        replica.wait_ready(timeout_s=60)
        replica.subscribe(changes.append, max_pending=100_000)
        for writer in writers:
            writer.start()
        try:
            wait_until(lambda: len(changes) > 60)
        finally:
            for writer in writers:
                writer.stop.set()
        for writer in writers:
            writer.join(60)
            assert writer.error is None
        last = replica.wait_for({Partition(topic, 0): wait_decided(bootstrap, topic)}, timeout_s=60)
        wait_until(lambda: changes[-1].version >= last.version)
    committed = _transactions(dump(local_kafka, tools_jar, topic))
    assert len(committed) > 20
    seen = [change for change in changes if not change.initial]
    assert sum(change.transactions or 0 for change in seen) == len(committed)
    alone = [change for change in seen if change.transactions == 1]
    assert len(alone) > len(committed) / 2, "hardly a version of one transaction: the test shows nothing"
    ends = dict(committed)
    for change in alone:
        keys = {key.decode() for key in (*change.changed, *change.deleted)}
        assert keys <= ends[change.position[next(iter(change.position))]], (
            "a version of one transaction has another's keys"
        )


@pytest.mark.long
def test_a_compacted_log_equals_kafkas_dump(local_kafka: LocalKafka, kafka_topic: TopicMaker, tools_jar: Path) -> None:
    """A compacted log with gaps, emptied batches and removed markers equals Kafka's dump, and gaps are detected."""
    topic = kafka_topic("holes", config=AGGRESSIVE)
    bootstrap = local_kafka.bootstrap_servers
    writer = producer(bootstrap, topic)
    give_up_s = time.monotonic() + 150
    dumped: list[DumpedBatch] = []
    while not any(0 < batch.count < batch.end - batch.first for batch in dumped):
        assert time.monotonic() < give_up_s, "no batch with a hole came to be: the test shows nothing"
        for number in range(6):
            writer.begin_transaction()
            for key in range(10):
                if key >= number:
                    writer.produce(topic, key=f"k{key}".encode(), value=str(number).encode())
            writer.commit_transaction()
        time.sleep(2.5)
        end = wait_decided(bootstrap, topic)
        before = dump(local_kafka, tools_jar, topic)
        found = read_all(bootstrap, topic, end)
        dumped = dump(local_kafka, tools_jar, topic)
        if before != dumped:
            dumped = []  # cleaned in between
    assert [tuple(batch[1:7]) for batch in found] == [as_read(batch) for batch in dumped if batch.count]


def _transactions(batches: list[DumpedBatch]) -> list[tuple[int, set[str]]]:
    """Return the committed transactions by Kafka's dump: (offset after the marker, keys written)."""
    open_: dict[int, set[str]] = {}
    committed = []
    for batch in batches:
        if not batch.control:
            open_.setdefault(batch.producer_id, set()).update(key for _, key, _ in batch.records)
        else:
            keys = open_.pop(batch.producer_id, set())
            if batch.marker == "COMMIT":
                committed.append((batch.end, keys))
    return committed
