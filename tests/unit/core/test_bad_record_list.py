"""The list of records that were set aside."""

from __future__ import annotations

from threading import Condition

import pytest

from kafka_replica import BadRecordError, Partition, Record
from kafka_replica.publication import bad_record_list
from kafka_replica.publication.bad_record_list import BadRecordList
from kafka_replica.testing import FakeTopic
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
    listed.remove([("t", b"a"), ("other", b"b"), ("t", b"unknown")])
    assert [each.offset for each in listed.newest()] == [2, 3, 5]
    listed.expire({Partition("t", 0): 3, Partition("t", 1): 9})
    assert [each.offset for each in listed.newest()] == [3, 5]
    listed.clear()
    assert listed.newest() == []
    assert listed.count == 4


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
