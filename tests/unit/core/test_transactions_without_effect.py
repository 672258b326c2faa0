"""Transactions that change nothing for readers, before others that do."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Literal

import pytest

from kafka_replica import KeyFilter
from kafka_replica.stores import RocksStore
from kafka_replica.testing import FakeTopic
from kafka_replica.testing.fake_reader import FakeReader
from support.waiting import wait_until


def test_a_transaction_without_effect_hides_no_added_partition(monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that is filtered out is read together with one whose part in an added partition has no marker."""
    held, released = threading.Event(), threading.Event()
    released.set()
    read = FakeReader.read

    def held_back(reader: FakeReader, timeout_s: float) -> object:
        if not released.is_set():
            held.set()
            released.wait()
        return read(reader, timeout_s)

    monkeypatch.setattr(FakeReader, "read", held_back)
    topic = FakeTopic()
    with topic.replica(key_filter=KeyFilter.prefix("k")) as replica:
        replica.wait_ready(60)
        released.clear()
        assert held.wait(60)
        with topic.producer("other").transaction() as transaction:
            transaction.put("filtered out", b"x")
        topic.add_partitions(2)
        divided = topic.begin()
        for number in range(2):
            divided.put(f"k{number}", b"x", partition=number)
        changed = topic.kafka.cluster.changed
        logs = {log.partition.partition: log for log in divided._ends}
        with changed:
            divided._writing.is_committed = True
            divided._identity.epoch = divided._writing.marker_epoch = divided._writing.epoch + 1
            logs[0].write_marker(divided._writing)
            changed.notify_all()
        released.set()
        wait_until(lambda: replica.status().blocking_transaction or replica.snapshot(), timeout_s=60)
        assert not replica.snapshot()
        with changed:
            logs[1].write_marker(divided._writing)
            changed.notify_all()
        wait_until(replica.snapshot, timeout_s=60)
        assert len(replica.snapshot()) == 2


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
def test_the_next_version_does_not_count_transactions_without_effect(
    boundaries: Literal["markers", "quiescence"],
) -> None:
    """Transactions that are filtered out are in no version: neither in one of a later read nor in one of a deletion."""
    topic = FakeTopic()
    topic.put("k1", b"x")
    topic.put("k2", b"x")
    numbers = list[int | None]()
    with topic.replica(key_filter=KeyFilter.prefix("k"), boundaries=boundaries) as replica:
        replica.wait_ready(60)
        replica.subscribe(lambda change: numbers.append(change.transactions))
        for _ in range(3):
            with topic.transaction() as transaction:
                transaction.put("filtered out", b"x")
        version = replica.wait_for(topic.end(), 60).version
        with topic.transaction() as transaction:
            transaction.put("k3", b"x")
        assert replica.wait_for(topic.end(), 60).version == version + 1
        with topic.transaction() as transaction:
            transaction.put("filtered out", b"x")
        replica.wait_for(topic.end(), 60)
        topic.delete_before(1)
        wait_until(lambda: set(replica.snapshot()) == {b"k2", b"k3"}, timeout_s=60)
        wait_until(lambda: len(numbers) == 3, timeout_s=60)
    assert numbers == [None, 1 if boundaries == "markers" else None, 0]


def test_outdated_parts_do_not_hold_the_position_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A transaction that is large enough for parts, and outdated as a whole, is not read again after a restart."""
    monkeypatch.setattr(RocksStore, "part_bytes", 2000)
    topic = FakeTopic()
    with topic.replica(store=RocksStore(tmp_path)) as replica:
        replica.wait_ready(60)
        late = topic.begin()
        for number in range(300):
            late.put(f"k{number}", b"1" * 50)
        with topic.transaction() as newer:
            for number in range(300):
                newer.put(f"k{number}", b"2" * 50)
        wait_until(lambda: len(replica.snapshot()) == 300, timeout_s=60)
        version = replica.snapshot().version
        late.commit()
        assert replica.wait_for(topic.end(), 60).version == version
    store = RocksStore(tmp_path)
    resume_point = store.resume_point
    store.close()
    assert resume_point is not None
    assert resume_point.position == topic.end()
