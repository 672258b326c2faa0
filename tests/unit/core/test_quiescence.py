"""The quiescence detector as a state machine; ``test_long_histories`` drives it through histories."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Partition, Position, Record
from kafka_replica.stores.delta import Delta
from kafka_replica.transactions import Batch, CommittedRecords, ConsistentPoint, Ends, Kind, QuiescenceDetector, Reading

P0, P1 = Partition("t", 0), Partition("t", 1)


class Content:
    """Records of a batch, as a consumer has them."""

    def __init__(self, records: list[Record]) -> None:
        self._records = records

    def records(self) -> list[Record]:
        """Return the records."""
        return self._records

    def hold(self) -> None:
        """Do nothing: the records own their data."""


def batch(partition: Partition, offset: int) -> Batch:
    """Return a batch with one committed record."""
    record = Record(b"k", b"v", offset, 0, (), partition)
    return Batch(partition, Kind.COMMITTED, offset, offset + 1, 1, -1, -1, Content([record]))


def rule_of(*partitions: Partition) -> QuiescenceDetector:
    """Return a detector that reads these partitions from the beginning."""
    rule = QuiescenceDetector()
    for partition in partitions:
        rule.add(partition, 0)
    return rule


def reading(positions: dict[Partition, int], high: dict[Partition, int], *batches: Batch) -> Reading:
    """Return a reading with these positions, high watermarks and batches."""
    return Reading(list(batches), Position(positions), Position(high))


def test_one_partition_is_quiescent_at_the_high_watermark() -> None:
    """Below the high watermark records wait; at it all are committed, and the number of transactions is unknown."""
    rule = rule_of(P0)
    first = batch(P0, 0)
    assert rule.take(reading({P0: 2}, {P0: 3}, first), every_point=True) == []
    assert rule.held_records == 1
    assert rule.take(reading({P0: 5}, {P0: 5}), every_point=True) == [
        CommittedRecords([first]),
        ConsistentPoint(Position({P0: 5}), None, False),
    ]
    assert rule.held_records == 0
    assert not rule.needs_ends


def test_a_quiescent_point_is_returned_once() -> None:
    """A quiescent point is returned once, when all positions are known; an empty topic has one at 0 once it is read."""
    rule = rule_of(P0)
    assert rule.take(reading({}, {}), every_point=True) == []
    assert rule.take(reading({P0: 0}, {}), every_point=True) == []
    assert rule.take(reading({P0: 0}, {P0: 0}), every_point=True) == [ConsistentPoint(Position({P0: 0}), None, False)]
    assert rule.take(reading({P0: 0}, {P0: 0}), every_point=True) == []


def test_a_position_that_decreases_is_refused() -> None:
    """A position that goes back would yield an older version: the reader is stopped instead."""
    rule = rule_of(P0)
    rule.take(reading({P0: 5}, {P0: 9}), every_point=True)
    with pytest.raises(ValueError, match="t-0 went back from 5 to 4"):
        rule.take(reading({P0: 4}, {P0: 9}), every_point=True)


def test_several_partitions_are_quiescent_only_at_the_requested_ends() -> None:
    """Partitions quiet at different times are not enough: the ends are requested, and must equal what was read."""
    rule = rule_of(P0, P1)
    first = batch(P0, 0)
    decided = rule.take(reading({P0: 2, P1: 2}, {P0: 2, P1: 3}, first), every_point=True)
    assert (decided, rule.needs_ends) == ([], False)
    assert rule.take(reading({P0: 2, P1: 3}, {P0: 2, P1: 3}), every_point=True) == []
    assert rule.needs_ends
    read, further = Position({P0: 2, P1: 3}), Position({P0: 4, P1: 3})
    assert rule.take_ends(Ends(read, further)) == []  # a transaction is open
    assert rule.take_ends(Ends(further, further)) == []  # a transaction was committed since
    assert rule.take_ends(Ends(Position({P0: 2}), Position({P0: 2}))) == []  # not all partitions have answered
    assert rule.take_ends(Ends(read, read)) == [CommittedRecords([first]), ConsistentPoint(read, None, True)]
    assert not rule.needs_ends


def test_a_partition_that_was_added_is_waited_for() -> None:
    """With an added partition there is no quiescence before its position is known."""
    rule = rule_of(P0)
    rule.take(reading({P0: 2}, {P0: 2}), every_point=True)
    rule.add(P1, 0)
    assert rule.take(reading({P0: 3}, {P0: 3}), every_point=True) == []
    assert not rule.needs_ends
    rule.take(reading({P0: 3, P1: 0}, {P0: 3, P1: 0}), every_point=True)
    assert rule.needs_ends


@given(st.lists(st.tuples(st.sampled_from([b"a", b"b", b"c"]), st.one_of(st.none(), st.binary(max_size=2)))), st.data())
def test_a_delta_does_not_depend_on_how_the_records_came(
    written: list[tuple[bytes, bytes | None]], data: st.DataObject
) -> None:
    """Records added in pieces or all at once have the same net effect and the same counts."""
    records = [Record(key, value, offset, 0, (), P0) for offset, (key, value) in enumerate(written)]
    at = data.draw(st.integers(0, len(records)))
    pieces = Delta(records[:at])
    pieces.add(records[at:])
    whole = Delta(records)
    assert pieces.changes == whole.changes == {record.key: record for record in records}
    assert (pieces.record_count, pieces.tombstone_count) == (whole.record_count, whole.tombstone_count)
    assert whole.tombstone_count == sum(record.is_tombstone for record in records)
