"""Writers and an independent reader for tests on a real broker, without code of kafka_replica."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import (
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec

from kafka_replica import Partition

AGGRESSIVE = {
    "cleanup.policy": "compact",
    "segment.ms": "100",
    "min.cleanable.dirty.ratio": "0.001",
    "min.compaction.lag.ms": "0",
    "max.compaction.lag.ms": "100",
    "delete.retention.ms": "0",
}
"""A topic compacted as aggressively as Kafka allows."""


def quiet(config: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration that prints nothing on stderr when a broker is stopped."""
    return {**config, "log_level": 0}


def producer(bootstrap: str, transactional_id: str, **more: str | int | bool) -> Producer:
    """Return a transactional producer, ready to begin."""
    made = Producer(
        quiet({"bootstrap.servers": bootstrap, "transactional.id": transactional_id, "linger.ms": 0, **more})
    )
    made.init_transactions(30)
    return made


def write(made: Producer, topic: str, records: dict[str, str | None], *, commit: bool | None = True) -> None:
    """Write a transaction: committed, aborted, or (None) left open with its records in the log."""
    made.begin_transaction()
    for key, value in records.items():
        made.produce(topic, key=key.encode(), value=None if value is None else value.encode())
    made.flush()
    if commit is not None:
        (made.commit_transaction if commit else made.abort_transaction)()


def write_without_key(made: Producer, topic: str) -> None:
    """Write a transaction with a record that no replica can use; only a topic that is not compacted accepts it."""
    made.begin_transaction()
    made.produce(topic, value=b"without a key")
    made.commit_transaction()


def ends(bootstrap: str, topic: str, partition: int = 0) -> tuple[int, int]:
    """Return (last stable offset, high watermark), as the broker reports them."""
    admin = AdminClient(quiet({"bootstrap.servers": bootstrap}))
    place = TopicPartition(topic, partition)
    found = [
        admin.list_offsets({place: OffsetSpec.latest()}, isolation_level=level)[place].result(60).offset
        for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED)
    ]
    return found[0], found[1]


def wait_decided(bootstrap: str, topic: str, timeout_s: float = 60, partition: int = 0) -> int:
    """Wait until no transaction is open or undelivered; return the end."""
    give_up_s = time.monotonic() + timeout_s
    while time.monotonic() < give_up_s:
        stable, high = ends(bootstrap, topic, partition)
        if stable == high:
            return high
        time.sleep(0.02)
    raise TimeoutError(f"{topic} has an open transaction after {timeout_s} s")


def all_decided(bootstrap: str, topic: str, partitions: int) -> dict[Partition, int]:
    """Wait likewise for all partitions."""
    return {Partition(topic, number): wait_decided(bootstrap, topic, partition=number) for number in range(partitions)}


def independent_read(bootstrap: str, topic: str, partitions: int = 1) -> dict[bytes, tuple[bytes, int]]:
    """Return key -> (value, offset), by a plain read_committed consumer from the beginning to the end."""
    reader = Consumer(
        quiet(
            {
                "bootstrap.servers": bootstrap,
                "group.id": "independent",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                # Querying the log's beginning, and the wait of the first fetch, cost a second.
                "auto.offset.reset": "earliest",
                "fetch.wait.max.ms": 10,
            }
        )
    )
    reader.assign([TopicPartition(topic, number, 0) for number in range(partitions)])
    at_end = 0
    state: dict[bytes, tuple[bytes, int]] = {}
    while True:
        message = reader.poll(20)
        assert message is not None, "the independent reader heard nothing"
        error = message.error()
        if error is not None:
            assert error.code() == KafkaError._PARTITION_EOF, error
            at_end += 1
            if at_end < partitions:
                continue
            reader.close()
            return state
        key, value, offset = message.key(), message.value(), message.offset()
        assert key is not None
        assert offset is not None
        state.pop(key, None)
        if value is not None:
            state[key] = value, offset


@dataclass
class Writer(threading.Thread):
    """A thread that writes transactions until stopped: each gives one value to its own twenty keys.

    Some are aborted, some delete all twenty keys, some are flushed in the middle so that writers interleave.
    Writers that share a ``quiet_moment`` have no transaction open for half a second after every twenty of each: on a
    busy machine three writers leave a replica with quiescence no other point at which a version can end.
    """

    bootstrap: str
    topic: str
    number: int
    seed: int
    pause_s: float = 0.0
    quiet_moment: threading.Barrier | None = None
    stop: threading.Event = field(default_factory=threading.Event)
    begun: int = 0
    committed: int = 0
    failed: int = 0
    error: BaseException | None = None

    def __post_init__(self) -> None:
        super().__init__(name=f"writer {self.number}", daemon=True)

    @property
    def keys(self) -> list[str]:
        """The writer's twenty keys."""
        return [f"writer-{self.number}-key-{i}" for i in range(20)]

    def run(self) -> None:
        """Write transactions."""
        try:
            self._write()
        except Exception as error:  # noqa: BLE001 - the test tells it
            self.error = error
        finally:
            if self.quiet_moment:
                self.quiet_moment.abort()  # the others wait for this writer no longer

    def _write(self) -> None:
        dice = random.Random(self.seed * 100 + self.number)
        identity = f"{self.topic}-writer-{self.number}"
        made = producer(self.bootstrap, identity)
        while not self.stop.is_set():
            self.begun += 1
            try:
                self._transaction(made, dice)
            except KafkaException:
                # As any writer has to: start again, which aborts what was open. Rare, and counted.
                self.failed += 1
                made = producer(self.bootstrap, identity)
            if self.pause_s:
                time.sleep(self.pause_s * dice.random())
            if self.quiet_moment and self.begun % 20 == 0:
                with suppress(threading.BrokenBarrierError):
                    self.quiet_moment.wait()
                    time.sleep(0.5)

    def _transaction(self, made: Producer, dice: random.Random) -> None:
        value = None if dice.random() < 0.05 else f"{self.number}.{self.begun}"
        made.begin_transaction()
        for i, key in enumerate(self.keys):
            made.produce(self.topic, key=key.encode(), value=None if value is None else value.encode())
            if i % 7 == 6 and dice.random() < 0.5:
                made.flush()
        if dice.random() < 0.2:
            made.abort_transaction()
        else:
            made.commit_transaction()
            self.committed += 1

    __hash__ = threading.Thread.__hash__


def quiet_moment(boundaries: str, writers: int) -> threading.Barrier | None:
    """Return the moment that writers share if a replica with these boundaries reads what they write; see ``Writer``."""
    return threading.Barrier(writers) if boundaries == "quiescence" else None


@dataclass
class Checker:
    """A checker of versions: no writer's keys may ever show two values, or an older value than before."""

    writers: list[Writer]
    versions: int = 0
    torn: list[str] = field(default_factory=list)
    seen: dict[int, int] = field(default_factory=dict)

    def look(self, values: dict[str, str | None], version: int) -> None:
        """Check a version: values by key, without absent keys."""
        self.versions += 1
        for writer in self.writers:
            found = {values.get(key) for key in writer.keys}
            if len(found) > 1:
                self.torn.append(f"version {version} shows {sorted(map(str, found))} of writer {writer.number}")
                continue
            value = found.pop()
            count = int(value.partition(".")[2]) if value else self.seen.get(writer.number, 0)
            if count < self.seen.get(writer.number, 0):
                self.torn.append(f"version {version} shows an older value of writer {writer.number}: {value}")
            self.seen[writer.number] = count
