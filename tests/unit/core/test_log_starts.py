"""Records that Kafka deletes at the front of a log: the rule, the remaining record of a key, and small scenarios."""

from __future__ import annotations

import pytest

from kafka_replica import BadRecordError, Partition, Position, Record
from kafka_replica.records import OpenTransaction
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.replication.log_starts import LogStarts
from kafka_replica.testing import FakeTopic
from kafka_replica.transactions import Batch, Kind, ParsedContent
from support.core.log_model import P0, P1, Cluster
from support.core.model_follower import ModelFollower

Q = Partition("other", 0)


# --- the rule ---


def test_a_log_start_below_all_that_is_held_costs_nothing() -> None:
    """A log start below all stored records costs nothing; topics that are only compacted have no other.

    An unchanged position object is not even examined.
    """
    starts = LogStarts()
    starts.add({P0: 5, P1: 0})
    assert not starts.move(Position({P0: 5}))
    assert not starts.move(moved := Position({P0: 5, P1: 0}))
    assert not starts.move(moved)
    assert not starts.passed


def test_a_log_start_above_stored_records_is_reported() -> None:
    """A log start is reported until the records below are gone, and again when it passes the lowest offset left."""
    starts = LogStarts()
    starts.add({P0: 0, P1: 0})
    assert starts.move(Position({P0: 3}))
    assert starts.move(Position({P0: 4, P1: 0}))
    assert not starts.move(Position({P0: 4}))
    assert starts.passed == {P0: 4}
    starts.expire({P0: 7}, Position({P0: 20, P1: 20}))
    assert starts.passed == {}
    assert starts.lowest == {P0: 7, P1: 0}
    assert not starts.move(Position({P0: 7}))
    assert starts.move(Position({P0: 8}))
    starts.expire({}, Position({P0: 20, P1: 20}))
    assert starts.lowest[P0] == 20, "nothing is left of it"


def test_pending_records_of_an_open_transaction_count_as_stored() -> None:
    """Records of an open transaction lie below the position, and count as stored."""
    starts = LogStarts()
    starts.add({P0: 0})
    starts.move(Position({P0: 4}))
    starts.expire({P0: 15}, Position({P0: 20}, [OpenTransaction(P0, 1, 0, 9, [(9, 10)], 1)]))
    assert starts.lowest == {P0: 9}
    starts.move(Position({P0: 10}))
    starts.expire({P0: 15}, Position({P0: 20}, [OpenTransaction(P0, 1, 0, 9, [(9, 10)], 1)]))
    assert starts.lowest == {P0: 10}, "what lies below the log start never comes"


# --- the remaining record of a key ---


def record(key: str, partition: Partition, offset: int, value: str | None = "x", timestamp_ms: int = 0) -> Record:
    """Return a record."""
    return Record(key.encode(), None if value is None else value.encode(), offset, timestamp_ms, (), partition)


def add_committed(delta_builder: DeltaBuilder, *records: Record) -> None:
    """Add records of one partition in one batch."""
    partition = records[0].source
    content = ParsedContent(records)
    batch = Batch(partition, Kind.PLAIN, records[0].offset, records[-1].offset + 1, len(records), -1, -1, content)
    delta_builder.add_committed([batch])


def assembly_of(*partitions: Partition, present: dict[bytes, Record] | None = None) -> DeltaBuilder:
    """Return a delta builder that reads partitions as one key space."""
    topics = [partition.topic for partition in partitions]
    made = DeltaBuilder((present or {}).get, dict.fromkeys(topics, b""), {topic: at for at, topic in enumerate(topics)})
    for partition in partitions:
        made.add(partition)
    return made


def places(present: dict[bytes, Record]) -> list[tuple[bytes, Partition, int]]:
    """Return keys and fetch positions as a store reports them."""
    return [(key, found.source, found.offset) for key, found in present.items()]


def test_published_and_pending_records_below_the_log_start_are_lost() -> None:
    """Published and pending records below the log start are lost; a newer record of the same key stays."""
    present = {b"old": record("old", P0, 1), b"new": record("new", P0, 2), b"kept": record("kept", P0, 6)}
    delta_builder = assembly_of(P0, present=present)
    add_committed(delta_builder, record("pending", P0, 3), record("gone", P0, 4, None), record("new", P0, 7))
    count, lowest, _ = delta_builder.expire({P0: 5}, places(present))
    assert (count, lowest) == (2, {P0: 6})
    delta = delta_builder.take(Position({P0: 8}))
    left = {key: None if raw[1] is None else raw[2] for key, raw in delta.changes.items()}
    assert left == {b"old": None, b"pending": None, b"gone": None, b"new": 7}
    assert delta.has_deletions
    assert delta_builder.totals == (3, 1), "a record that was deleted without a tombstone is none"


def test_a_late_transaction_keeps_its_remaining_records() -> None:
    """A transaction whose first records were deleted while it was open keeps its remaining records."""
    delta_builder = assembly_of(P0)
    delta_builder.expire({P0: 5}, [])
    assert delta_builder.is_empty
    add_committed(delta_builder, record("a", P0, 3), record("b", P0, 4))
    assert delta_builder.is_empty
    add_committed(delta_builder, record("a", P0, 4), record("b", P0, 5))
    assert set(delta_builder.take(Position({P0: 9})).changes) == {b"b"}


def test_a_key_with_records_in_several_partitions() -> None:
    """If the published record of a key is deleted, the next one counts; deleting an unpublished one changes nothing."""
    delta_builder = assembly_of(P0, P1, Q)
    for partition, offset in ((P0, 9), (P1, 2), (Q, 1)):
        add_committed(delta_builder, record("k", partition, offset))
    present = dict(delta_builder.take(Position({P0: 10, P1: 10, Q: 10})).changes)
    delta_builder._present = present.get
    assert present[b"k"].source == Q  # type: ignore[union-attr]
    assert delta_builder.expire({P1: 5}, places(present))[0] == 0  # type: ignore[arg-type]
    assert delta_builder.is_empty
    assert delta_builder.expire({Q: 2}, places(present))[0] == 1  # type: ignore[arg-type]
    assert delta_builder.take(Position({P0: 10, P1: 10, Q: 10})).changes[b"k"] == record("k", P0, 9)
    assert not delta_builder.has_keys_in_several_partitions


def test_a_record_that_becomes_current_has_the_lowest_offset_that_is_left() -> None:
    """The log's start may pass the record later; until then another record has hidden it, so that no store has it."""
    delta_builder = assembly_of(P0, Q)
    for partition in (P0, Q):
        add_committed(delta_builder, record("k", partition, 1))
    present = dict(delta_builder.take(Position({P0: 10, Q: 10})).changes)
    delta_builder._present = present.get
    expired = delta_builder.expire({P0: 1, Q: 2}, places(present))  # type: ignore[arg-type]
    assert expired.lowest == {P0: 1}


def test_a_bad_record_may_have_the_lowest_offset_that_is_left() -> None:
    """The log's start may pass the bad record later; then it no longer hides records of other partitions."""
    delta_builder = assembly_of(P0, P1)
    delta_builder.restore([BadRecordError(*P1, 3, "reason", "advice", b"bad")])
    assert delta_builder.expire({P1: 1}, []).lowest == {P1: 3}
    assert delta_builder.expire({P1: 4}, []).lowest == {}
    assert not delta_builder._candidates.bad_alone


# --- scenarios ---


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
def test_bad_records_that_are_deleted_are_not_listed_any_more(boundaries: str) -> None:
    """Bad records that were deleted are no longer listed; a replica started now does not know them, either."""

    def refuse(record: Record) -> None:
        if record.value == b"bad":
            raise ValueError("it is bad")

    topic = FakeTopic()
    for key, value in (("a", b"bad"), ("b", b"good"), ("c", b"bad"), ("d", b"good")):
        topic.put(key, value)
    topic.put(None, b"no key")
    with topic.replica(boundaries=boundaries, validator=refuse, on_bad_record="skip") as replica:
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


def test_a_lagging_reader_never_lacks_a_rewritten_key() -> None:
    """A lagging reader never lacks a rewritten key, though the old record is deleted before the new one is read."""
    cluster = Cluster()
    cluster.plain(P0, ("a", "1"))
    follower = ModelFollower(cluster)
    follower.publisher.keeps_versions = True
    follower.step()
    cluster.plain(P0, ("b", "1"))
    cluster.plain(P0, ("a", "2"))
    cluster.trim(P0, 1)
    follower.step((P0, 1))
    follower.finish()
    assert [sorted(version.state) for version in follower.publisher.versions] == [[b"a"], [b"a", b"b"]]


def test_a_deletion_at_the_front_of_an_idle_topic_makes_a_version() -> None:
    """A deletion at the front of an idle topic makes a version with the removed keys, though nothing is written."""
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
    assert follower.publisher.snapshot is not None
    assert follower.publisher.snapshot.position == Position({P0: 3, P1: 2})
