"""Large values on a real broker: under the most aggressive compaction, and with writers that are killed."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import Change, Replica, RocksStore, Snapshot
from kafka_replica.embedded import LocalKafka
from kafka_replica.large_values import is_chunk_key, orphaned_chunks
from kafka_replica.producer import LargeValueProducer, TransactionalProducer
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.durable_tools import config, decided, durable
from support.broker.kafka_tools import AGGRESSIVE, independent_read, producer
from support.broker.large_value_writer import value_of
from support.broker.log_tools import FORGETFUL, records, wait_compacted
from support.effort import usual_or_long
from support.paths import TESTS

pytestmark = pytest.mark.broker


def test_chunks_under_one_key_are_lost_and_chunks_under_their_own_keys_are_not(
    local_kafka: LocalKafka, kafka_topic: TopicMaker
) -> None:
    """The naive approach loses all chunks but the last to compaction; a manifest with chunks of their own survives."""
    topic = kafka_topic("naive", config=AGGRESSIVE)
    value = value_of(b"naive;", 5000)
    naive = producer(local_kafka.bootstrap_servers, f"{topic}-naive")
    naive.begin_transaction()
    for number in range(5):
        naive.produce(topic, key=b"naive", value=value[number * 1000 : (number + 1) * 1000])
    naive.commit_transaction()
    with Replica(config(local_kafka), topic, large_values=True) as replica:
        own = TransactionalProducer(config(local_kafka), topic, f"{topic}-own")
        with LargeValueProducer(own, replica, chunk_bytes=1000).transaction() as transaction:
            transaction.put("large", value)
        wait_compacted(local_kafka, topic, lambda left: sum(key == b"naive" for key, _ in left) == 1)
        left = b"".join(found or b"" for key, found in records(local_kafka, topic) if key == b"naive")
        assert left == value[4000:]  # four fifths of the value are lost, for every reader
    with Replica(config(local_kafka), topic, large_values=True) as fresh:
        assert fresh.wait_ready(60)["large"].value == value
        assert fresh.snapshot()["naive"].value == value[4000:]


def is_chunk(key: bytes | None) -> bool:
    """Return whether the record with this key is a chunk."""
    return key is not None and b"\0" in key


class Versions:
    """A checker of versions: values are whole, belong together, and never get older."""

    def __init__(self) -> None:
        self.versions = 0
        self.wrong: list[str] = []
        self._last: dict[str, tuple[int, ...]] = {}

    def look(self, change: Change) -> None:
        """Check the version of a change, for a listener."""
        try:
            self.check(change.snapshot)
            assert not any(map(is_chunk_key, (*change.changed, *change.deleted)))
        except Exception as error:  # noqa: BLE001 - the test shows them
            self.wrong.append(f"version {change.version}: {error!r}")

    def check(self, snapshot: Snapshot) -> None:
        """Check a version."""
        self.versions += 1
        tokens: dict[str, set[bytes]] = {}
        for key, record in snapshot.items():
            if key == b"filler":
                continue
            value = record.value or b""
            token = value.partition(b";")[0] + b";"
            assert value == value_of(token, int(record.header("size") or 0)), f"{key!r} is mixed or partial"
            tokens.setdefault(key.decode().partition("-")[0], set()).add(token)
        for pair, found in tokens.items():
            assert len(found) == 1, f"the values of pair {pair} are of several writes: {found}"
            write = tuple(map(int, found.pop()[:-1].split(b".")))
            assert write >= self._last.get(pair, (0, 0)), f"pair {pair} went back to {write}"
            self._last[pair] = write


def write(kafka: LocalKafka, topic: str, run: int, dies: int) -> int:
    """Let a writer run; return how many records it has written, 0 if it was killed in the middle of a value."""
    program = TESTS / "support/broker/large_value_writer.py"
    done = subprocess.run(
        [sys.executable, str(program), kafka.bootstrap_servers, topic, str(run), str(dies)],
        capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == (-signal.SIGKILL if dies else 0), done.stderr
    return int(done.stdout or 0)


def assembled(state: dict[bytes, tuple[bytes, int]]) -> dict[bytes, bytes]:
    """Return the values in a state that an independent reader has found, put together without the library."""
    chunks = {key: value for key, (value, _) in state.items() if b"\0" in key}
    found: dict[bytes, bytes] = {}
    for key, (value, _) in state.items():
        if b"\0" in key:
            continue
        manifest: dict[str, Any] = json.loads(value) if value.startswith(b'{"write_id"') else {"count": 0}
        keys = [b"%b\0kr-chunk/1/%b/%08x" % (key, manifest["write_id"].encode(), n) for n in range(manifest["count"])]
        found[key] = b"".join(map(chunks.pop, keys)) if keys else value
    assert not chunks, f"these chunks belong to nothing: {list(chunks)}"
    return found


@pytest.mark.long
@pytest.mark.scaled
@pytest.mark.parametrize("partitions", [3, 1])
def test_a_writer_killed_in_the_middle_of_a_value_leaves_no_trace(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path, partitions: int
) -> None:
    """Under aggressive compaction every version of every replica shows whole values, also after restarts from disk."""
    topic = kafka_topic("killed", partitions=partitions, config=FORGETFUL)
    live_versions, disk_versions, chance = Versions(), Versions(), random.Random(partitions)
    options: dict[str, Any] = {"large_values": True}
    with Replica(config(local_kafka), topic, **options) as live:
        live.subscribe(live_versions.look)
        for run in range(1, usual_or_long(5, 8, 40)):
            # It reads what was open when the last writer was killed, and misses what was compacted since it ended.
            store = RocksStore(tmp_path)
            with Replica(config(local_kafka), topic, store, boundaries="quiescence", **options) as restarted:
                restarted.subscribe(disk_versions.look)
                assert write(local_kafka, topic, run, dies=chance.randint(2, 60)) == 0
        written = write(local_kafka, topic, 100, dies=0)
        last = decided(live, local_kafka, topic, partitions)
        if partitions == 1:
            needed = {key for key in last.records if is_chunk_key(key)}  # type: ignore[attr-defined]
            wait_compacted(
                local_kafka, topic, lambda left: {key for key, value in left if value and is_chunk(key)} == needed
            )
            last = decided(live, local_kafka, topic, partitions)
    with durable(local_kafka, topic, tmp_path, **options) as restarted, \
            Replica(config(local_kafka), topic, **options) as fresh:  # fmt: skip
        for replica in (restarted, fresh):
            replica.wait_ready(60)
            snapshot = decided(replica, local_kafka, topic, partitions)
            values = {key: record.value for key, record in snapshot.items()}
            assert values == {key: record.value for key, record in last.items()}
            assert values == assembled(independent_read(local_kafka.bootstrap_servers, topic, partitions))
            assert list(orphaned_chunks(snapshot)) == []
    assert live_versions.wrong == disk_versions.wrong == []
    # A busy replica shows several of the transactions, of which there are 28 at least, as one version.
    assert live_versions.versions > usual_or_long(7, 11, 20)
    assert disk_versions.versions > usual_or_long(2, 3, 5)
    assert written > 30


def test_a_store_keeps_large_values_over_a_restart(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, tmp_path: Path
) -> None:
    """RocksDB has manifest and chunks of one version; the restarted replica reads nothing again."""
    topic = kafka_topic("restarted")
    value = random.Random(1).randbytes(3 << 20)
    own = TransactionalProducer(config(local_kafka), topic, topic)
    with durable(local_kafka, topic, tmp_path, large_values=True) as replica:
        with LargeValueProducer(own, replica).transaction() as transaction:
            transaction.put("large", value)
        assert replica.wait_for(transaction.committed.position, 60)["large"].value == value
    store = RocksStore(tmp_path)
    assert len(store.snapshot()) == 7
    store.close()
    with durable(local_kafka, topic, tmp_path, large_values=True) as replica:
        assert replica.snapshot()["large"].value == value
        assert replica.status().counts.records == 0
