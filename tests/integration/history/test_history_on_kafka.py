"""A history on a real broker: each instant shows what an independent reader finds at the position of its version."""

from __future__ import annotations

import random
import time
from bisect import bisect_right
from pathlib import Path

import pytest
from confluent_kafka import Consumer, KafkaError, TopicPartition

from kafka_replica import Partition, Replica, RocksStore, Snapshot
from kafka_replica.embedded import LocalKafka
from kafka_replica.history import KeptVersion, VersionHistory
from kafka_replica.records import Position
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import config, decided
from support.broker.kafka_tools import Writer
from support.effort import usual_or_long

VERSIONS = usual_or_long(150, 300, 2_000)
INSTANTS = 1_000
PARTITIONS = 2

Written = list[tuple[Partition, int, bytes, bytes | None]]
Content = dict[bytes, tuple[bytes, int]]


def committed(kafka: LocalKafka, topic: str) -> Written:
    """Return partition, offset, key and value of all committed records, in the order of their offsets."""
    reader = Consumer(
        config(kafka, group__id="independent", isolation__level="read_committed", enable__partition__eof=True)
    )
    reader.assign([TopicPartition(topic, number, 0) for number in range(PARTITIONS)])
    found: Written = []
    ends = 0
    while ends < PARTITIONS:
        message = reader.poll(20)
        assert message is not None
        error = message.error()
        if error is None:
            partition = Partition(topic, message.partition() or 0)
            found.append((partition, message.offset() or 0, message.key() or b"", message.value()))
        else:
            assert error.code() == KafkaError._PARTITION_EOF
            ends += 1
    reader.close()
    return found


def content_at(position: Position, written: Written) -> Content:
    """Return the values and offsets of all keys at a position of a log with one writer."""
    state: Content = {}
    for partition, offset, key, value in written:
        if offset >= position.get(partition, 0):
            continue
        if any(open_.partition == partition and open_.holds(offset) for open_ in position.open):
            continue
        if value is None:
            state.pop(key, None)
        else:
            state[key] = value, offset
    return state


def content(snapshot: Snapshot) -> Content:
    """Return the values and offsets of all keys of a version."""
    return {key: (record.value or b"", record.offset) for key, record in snapshot.items()}


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.scaled
@pytest.mark.timeout(600)
def test_each_instant_shows_the_version_that_readers_saw(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """Random instants are answered with the bytes at the position of their version, across a restart.

    Versions that readers have seen are found by number while the writer continues, with the same bytes.
    """
    topic = kafka_topic("history", partitions=PARTITIONS, config={"cleanup.policy": "delete"})
    writer = Writer(local_kafka.bootstrap_servers, topic, 0, seed=11)
    seen: list[tuple[int, int, int, Content]] = []
    writer.start()
    try:
        for run in (1, 2):
            replica = Replica(config(local_kafka), topic, RocksStore(tmp_path / "store"))
            with VersionHistory(tmp_path / "history") as history, history.follow(replica) and replica:
                replica.wait_ready(60)
                while replica.snapshot().version < VERSIONS * run // 2:
                    before_ms, shown, after_ms = now_ms(), replica.snapshot(), now_ms()
                    if len(seen) < VERSIONS // 4 * run:
                        seen.append((before_ms, after_ms, shown.version, content(shown)))
                    time.sleep(0.002)
                    assert writer.error is None, writer.error
                writer.stop.set() if run == 2 else None
                last = replica.snapshot() if run == 1 else decided(replica, local_kafka, topic, PARTITIONS)
                assert content(history.at(version=last.version)) == content(last)
    finally:
        writer.stop.set()
        writer.join()
    written = committed(local_kafka, topic)
    with VersionHistory(tmp_path / "history") as history:
        versions = history.versions(limit=100_000)[::-1]
        assert [each.number for each in versions] == list(range(1, versions[-1].number + 1))
        assert [each.missing for each in versions] == [None, *[0] * (len(versions) - 1)]
        check_instants(history, versions, written)
        for before_ms, after_ms, number, expected in seen:
            assert content(history.at(version=number)) == expected
            assert history.at(instant=after_ms).version >= number
            assert history.at(instant=before_ms).version <= number + 1  # recorded, and shown a moment later
        assert versions[-1].number >= VERSIONS


def check_instants(history: VersionHistory, versions: list[KeptVersion], written: Written) -> None:
    """Compare random instants with the records below the position of the version that was shown then."""
    dice = random.Random(5)
    known: dict[int, Content] = {}
    starts = [each.published_ms for each in versions]
    for _ in range(INSTANTS):
        ms = dice.randint(starts[0], starts[-1])
        snapshot = history.at(instant=ms)
        kept = versions[bisect_right(starts, ms) - 1]
        assert snapshot.kept == kept
        if kept.sequence not in known and len(known) < VERSIONS // 4:
            known[kept.sequence] = content_at(kept.position, written)
            assert content(snapshot) == known[kept.sequence]
    assert len(known) > VERSIONS // 10


def now_ms() -> int:
    """Return the time."""
    return time.time_ns() // 1_000_000
