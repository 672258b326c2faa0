"""Open transactions beyond the memory limit."""

from __future__ import annotations

import os
from collections import deque

import pytest

from kafka_replica import Replica
from kafka_replica.broker.reading import marker_reader, spill_buffer
from kafka_replica.broker.reading.spill_buffer import SpillBuffer, SpillHandle
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import StoreError
from kafka_replica.testing.pytest_plugin import TopicMaker
from support.broker.kafka_tools import producer, quiet


def test_batches_beyond_the_limit_come_back_from_the_file() -> None:
    """Spilled batches come back, in whatever order they are dropped; an empty file is reused."""
    buffer = SpillBuffer(max_memory_bytes=10)
    data = [os.urandom(8) for _ in range(20)]
    handles = [buffer.put(memoryview(piece)) for piece in data]
    assert (buffer.memory_bytes, buffer.file_bytes) == (8, 19 * 8)
    assert [buffer.get(handle) for handle in handles] == data
    del handles[:15]
    assert [buffer.get(handle) for handle in handles] == data[15:]
    assert buffer.memory_bytes == 0
    handles.clear()
    assert buffer.file_bytes == 0
    assert buffer.get(buffer.put(memoryview(b"again"))) == b"again"


def test_a_transaction_that_stays_open_keeps_only_its_own_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The space of later transactions is freed once they end, although they overlap; each batch comes back whole."""
    monkeypatch.setattr(spill_buffer, "_FILE_BYTES", 100)
    buffer = SpillBuffer(max_memory_bytes=0)
    hung, held = buffer.put(memoryview(b"hung")), deque[tuple[bytes, SpillHandle]]()
    for number in range(1000):
        data = str(number).encode() * 10
        held.append((data, buffer.put(memoryview(data))))
        if len(held) > 3:  # at any time, a transaction is open
            sent, handle = held.popleft()
            assert buffer.get(handle) == sent
            del handle
        assert buffer.file_bytes <= 400
    held.clear()
    assert buffer.file_bytes <= 100
    assert buffer.get(hung) == b"hung"
    del hung
    assert buffer.file_bytes == 0


def test_a_batch_larger_than_a_file_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Batches before and after it are in other files; the number of files is limited, however much they hold."""
    monkeypatch.setattr(spill_buffer, "_FILE_BYTES", 100)
    buffer = SpillBuffer(max_memory_bytes=0)
    first, large, last = (buffer.put(memoryview(bytes(size))) for size in (60, 101, 60))
    assert len({first.file, large.file, last.file}) == 3
    assert buffer.get(large) == bytes(101)
    del large
    assert buffer.file_bytes == 120
    handles = [buffer.put(memoryview(bytes(50))) for _ in range(10_000)]
    assert len({handle.file for handle in handles}) < 200


def test_a_full_disk_is_an_error_with_advice(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the operation and the advice."""

    def no_room(**_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", no_room)
    with pytest.raises(StoreError, match=r"No space left on device; free some space in TMPDIR"):
        SpillBuffer(max_memory_bytes=1).put(memoryview(b"xx"))


@pytest.mark.long
@pytest.mark.broker
@pytest.mark.parametrize("commits", [True, False])
def test_a_transaction_larger_than_memory(
    local_kafka: LocalKafka, kafka_topic: TopicMaker, monkeypatch: pytest.MonkeyPatch, commits: bool
) -> None:
    """A transaction larger than memory is spilled while open, whole when committed, and gone when aborted."""
    buffers: list[SpillBuffer] = []

    def small(*, check_crcs: bool) -> SpillBuffer:
        buffers.append(SpillBuffer(100_000, check_crcs=check_crcs))
        return buffers[-1]

    monkeypatch.setattr(marker_reader, "SpillBuffer", small)
    topic = kafka_topic("large")
    writer, other = (producer(local_kafka.bootstrap_servers, f"{topic}-{i}") for i in range(2))
    values = {f"k{number}": os.urandom(50_000) for number in range(60)}
    with Replica(quiet({"bootstrap.servers": local_kafka.bootstrap_servers}), topic, boundaries="markers") as replica:
        replica.wait_ready(timeout_s=60)
        writer.begin_transaction()
        for key, value in values.items():
            writer.produce(topic, key=key.encode(), value=value)
        writer.flush()
        changes = replica.changes(timeout_s=20)
        assert next(changes).initial
        for number in range(2):  # later commits of others show that the large transaction was read
            other.begin_transaction()
            other.produce(topic, key=b"other", value=str(number).encode())
            other.commit_transaction()
            assert set(next(changes).changed) == {b"other"}
        assert buffers[0].file_bytes > 2_000_000
        (writer.commit_transaction if commits else writer.abort_transaction)()
        other.begin_transaction()
        other.produce(topic, key=b"other", value=b"last")
        other.commit_transaction()
        change = next(changes)
        while change.snapshot["other"].value != b"last":
            change = next(changes)
        found = {key.decode(): record.value for key, record in change.snapshot.items() if key != b"other"}
        assert found == (values if commits else {})
        assert buffers[0].file_bytes == 0
