"""The list of records that were set aside."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from threading import Condition
from typing import Any

import pytest

from kafka_replica import BadRecordError, MemoryStore, Partition, Position, Record, Replica, RocksStore, Store
from kafka_replica.errors import StoreDamagedError
from kafka_replica.publication import bad_record_list
from kafka_replica.publication.bad_record_list import BadRecordList, BadState
from kafka_replica.stores.rocks import generation
from kafka_replica.stores.rocks.version_record import HEAD, VersionRecord
from kafka_replica.testing import FakeKafka, FakeTopic
from kafka_replica.transactions.resume_point import ResumePoint, decode_bad_records, encode_bad_records
from support.waiting import wait_until


def bad(offset: int, key: bytes | None = None) -> BadRecordError:
    """Return the error for a record."""
    return BadRecordError("t", 0, offset, "reason", "advice", key)


def test_the_newest_record_of_a_key_is_listed() -> None:
    """A bad record replaces an earlier one of its key; records without a key are listed by offset; all are counted."""
    listed = BadRecordList(Condition())
    listed.add([bad(1, b"a"), bad(2), bad(3, b"b")])
    listed.add([bad(4, b"a")])
    assert [each.offset for each in listed.newest()] == [2, 3, 4]
    assert listed.count == 4
    listed.restore([bad(5, b"c")])
    assert listed.count == 4
    replaced = BadState(None, is_current=False)
    listed.update({("t", 0, b"a"): replaced, ("other", 0, b"b"): replaced, ("t", 0, b"unknown"): replaced})
    assert [each.offset for each in listed.newest()] == [2, 3, 5]
    listed.expire({Partition("t", 0): 3, Partition("t", 1): 9})
    assert [each.offset for each in listed.newest()] == [3, 5]
    listed.clear()
    assert listed.newest() == []
    assert listed.count == 4


def test_a_hidden_record_is_listed_again() -> None:
    """A bad record that a record of another partition hides is not listed, and kept."""
    listed = BadRecordList(Condition())
    listed.add([bad(1, b"a"), bad(2, b"b")])
    listed.update({("t", 0, b"a"): BadState(1, is_current=False)})
    assert [each.offset for each in listed.newest()] == [2]
    listed.update({("t", 0, b"a"): BadState(1, is_current=True), ("t", 0, b"b"): BadState(7, is_current=True)})
    assert [each.offset for each in listed.newest()] == [1]


def test_records_without_keys_in_different_partitions_are_all_listed() -> None:
    """Records without a key are distinguished by partition and offset."""
    listed = BadRecordList(Condition())
    listed.add([BadRecordError("t", partition, 7, "reason", "advice", None) for partition in (0, 1)])
    assert [each.partition for each in listed.newest()] == [0, 1]


def test_the_list_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest records make room; the count continues."""
    monkeypatch.setattr(bad_record_list, "_KEPT", 3)
    listed = BadRecordList(Condition())
    listed.add([bad(offset) for offset in range(5)])
    assert [each.offset for each in listed.newest()] == [2, 3, 4]
    assert listed.count == 5


def test_hidden_records_make_room_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden records take no place of those that are listed, also if they become hidden by the same read."""
    monkeypatch.setattr(bad_record_list, "_KEPT", 3)
    listed = BadRecordList(Condition())
    listed.add([bad(1, b"a"), bad(2, b"b")])
    keys = [b"%d" % number for number in range(5)]
    found = [bad(10 + number, key) for number, key in enumerate(keys)]
    hidden = {("t", 0, key): BadState(10 + number, is_current=False) for number, key in enumerate(keys)}
    dropped = listed.add(found, hidden)
    assert [each.offset for each in listed.newest()] == [1, 2]
    assert [each.offset for each in dropped] == [10, 11, 12, 13]


def test_bad_records_of_a_replaced_log_are_forgotten() -> None:
    """A key that was bad at a high offset of the old log is good in the new one, at a lower offset."""

    def refuse_bad(checked: Record) -> None:
        if (checked.value or b"").startswith(b"bad"):
            raise ValueError("it is bad")

    topic = FakeTopic("t")
    for number in range(20):
        topic.put(f"other {number}", b"x")
    topic.put("k", b"bad")
    with topic.replica(validator=refuse_bad, on_bad_record="skip") as replica:
        replica.wait_for(topic.end(), 30)
        topic.recreate()
        topic.put("k", b"bad again")
        wait_until(lambda: replica.status().counts.rebuilds == 1 and replica.ready, timeout_s=30)
        replica.wait_for(topic.put("k", b"good"), 30)
        assert replica.bad_records == []


def refuse_bad(checked: Record) -> None:
    """Refuse some records; a validator."""
    if (checked.value or b"").startswith(b"bad"):
        raise ValueError("it is bad")


def look(replica: Replica, key: str, end: Mapping[Partition, int]) -> tuple[bytes | None, list[tuple[str, int, int]]]:
    """Return the value of a key, and where the bad records are that are listed, when a replica has read the end."""
    record = replica.wait_for(end, 30).get(key)
    return None if record is None else record.value, [
        (bad.topic, bad.partition, bad.offset) for bad in replica.bad_records
    ]


@pytest.mark.parametrize("bad_partition", [0, 1])
def test_an_older_record_of_another_partition_replaces_no_bad_one(bad_partition: int) -> None:
    """A fresh replica shows and lists the same as one that was running, whichever partition is read first."""
    topic = FakeTopic("t", partitions=2)
    options: dict[str, Any] = {"validator": refuse_bad, "on_bad_record": "skip"}
    with topic.replica(**options) as running:
        running.wait_ready(30)
        running.wait_for(topic.put("k", b"1", partition=1 - bad_partition, timestamp_ms=1000), 30)
        topic.put("k", b"bad", partition=bad_partition, timestamp_ms=2000)
        expected = None, [("t", bad_partition, 0)]
        assert look(running, "k", topic.end()) == expected
        with topic.replica(**options) as fresh:
            assert look(fresh, "k", topic.end()) == expected
        topic.put("k", b"2", partition=1 - bad_partition, timestamp_ms=3000)
        assert look(running, "k", topic.end()) == (b"2", [])


@pytest.mark.parametrize("kind", ["memory", "checkpoint", "rocks"])
@pytest.mark.parametrize("grows", [False, True])
def test_a_bad_record_keeps_its_rank_after_a_restart(kind: str, grows: bool, tmp_path: Path) -> None:
    """Records of another partition that are read after the restart are compared with it; nothing is rebuilt."""
    path = tmp_path / "store"
    make_stores: dict[str, Callable[[], Store]] = {
        "memory": MemoryStore, "checkpoint": lambda: MemoryStore(path), "rocks": lambda: RocksStore(path),
    }  # fmt: skip
    topic, make_store = FakeTopic("t", partitions=1 if grows else 2), make_stores[kind]
    options: dict[str, Any] = {"validator": refuse_bad, "on_bad_record": "skip"}
    topic.put("k", b"bad", partition=0, timestamp_ms=2000)
    with topic.replica(make_store(), **options) as replica:
        assert look(replica, "k", topic.end()) == (None, [("t", 0, 0)])
    if grows:
        topic.add_partitions(2)
    with topic.replica(make_store(), **options) as replica:
        assert look(replica, "k", topic.end()) == (None, [("t", 0, 0)])
        assert replica.status().counts.records == (kind == "memory"), "nothing is rebuilt"
        topic.put("k", b"older", partition=1, timestamp_ms=1000)
        assert look(replica, "k", topic.end()) == (None, [("t", 0, 0)])
        topic.put("k", b"newer", partition=1, timestamp_ms=3000)
        assert look(replica, "k", topic.end()) == (b"newer", [])
        topic.delete("k", partition=1)
        assert look(replica, "k", topic.end()) == (None, [("t", 0, 0)])
        topic.put("k", b"older again", partition=1, timestamp_ms=1500)
        assert look(replica, "k", topic.end()) == (None, [("t", 0, 0)])
    with topic.replica(make_store(), **options) as replica:  # keys in several partitions are read again
        assert look(replica, "k", topic.end()) == (None, [("t", 0, 0)])
        topic.put("k", b"newest", partition=0, timestamp_ms=4000)
        assert look(replica, "k", topic.end()) == (b"newest", [])


def test_a_bad_record_hides_the_records_of_topics_with_a_lower_rank() -> None:
    """A key that several topics have is absent while the record of the topic named last is bad."""
    kafka = FakeKafka()
    base, override = kafka.topic("base"), kafka.topic("override")
    base.put("k", b"1")
    override.put("k", b"5")
    override.put("k", b"bad")
    end = {Partition("base", 0): 1, Partition("override", 0): 2}
    options: dict[str, Any] = {"one_key_space": True, "validator": refuse_bad, "on_bad_record": "skip"}
    with kafka.replica("base", "override", **options) as replica:
        assert look(replica, "k", end) == (None, [("override", 0, 1)])
        base.put("k", b"bad")
        assert look(replica, "k", {**end, Partition("base", 0): 2}) == (None, [("override", 0, 1)])
        override.delete("k")
        assert look(replica, "k", {**end, Partition("override", 0): 3}) == (None, [("base", 0, 1)])
        base.put("k", b"2")
        assert look(replica, "k", {**end, Partition("base", 0): 3}) == (b"2", [])


def test_a_list_without_timestamps_is_read() -> None:
    """Earlier versions wrote none."""
    plain = json.loads(encode_bad_records([BadRecordError("t", 0, 1, "reason", "advice", b"k", 7)]))
    assert [each.timestamp_ms for each in decode_bad_records(json.dumps(plain).encode())] == [7]
    plain[0].pop()
    assert [each.timestamp_ms for each in decode_bad_records(json.dumps(plain).encode())] == [-1]


def test_a_listed_record_takes_little_memory() -> None:
    """A long reason is abridged, and a large record left out; small ones are listed as they are."""
    listed, source = BadRecordList(Condition()), Partition("t", 0)
    small, large, wordy = bad(1, b"a"), bad(2, b"b"), BadRecordError("t", 0, 3, "x" * 20_000 + "!", "advice", b"c")
    small.record = wordy.record = Record(b"a", b"v", 1, 0, (), source)
    large.record = Record(b"b", b"v" * 10_000, 2, 0, (("h", b"v" * 10_000),), source)
    listed.add([small, large, wordy])
    first, second, third = listed.newest()
    assert first is small
    assert (second.offset, second.key, second.reason, second.record) == (2, b"b", "reason", None)
    assert large.record is not None  # for the dead letters
    assert (len(third.reason), third.reason[-1], third.advice, third.record) == (500, "!", "advice", small.record)


def test_a_store_on_disk_writes_the_list_only_when_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A version costs the same whether or not there are bad records; the list survives a restart."""
    written: list[int] = []

    def encode(listed: Sequence[BadRecordError]) -> bytes:
        written.append(len(listed))
        return encode_bad_records(listed)

    monkeypatch.setattr(generation, "encode_bad_records", encode)
    topic = FakeTopic("t")

    def refuse_bad(checked: Record) -> None:
        if checked.value == b"bad":
            raise ValueError("it is bad")

    def sizes(*writes: tuple[str, bytes]) -> set[int]:
        found = set()
        with topic.replica(RocksStore(tmp_path), validator=refuse_bad, on_bad_record="skip") as replica:
            replica.wait_ready(60)
            for key, value in writes:
                topic.put(key, value)
                replica.wait_for(topic.end(), 60)
                store: Any = replica._store
                found.add(len(store._generation.database.get(HEAD)) // 100)
            assert {record.key for record in replica.bad_records} == expected
        return found

    expected = {b"a", b"b"}
    before = sizes(*((f"{key}", b"bad") for key in "ab"), ("c", b"1"), ("d", b"1"))
    assert written == [1, 2]
    assert len(before) == 1
    assert sizes(("c", b"2")) == before
    assert written == [1, 2]
    expected = {b"b"}
    sizes(("a", b"1"))
    assert written == [1, 2, 1]
    sizes(("c", b"3"))


def test_the_list_of_an_earlier_form_of_the_store_is_read(tmp_path: Path) -> None:
    """The list was once a part of the version record."""
    position, kept = Position({Partition("t", 0): 1}), (bad(0, b"a"),)
    record = VersionRecord(1, 0, [], ResumePoint(position, bad_records=kept))
    plain = record.encode().replace(b'"bad_records":[]', b'"bad_records":' + encode_bad_records(kept))
    for data, listed in ((plain, None), (record.encode(), encode_bad_records(kept))):
        found = VersionRecord.decode(data, listed).resume_point.bad_records
        assert [str(each) for each in found] == [str(each) for each in kept]
    with pytest.raises(StoreDamagedError, match="reading the version record"):
        VersionRecord.decode(record.encode(), b"[1]")
