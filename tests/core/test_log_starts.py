"""Records that Kafka deletes at the front of a log: the rule, which record of a key is left, and small stories."""

from __future__ import annotations

import pytest
from log_model import P0, P1, Cluster
from model_follower import ModelFollower

from kafka_replica import Cut, Partition, Record
from kafka_replica.assembly import Assembly
from kafka_replica.cuts import Batch, Kind, Parsed
from kafka_replica.log_starts import LogStarts
from kafka_replica.records import OpenTransaction
from kafka_replica.testing import FakeTopic

Q = Partition("other", 0)


# --- the rule ---


def test_a_log_start_below_all_that_is_held_costs_nothing() -> None:
    """A topic that is only compacted has no other; the same object is not even looked at."""
    starts = LogStarts()
    starts.add({P0: 5, P1: 0})
    assert not starts.move(Cut({P0: 5}))
    assert not starts.move(moved := Cut({P0: 5, P1: 0}))
    assert not starts.move(moved)
    assert not starts.passed


def test_a_log_start_that_passes_what_may_be_held() -> None:
    """The rule names it until what lies below is gone, and again when it passes the lowest offset that is left."""
    starts = LogStarts()
    starts.add({P0: 0, P1: 0})
    assert starts.move(Cut({P0: 3}))
    assert starts.move(Cut({P0: 4, P1: 0}))
    assert not starts.move(Cut({P0: 4}))
    assert starts.passed == {P0: 4}
    starts.expire({P0: 7}, Cut({P0: 20, P1: 20}))
    assert starts.passed == {}
    assert starts.lowest == {P0: 7, P1: 0}
    assert not starts.move(Cut({P0: 7}))
    assert starts.move(Cut({P0: 8}))
    starts.expire({}, Cut({P0: 20, P1: 20}))
    assert starts.lowest[P0] == 20, "nothing is left of it"


def test_what_is_still_to_come_of_an_open_transaction_counts_as_held() -> None:
    """Its records lie below the cut."""
    starts = LogStarts()
    starts.add({P0: 0})
    starts.move(Cut({P0: 4}))
    starts.expire({P0: 15}, Cut({P0: 20}, [OpenTransaction(P0, 1, 0, 9, [(9, 10)], 1)]))
    assert starts.lowest == {P0: 9}
    starts.move(Cut({P0: 10}))
    starts.expire({P0: 15}, Cut({P0: 20}, [OpenTransaction(P0, 1, 0, 9, [(9, 10)], 1)]))
    assert starts.lowest == {P0: 10}, "what lies below the log start never comes"


# --- which record of a key is left ---


def record(key: str, partition: Partition, offset: int, value: str | None = "x", timestamp_ms: int = 0) -> Record:
    """A record."""
    return Record(key.encode(), None if value is None else value.encode(), offset, timestamp_ms, (), partition)


def settle(assembly: Assembly, *records: Record) -> None:
    """Take records of one partition in, in one batch."""
    partition = records[0].source
    content = Parsed(records)
    batch = Batch(partition, Kind.PLAIN, records[0].offset, records[-1].offset + 1, len(records), -1, -1, content)
    assembly.settle([batch])


def assembly_of(*partitions: Partition, present: dict[bytes, Record] | None = None) -> Assembly:
    """One that reads partitions as one key space."""
    topics = [partition.topic for partition in partitions]
    made = Assembly((present or {}).get, dict.fromkeys(topics, b""), {topic: at for at, topic in enumerate(topics)})
    for partition in partitions:
        made.add(partition)
    return made


def places(present: dict[bytes, Record]) -> list[tuple[bytes, Partition, int]]:
    """Return keys and places as a store tells them."""
    return [(key, found.source, found.offset) for key, found in present.items()]


def test_what_is_published_and_what_is_not_yet() -> None:
    """Both lose what lies below the log start; a newer record of the same key stays."""
    present = {b"old": record("old", P0, 1), b"new": record("new", P0, 2), b"kept": record("kept", P0, 6)}
    assembly = assembly_of(P0, present=present)
    settle(assembly, record("pending", P0, 3), record("gone", P0, 4, None), record("new", P0, 7))
    count, lowest = assembly.expire({P0: 5}, places(present))
    assert (count, lowest) == (2, {P0: 6})
    delta = assembly.take(Cut({P0: 8}))
    left = {key: None if raw[1] is None else raw[2] for key, raw in delta.changes.items()}
    assert left == {b"old": None, b"pending": None, b"gone": None, b"new": 7}
    assert delta.has_deletions
    assert assembly.totals == (3, 1), "a record that was deleted without a tombstone is none"


def test_what_comes_late_from_below_the_log_start() -> None:
    """A transaction that was open while its first records were deleted has what is left of it."""
    assembly = assembly_of(P0)
    assembly.expire({P0: 5}, [])
    assert assembly.is_empty
    settle(assembly, record("a", P0, 3), record("b", P0, 4))
    assert assembly.is_empty
    settle(assembly, record("a", P0, 4), record("b", P0, 5))
    assert set(assembly.take(Cut({P0: 9})).changes) == {b"b"}


def test_a_key_with_records_in_several_partitions() -> None:
    """The next one counts when the one that is shown is deleted; one that is not shown goes unnoticed."""
    assembly = assembly_of(P0, P1, Q)
    for partition, offset in ((P0, 9), (P1, 2), (Q, 1)):
        settle(assembly, record("k", partition, offset))
    present = dict(assembly.take(Cut({P0: 10, P1: 10, Q: 10})).changes)
    assembly._present = present.get  # type: ignore[assignment]
    assert present[b"k"].source == Q  # type: ignore[union-attr]
    assert assembly.expire({P1: 5}, places(present))[0] == 0  # type: ignore[arg-type]
    assert assembly.is_empty
    assert assembly.expire({Q: 2}, places(present))[0] == 1  # type: ignore[arg-type]
    assert assembly.take(Cut({P0: 10, P1: 10, Q: 10})).changes[b"k"] == record("k", P0, 9)
    assert not assembly.has_families


# --- stories ---


@pytest.mark.parametrize("evidence", ["markers", "quiet points"])
def test_bad_records_that_are_deleted_are_not_listed_any_more(evidence: str) -> None:
    """A replica that starts today does not know them, either."""

    def refuse(record: Record) -> None:
        if record.value == b"bad":
            raise ValueError("it is bad")

    topic = FakeTopic()
    for key, value in (("a", b"bad"), ("b", b"good"), ("c", b"bad"), ("d", b"good")):
        topic.put(key, value)
    topic.put(None, b"no key")
    with topic.replica(evidence=evidence, check=refuse, on_bad_record="skip") as replica:
        replica.wait_for(topic.end(), timeout_s=20)
        changes = replica.changes(since=replica.snapshot().version, timeout_s=20)
        assert {bad.offset for bad in replica.bad_records} == {0, 2, 4}
        topic.delete_before(2)
        assert set(next(changes).deleted) == {b"b"}
        assert {bad.offset for bad in replica.bad_records} == {2, 4}
        topic.delete_before(5)
        assert set(next(changes).deleted) == {b"d"}
        assert replica.bad_records == []
        topic.put("a", b"good")
        assert set(replica.wait_for(topic.end(), timeout_s=20)) == {b"a"}


def test_a_reader_that_lags_never_lacks_what_was_written_again() -> None:
    """The old record is gone before the new one is read: nothing is shown in between."""
    cluster = Cluster()
    cluster.plain(P0, ("a", "1"))
    follower = ModelFollower(cluster)
    follower.board.keeps_versions = True
    follower.step()
    cluster.plain(P0, ("b", "1"))
    cluster.plain(P0, ("a", "2"))
    cluster.trim(P0, 1)
    follower.step((P0, 1))
    follower.finish()
    assert [sorted(version.state) for version in follower.board.versions] == [[b"a"], [b"a", b"b"]]


def test_an_idle_topic_whose_front_is_deleted() -> None:
    """There is a version for it though nothing was written, and it says what is gone."""
    cluster = Cluster(2)
    cluster.write(1, P0, ("a", "1"), ("b", "1"))
    cluster.write(1, P1, ("c", "1"))
    cluster.end(1)
    follower = ModelFollower(cluster)
    follower.finish()
    assert set(follower.state) == {b"a", b"b", b"c"}
    cluster.trim(P0, 1)
    follower.finish()
    assert set(follower.state) == {b"b", b"c"}
    assert follower.board.snapshot is not None
    assert follower.board.snapshot.cut == Cut({P0: 3, P1: 2})
