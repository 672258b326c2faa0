"""A directory with an interpreter depends on the newest records alone, and a change costs what it touches."""

from __future__ import annotations

import contextlib
import json
import random
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import Replica
from kafka_replica.directories import Directory, DirectoryChange, MultiValuedIndex, UniqueIndex
from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.interpreters import Put
from kafka_replica.errors import BadRecordError, ConfigurationError
from kafka_replica.records import Partition, Record
from kafka_replica.stores import Snapshot
from kafka_replica.stores.rocks import RocksStore
from kafka_replica.testing import FakeTopic
from support.core.snapshots import snapshot_of
from support.directories.event_model import Write, expected, interpreted, writes
from support.effort import examples
from support.waiting import wait_until

WAIT_S = 60.0

SCHEMA = Schema[int](json.loads, None, None, {"value": MultiValuedIndex[int](lambda found: found)}, interpreted)


def shown(contents: Contents[int]) -> dict[str, Any]:
    """Return everything that can be looked up."""
    index = contents.indexes["value"]
    assert isinstance(index, MultiValuedIndex)
    return {
        "objects": dict(contents.objects()),
        "keys": sorted(map(str, contents.keys())),
        "length": len(contents),
        "index": {value: sorted(index[value]) for value in range(10)},
        "bad": sorted((key, bad.offset) for key, bad in contents.bad_records.items()),
    }


def test_initial_records_and_others_may_claim_one_key() -> None:
    """Initial records have no partition and no offset; a record of the topic is newer than they are."""
    initial = Partition("t", -1)
    records = {
        name.encode(): Record(name.encode(), value, offset, time_ms, (), source)
        for name, value, offset, time_ms, source in (
            ("7", b"1", -1, 1, initial), ("8", b"2", -1, 2, initial), ("9", b"3", 4, 3, Partition("t", 0)),
        )
    }  # fmt: skip
    schema = Schema[int](json.loads, None, None, {}, lambda record: Put(b"T", record.value or b""))
    contents = Contents.of(schema, snapshot_of(records))
    assert dict(contents.objects()) == {b"T": 3} or dict(contents.objects()) == {"T": 3}


def test_initial_records_that_claim_one_key_are_distinguished() -> None:
    """The object of one initial record stays under a key when another one that claimed the key is replaced."""
    initial = Partition("t", -1)
    records = {
        name: Record(name, value, -1, -1, (), initial) for name, value in ((b"7", b"1"), (b"8", b"2"), (b"9", b"3"))
    }
    schema = Schema[int](json.loads, None, None, {}, lambda record: Put(b"T", record.value) if record.value else None)
    contents = Contents.of(schema, snapshot_of(records))
    for name in (b"7", b"9", b"8"):
        records[name] = Record(name, None, 5, 0, (), Partition("t", 0))
        contents = contents.advanced({name}, records.get)
        assert dict(contents.objects()) == dict(Contents.of(schema, snapshot_of(records)).objects())
        assert len(contents) == any(record.value for record in records.values())


@pytest.mark.thorough
@settings(max_examples=examples(400), deadline=None)
@given(st.integers(1, 3).flatmap(lambda partitions: st.lists(writes(partitions), max_size=30)), st.integers(1, 5))
def test_following_starting_today_and_the_model_agree(history: list[Write], step: int) -> None:
    """Whatever the records, and however many come at once, only the newest record of each key counts."""
    records: dict[bytes, Record] = {}
    contents = Contents.of(SCHEMA, snapshot_of({}))
    past: list[tuple[Contents[int], dict[str, Any]]] = []
    for at in range(0, len(history), step):
        touched = history[at : at + step]
        for offset, write in enumerate(touched, at):
            key = write.key.encode()
            if write.event is None:
                records.pop(key, None)
            else:
                value = json.dumps(write.event).encode()
                records[key] = Record(key, value, offset, write.time_ms, (), Partition("t", write.partition))
        contents = contents.advanced({write.key.encode() for write in touched}, records.get)
        assert dict(contents.objects()) == expected(records.values())
        assert shown(contents) == shown(Contents.of(SCHEMA, snapshot_of(records)))
        past.append((contents, shown(contents)))
    for before, then in past:  # earlier versions have not changed
        assert shown(before) == then


ACTIONS = st.lists(
    st.lists(writes(2), min_size=1, max_size=4) | st.sampled_from(["compact", "restart"]), min_size=1, max_size=10
)


@pytest.mark.thorough
@settings(max_examples=examples(25), deadline=None)
@given(ACTIONS)
def test_a_restart_gives_what_a_bootstrap_gives(
    tmp_path_factory: pytest.TempPathFactory, actions: list[list[Write] | str]
) -> None:
    """A directory that followed all, one whose replica was restarted, and one that starts today hold the same.

    Transactions, compactions and restarts from RocksDB come in any order; listeners hear of the same objects.
    """
    topic = FakeTopic("events", 2)
    heard: dict[str, int] = {}
    folder = tmp_path_factory.mktemp("store")
    with ExitStack() as always:
        replica = always.enter_context(topic.replica())
        followed = always.enter_context(directory_of(replica))
        always.enter_context(contextlib.closing(followed.subscribe(lambda change: hear(heard, change))))
        durable = always.enter_context(ExitStack())
        restarted = started(durable, topic, folder)
        for action in (*actions, "restart"):
            if action == "compact":
                topic.compact()
            elif action == "restart":
                durable.close()
                restarted = started(durable, topic, folder)
            else:
                write(topic, action)
            newest = {record.key: record for record in topic.records()}
            held = expected(newest.values())
            for each in (followed, restarted):
                assert dict(each.wait_for(topic.end(), WAIT_S)) == dict.copy(each) == held
        with topic.replica() as today, directory_of(today) as begun:
            assert dict(begun.wait_ready(WAIT_S)) == held
            assert offsets(begun) == offsets(restarted) == offsets(followed)
        wait_until(lambda: heard == held)


def directory_of(replica: Replica) -> Directory[str, int]:
    """Return a directory with the interpreter."""
    return Directory(replica, int, decode=json.loads, interpreter=interpreted, on_bad_record="skip")


def started(stack: ExitStack, topic: FakeTopic, folder: Path) -> Directory[str, int]:
    """Return the directory of a replica that continues from its folder."""
    return stack.enter_context(directory_of(stack.enter_context(topic.replica(RocksStore(folder)))))


def write(topic: FakeTopic, action: Any) -> None:
    """Write records in one transaction."""
    with topic.transaction() as transaction:
        for key, partition, time_ms, event in action:
            if event is None:
                transaction.delete(key, partition=partition, timestamp_ms=time_ms)
            else:
                transaction.put(key, json.dumps(event).encode(), partition=partition, timestamp_ms=time_ms)


def hear(heard: dict[str, int], change: DirectoryChange[str, int]) -> None:
    """Apply a change to what was heard before; each must fit to it."""
    if change.initial:
        heard.clear()
    for key, gone in change.deleted.items():
        assert heard.pop(key) == gone
    for key, both in change.changed.items():
        assert heard[key] == both.before
        heard[key] = both.after
    for key, new in change.added.items():
        assert key not in heard
        heard[key] = new


def offsets(directory: Directory[str, int]) -> list[tuple[bytes | None, int]]:
    """Return the bad records of a directory."""
    return sorted((bad.key or b"", bad.offset) for bad in directory.bad_records)


def test_the_order_of_records_may_change_when_the_log_is_replaced() -> None:
    """Records that are read again in another order count in that order, though none of them has changed."""
    topic = FakeTopic("events")
    events = {key: json.dumps({"put": [["a", value, ""]]}).encode() for key, value in (("K", 1), ("L", 2))}
    heard: dict[str, int] = {}
    with topic.replica() as replica, directory_of(replica) as directory:
        directory.subscribe(lambda change: hear(heard, change))
        for key, event in events.items():
            position = topic.put(key, event)
        assert directory.wait_for(position, WAIT_S)["a"] == 2
        with topic.outage():
            topic.recreate()
            for key, event in reversed(events.items()):
                topic.put(key, event)
        wait_until(lambda: replica.status().counts.rebuilds == 1 and replica.status().ready)
        wait_until(lambda: directory["a"] == 1 and heard == {"a": 1})


@pytest.mark.thorough
def test_any_held_version_shows_its_interpreted_objects() -> None:
    """Any version that a reader holds shows what its records put, also after a deletion of all."""
    topic = FakeTopic("events")
    chance = random.Random(5)
    held: list[tuple[Snapshot, dict[str, int]]] = []
    with topic.replica(kept_versions=100) as replica, directory_of(replica) as directory:
        replica.wait_ready(WAIT_S)
        for number in range(60):
            puts = [(key, number, "") for key in chance.sample("abcd", 2)]
            event = {"delete all of": ""} if number % 7 == 6 else {"put": puts}
            position = topic.put(chance.choice("KLM"), json.dumps(event).encode())
            newest = {record.key: record for record in topic.records()}
            held.append((replica.wait_for(position, WAIT_S), expected(newest.values())))
        for snapshot, then in held:
            assert dict(directory.at(snapshot)) == then


def test_bad_records_put_nothing() -> None:
    """A record with a bad value puts none of its values; the error names the record as it is in the log."""
    topic = FakeTopic("events")

    def two_values(record: Record) -> Any:
        if record.key == b"wrong":
            return "x", 1
        if record.key == b"twice":
            return Put("a", b"1"), Put(b"a", b"2")
        return Put("a", b"1"), Put("b", record.value or b"")

    topic.put("old", b"1")
    with topic.replica() as replica, Directory(replica, int, interpreter=two_values, on_bad_record="skip") as directory:
        directory.wait_ready(WAIT_S)
        topic.put("wrong", b"1")
        topic.put("twice", b"1")
        directory.wait_for(topic.put("old", b"{}"), WAIT_S)
        assert list(directory) == []
        reasons = {bad.key: bad.reason for bad in directory.bad_records}
        assert reasons[b"wrong"].startswith(
            "interpreting it: TypeError: the interpreter has returned 'x'; it must return Put("
        )
        assert reasons[b"twice"] == "interpreting it: ValueError: it puts a key twice"
        assert reasons[b"old"].startswith("decoding its value: ValidationError: Expected `int`")
        assert {bad.record.value for bad in directory.bad_records if isinstance(bad.record, Record)} == {b"1", b"{}"}
        with pytest.raises(ConfigurationError, match="cannot be combined with key, where, indexes, interpreter"):
            Directory(replica, int, interpreter=two_values, on_demand=True)
        stopped = Directory(replica, int, interpreter=two_values)
        with pytest.raises(BadRecordError, match=r"interpreting it|decoding its value"):
            stopped.wait_ready(WAIT_S)


def test_key_and_where_come_after_the_newest_record() -> None:
    """The newest record of a key counts even if ``where`` leaves its object out; ``key`` is taken from the object."""
    topic = FakeTopic("rows")
    topic.put("1", b"5")
    position = topic.put("2", b"7")
    with topic.replica() as replica:
        by_key = Directory(replica, int, interpreter=lambda record: Put("a", record.value or b""))
        small = Directory(
            replica,
            int,
            interpreter=lambda record: Put("a", record.value or b""),
            key=lambda found: ("number", found),
            where=lambda found: found < 6,
            indexes={"itself": UniqueIndex[int](lambda found: found)},
        )
        assert dict(by_key.wait_for(position, WAIT_S)) == {"a": 7}
        assert dict(small.wait_for(position, WAIT_S)) == {}
        position = topic.delete("2")
        assert dict(by_key.wait_for(position, WAIT_S)) == {"a": 5}
        view = small.wait_for(position, WAIT_S)
        assert dict(view) == {("number", 5): 5}
        assert view.index("itself")[5] == 5


@pytest.mark.thorough
@pytest.mark.parametrize("rivals", [False, True])
def test_the_cost_of_a_change_does_not_depend_on_the_size(rivals: bool) -> None:
    """A change makes about as many calls among 30,000 keys, or 30,000 rivals for one key, as among 300."""
    small, large = calls_of_a_change(300, rivals), calls_of_a_change(30_000, rivals)
    assert large < 3 * small


def calls_of_a_change(size: int, rivals: bool) -> int:
    """Return the number of function calls that a change makes."""
    records = {str(at).encode(): record(at, {"put": [["a" if rivals else str(at), 1, ""]]}) for at in range(size)}
    records[b"cutoff"] = record(-1, {"delete all of": ""})
    contents = Contents.of(SCHEMA._replace(indexes={}), snapshot_of(records))
    contents.prepare_for_changes()
    records[b"7"] = record(size + 1, {"put": [["a", 2, ""]]})
    calls = CallCounter()
    with calls:
        after = contents.advanced((b"7",), records.get)
    assert after.look_up("a") == 2
    return calls.count


def record(offset: int, event: dict[str, Any]) -> Record:
    """Return a record whose key is its offset."""
    return Record(str(offset).encode(), json.dumps(event).encode(), offset, 0, (), Partition("t", 0))


class CallCounter:
    """The number of calls of Python functions within a block, which says more than the time on a busy machine."""

    count = 0

    def __enter__(self) -> None:
        sys.setprofile(self._note)

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _note(self, *_: object) -> None:
        self.count += 1
