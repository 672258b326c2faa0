"""The delta builder alone: which record of a key counts, and how records that cannot count are reported."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from threading import Condition
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Partition, Position, Record
from kafka_replica.errors import DataError
from kafka_replica.publication import bad_record_list
from kafka_replica.publication.bad_record_list import BadRecordList
from kafka_replica.records import OpenTransaction, Stored, as_record
from kafka_replica.replication.bad_records import BadRecordHandler
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.replication.record_filter import RecordFilter
from kafka_replica.transactions import Batch, Kind
from support.core.model_source import ModelContent

A0, A1, B0 = Partition("a", 0), Partition("a", 1), Partition("b", 0)


class Shown:
    """A delta builder, and the state that its deltas produce."""

    def __init__(self, *partitions: Partition, apart: bool = False) -> None:
        self.state: dict[bytes, Stored] = {}
        self.delta_builder = DeltaBuilder(
            self.state.get, {"a": b"a." if apart else b"", "b": b"b." if apart else b""}, {"a": 0, "b": 1}
        )
        for partition in partitions:
            self.delta_builder.add(partition)

    def add_committed(self, *records: Record) -> list[str]:
        """Add each record as a batch of its own, and return what was set aside."""
        batches = [
            Batch(r.source, Kind.PLAIN, r.offset, r.offset + 1, 1, -1, -1, ModelContent([r], lambda: True))
            for r in records
        ]
        return [str(bad) for bad in self.delta_builder.add_committed(batches).bad]

    def show(self, position: Position) -> dict[str, str]:
        """Publish a version, and return the state then."""
        for key, record in self.delta_builder.take(position).changes.items():
            if record[1] is None:
                self.state.pop(key, None)
            else:
                self.state[key] = record
        return {key.decode(): (record[1] or b"").decode() for key, record in self.state.items()}


def record(key: str, value: str | None, offset: int, source: Partition = A0, timestamp_ms: int = 0) -> Record:
    """Return a record."""
    return Record(key.encode(), None if value is None else value.encode(), offset, timestamp_ms, (), source)


def opened(first: int) -> Position:
    """Return a position at offset 9 with a transaction that has been open since ``first``."""
    return Position({A0: 9}, [OpenTransaction(A0, 1, 0, first, [(first, first + 1)], 1)])


def test_the_highest_offset_counts_within_a_version_and_across() -> None:
    """A record that arrives late replaces nothing newer, neither in the delta nor in the published version."""
    shown = Shown(A0)
    shown.add_committed(record("k", "5", 5), record("k", "3", 3))
    assert shown.show(opened(1)) == {"k": "5"}
    shown.add_committed(record("k", "1", 1), record("l", "2", 2))
    assert shown.show(Position({A0: 12})) == {"k": "5", "l": "2"}
    shown.add_committed(record("k", "12", 12))
    assert shown.show(Position({A0: 13})) == {"k": "12", "l": "2"}


def test_a_deletion_is_remembered_as_long_as_something_older_is_open() -> None:
    """A deletion is remembered over several versions while something older is open, and then forgotten.

    Afterwards no record below the deletion can arrive any more.
    """
    shown = Shown(A0)
    shown.add_committed(record("k", None, 5))
    assert shown.show(opened(1)) == {}
    shown.add_committed(record("x", "8", 8))
    assert shown.show(opened(1)) == {"x": "8"}
    shown.add_committed(record("k", "1", 1))
    assert shown.show(Position({A0: 12})) == {"x": "8"}
    assert shown.delta_builder._pending_tombstones == {}


def test_a_deletion_that_nothing_older_can_undo_is_not_kept() -> None:
    """A deletion is not kept if nothing is open or only newer transactions are: deletions must not fill the memory."""
    shown = Shown(A0)
    shown.add_committed(record("k", None, 5))
    shown.show(Position({A0: 9}))
    shown.add_committed(record("l", None, 6))
    shown.show(opened(7))
    assert shown.delta_builder._pending_tombstones == {}


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_across_partitions_the_order_of_reading_does_not_matter(order: tuple[int, ...]) -> None:
    """In one key space the topic named last wins, then the latest timestamp; a deletion covers its own partition."""
    written = [
        record("k", "a0", 0, A0, timestamp_ms=9),
        record("k", "a1", 0, A1, timestamp_ms=8),
        record("k", "b0", 0, B0, timestamp_ms=1),
        record("l", "a0", 1, A0),
    ]
    shown = Shown(A0, A1, B0)
    for at in order:
        shown.add_committed(written[at])
        shown.show(Position({A0: 2, A1: 1, B0: 1}))
    assert shown.show(Position({A0: 2, A1: 1, B0: 1})) == {"k": "b0", "l": "a0"}
    shown.add_committed(record("k", None, 1, B0))
    assert shown.show(Position({A0: 2, A1: 1, B0: 2})) == {"k": "a0", "l": "a0"}
    shown.add_committed(record("k", None, 2, A0))
    assert shown.show(Position({A0: 3, A1: 1, B0: 2})) == {"k": "a1", "l": "a0"}
    shown.add_committed(record("k", None, 1, A1))
    assert shown.show(Position({A0: 3, A1: 2, B0: 2})) == {"l": "a0"}


@pytest.mark.parametrize("order", list(permutations(range(4))))
def test_batches_added_together_give_the_same_as_one_after_the_other(order: tuple[int, ...]) -> None:
    """The winner among a key's records in several partitions is the same, and so is the next one after a deletion."""
    written = [
        record("k", "a0", 0, A0, timestamp_ms=9),
        record("k", "a1", 0, A1, timestamp_ms=8),
        record("l", "a0", 1, A0),
        record("m", "b0", 0, B0),
    ]
    shown = Shown(A0, A1, B0)
    shown.add_committed(*(written[at] for at in order))
    assert shown.show(Position({A0: 2, A1: 1, B0: 1})) == {"k": "a0", "l": "a0", "m": "b0"}
    shown.add_committed(record("k", None, 2, A0))
    assert shown.show(Position({A0: 3, A1: 1, B0: 1})) == {"k": "a1", "l": "a0", "m": "b0"}


@pytest.mark.parametrize("repeated_at", [1, 50, 150, 299])
def test_a_key_repeated_among_many_batches_is_compared(repeated_at: int) -> None:
    """An older record of a key does not win by coming last, in the same hundred batches or in later ones."""
    written = [record(str(number), "first", number, A0, timestamp_ms=2) for number in range(300)]
    shown = Shown(A0, A1)
    shown.add_committed(*written[:repeated_at], record("0", "older", 0, A1, timestamp_ms=1), *written[repeated_at:])
    assert shown.delta_builder.record_count == 301
    assert shown.show(Position({A0: 300, A1: 1})) == {str(number): "first" for number in range(300)}
    shown.add_committed(record("0", None, 300, A0))
    assert shown.show(Position({A0: 301, A1: 1}))["0"] == "older"


def test_a_deletion_among_batches_added_together_hides_an_older_record() -> None:
    """A version that ends below a deletion that was read already remembers the deletion."""
    shown = Shown(A0, A1)
    shown.add_committed(record("k", None, 5), record("l", "1", 0, A1))
    assert shown.show(Position({A0: 4, A1: 1})) == {"l": "1"}
    shown.add_committed(record("k", "older", 3))
    assert shown.show(Position({A0: 6, A1: 1})) == {"l": "1"}


def test_a_refused_record_after_a_good_one_keeps_its_place() -> None:
    """An older record of the key does not come back, of whatever partition; a newer one is shown."""

    def refuse_bad(checked: Record) -> None:
        if checked.value == b"bad":
            raise ValueError("it is bad")

    def builder() -> DeltaBuilder:
        made = DeltaBuilder(lambda _: None, {"a": b""}, {"a": 0}, record_filter=RecordFilter(validator=refuse_bad))
        made.add(A0)
        made.add(A1)
        good_and_bad = [record("x", "good", 11, A1), record("k", "bad", 12, A1)]
        made.add_committed([Batch(A1, Kind.PLAIN, 11, 13, 2, -1, -1, ModelContent(good_and_bad, lambda: True))])
        return made

    for later, value in (
        (record("k", "older", 10, A1), None),
        (record("k", "lower partition", 5, A0), None),
        (record("k", "newer", 5, A0, timestamp_ms=1), b"newer"),
    ):
        shown = builder()
        shown.add_committed([Batch(later.source, Kind.PLAIN, 5, 14, 1, -1, -1, ModelContent([later], lambda: True))])
        changes = shown.take(Position({A0: 14, A1: 14})).changes
        assert changes[b"x"][1] == b"good"
        assert changes[b"k"][1] == value


@pytest.mark.parametrize(
    ("newer", "older", "is_bad"), [("bad", "good", True), ("good", "bad", False), ("bad", "bad", True)]
)
def test_a_record_that_is_committed_late_changes_nothing_about_a_newer_bad_or_good_one(
    newer: str, older: str, is_bad: bool
) -> None:
    """B writes at offset 11 and commits; A, whose record is at offset 10, commits later."""

    def refuse_bad(checked: Record) -> None:
        if checked.value == b"bad":
            raise ValueError("it is bad")

    record_filter, listed = RecordFilter(validator=refuse_bad), BadRecordList(Condition())
    builder = DeltaBuilder(lambda _: None, {"a": b""}, {"a": 0}, record_filter=record_filter)
    handler = BadRecordHandler(listed, builder, on_bad_record="skip", dead_letters=None)
    builder.add(A0)
    for value, offset in ((newer, 11), (older, 10)):
        content = ModelContent([record("k", value, offset)], lambda: True)
        handler.handle(builder.add_committed([Batch(A0, Kind.PLAIN, offset, offset + 1, 1, -1, -1, content)]))
    assert [bad.offset for bad in listed.newest()] == ([11] if is_bad else [])
    assert (b"k" in builder._candidates.bad_alone) is is_bad
    assert builder.take(Position({A0: 12})).changes[b"k"][1] == (None if is_bad else b"good")


def plain(*records: Record) -> list[Batch]:
    """Return each record as a batch of its own."""
    return [
        Batch(r.source, Kind.PLAIN, r.offset, r.offset + 1, 1, -1, -1, ModelContent([r], lambda: True)) for r in records
    ]


def test_a_record_that_is_no_longer_listed_as_bad_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """The builder remembers no more keys than the list has; which records of a partition are shown is the same."""

    def refuse_bad(checked: Record) -> None:
        if checked.value == b"bad":
            raise ValueError("it is bad")

    monkeypatch.setattr(bad_record_list, "_KEPT", 3)
    record_filter, listed = RecordFilter(validator=refuse_bad), BadRecordList(Condition())
    builder = DeltaBuilder(lambda _: None, {"a": b""}, {"a": 0}, record_filter=record_filter)
    handler = BadRecordHandler(listed, builder, on_bad_record="skip", dead_letters=None)
    builder.add(A0)

    def add(*records: Record) -> list[int]:
        handler.handle(builder.add_committed(plain(*records)))
        return [bad.offset for bad in listed.newest()]

    assert add(*(record(str(number), "bad", 10 + number) for number in range(6))) == [13, 14, 15]
    assert list(builder._candidates.bad_alone) == [b"3", b"4", b"5"]
    assert add(record("0", "good, but older", 1)) == [13, 14, 15]  # it was committed late
    assert add(record("2", "good", 20), record("3", "good", 21)) == [14, 15]
    assert add(record("1", "bad", 2)) == [14, 15]
    handler.expire({A0: 15}, {})
    assert [bad.offset for bad in listed.newest()] == [15]
    assert list(builder._candidates.bad_alone) == [b"5"]
    shown = {key: raw[1] for key, raw in builder.take(Position({A0: 22})).changes.items()}
    assert shown == {b"0": None, b"1": None, b"2": b"good", b"3": b"good", b"4": None, b"5": None}


def test_keys_and_tombstones_count_for_the_size_of_a_part() -> None:
    """A version of deletions is passed on in parts as well; otherwise all of them would be kept in memory."""
    builder = DeltaBuilder(lambda _: None, {"a": b""}, {"a": 0}, counts_bytes=True)
    builder.add(A0)
    builder.add_committed(plain(*(record("k" * 50, None, number) for number in range(100))))
    assert builder.size_bytes > 100 * 200
    before = builder.size_bytes
    builder.add_initial(record("i", "v" * 100, -1))
    assert builder.size_bytes > before + 200
    builder.take_part()
    assert builder.size_bytes == 0


def test_topics_with_keys_of_their_own_do_not_touch() -> None:
    """A key in two topics is two keys, also where one of them is deleted."""
    shown = Shown(A0, B0, apart=True)
    shown.add_committed(record("k", "a", 0, A0), record("l", "a", 1, A0))
    shown.add_committed(record("k", "b", 0, B0))
    assert shown.show(Position({A0: 2, B0: 1})) == {"a.k": "a", "a.l": "a", "b.k": "b"}
    shown.add_committed(record("k", None, 1, B0))
    assert shown.show(Position({A0: 2, B0: 2})) == {"a.k": "a", "a.l": "a"}


@pytest.mark.parametrize("partitions", [(A0,), (A0, A1)])
def test_a_record_without_a_key_is_reported_and_left_out(partitions: tuple[Partition, ...]) -> None:
    """A record without a key is reported with its partition and offset and left out; the rest of its batch is shown."""
    shown = Shown(*partitions)
    lost = record("", "x", 4).replace(key=None)  # what the log has
    (bad,) = shown.add_committed(record("k", "1", 3), lost)
    assert "a-0, offset 4" in bad
    assert shown.show(Position({A0: 5})) == {"k": "1"}


def test_records_and_tombstones_are_counted_per_version() -> None:
    """Records and tombstones are counted since the last version, and since the beginning."""
    shown = Shown(A0)
    assert shown.delta_builder.is_empty
    shown.add_committed(record("k", "1", 0), record("k", None, 1))
    assert (shown.delta_builder.record_count, shown.delta_builder.totals) == (2, (2, 1))
    shown.show(Position({A0: 2}))
    assert shown.delta_builder.is_empty
    shown.add_committed(record("k", "2", 2))
    assert (shown.delta_builder.record_count, shown.delta_builder.totals) == (1, (3, 1))


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=8), st.data())
def test_any_order_of_commits_ends_with_the_highest_offsets(
    written: list[tuple[str, bool]], data: st.DataObject
) -> None:
    """Any order of commits, with versions made anywhere in between, ends with the log's state."""
    records = [record(key, str(at) if alive else None, at) for at, (key, alive) in enumerate(written)]
    order = data.draw(st.permutations(range(len(records))))
    shown = Shown(A0)
    left = set(order)
    for at in order:
        shown.add_committed(records[at])
        left.remove(at)
        if data.draw(st.booleans()):
            open_ = [OpenTransaction(A0, first, 0, first, [(first, first + 1)], 1) for first in left]
            shown.show(Position({A0: len(records)}, open_))
    expected = {r.key.decode(): r.value.decode() if r.value else None for r in records}
    assert shown.show(Position({A0: len(records)})) == {
        key: value for key, value in expected.items() if value is not None
    }


KEYS = [b"%d" % number for number in range(12)]


class OneByOne(DeltaBuilder):
    """A delta builder without the short way for keys that have no record yet."""

    def _add_new_keys(self, partition: Partition, records: Sequence[Stored]) -> bool:
        return False


@given(
    st.lists(
        st.tuples(
            st.sampled_from((A0, A1, B0)),
            st.lists(
                st.tuples(st.sampled_from([*KEYS, None]), st.sampled_from([True, True, False])), min_size=1, max_size=3
            ),
            st.sampled_from([*7 * [""], "late", "version", "part"]),
        ),
        min_size=2,
        max_size=8,
    ),
    st.booleans(),
)
def test_new_keys_are_added_at_once_with_the_same_result(
    written: list[tuple[Partition, list[tuple[bytes | None, bool]], str]], apart: bool
) -> None:
    """A batch of new keys is added at once, in the parser's form or as records; one by one gives the same."""
    shown = Shown(A0, A1, B0, apart=apart), Shown(A0, A1, B0, apart=apart)
    shown[1].delta_builder.__class__ = OneByOne
    ends = {A0: 10, A1: 10, B0: 10}
    for number, (partition, content, event) in enumerate(written):
        first = ends[partition] - 9 if event == "late" else ends[partition]
        raw: list[Any] = [
            (key, b"%d" % number if alive else None, first + at, number % 3, ())
            for at, (key, alive) in enumerate(content)
        ]
        ends[partition] = max(ends[partition], first + len(raw))
        records = raw if number % 2 else [as_record(one, partition) for one in raw]
        found = []
        for one in shown:
            batch = Batch(
                partition, Kind.PLAIN, first, first + len(raw), len(raw), -1, -1, ModelContent(records, lambda: True)
            )
            bad = [str(bad) for bad in one.delta_builder.add_committed([batch]).bad]
            state = one.show(Position(ends)) if event == "version" else None
            part = list(one.delta_builder.take_part().changes.items()) if event == "part" else None
            one.state.update(dict(part or ()))
            builder = one.delta_builder
            found.append((bad, state, part, builder.totals, dict(builder._delta.changes)))
        assert found[0] == found[1]


def test_records_that_are_all_outdated_make_no_version() -> None:
    """Nothing changes, so there is nothing to show; the records are counted all the same."""
    shown = Shown(A0)
    shown.add_committed(record("k", "2", 1), record("l", None, 3))
    shown.show(Position({A0: 4}, opened(0).open))
    shown.add_committed(record("k", "1", 0), record("l", "1", 2))
    assert shown.delta_builder.is_empty
    assert (shown.delta_builder.record_count, shown.delta_builder.totals) == (2, (4, 1))
    shown.delta_builder.skip()
    assert (shown.delta_builder.record_count, shown.delta_builder.totals) == (0, (4, 1))
    assert shown.show(Position({A0: 4})) == {"k": "2"}
    assert not shown.delta_builder.take_part().changes
    assert shown.delta_builder.is_empty


def test_the_keys_of_a_damaged_batch_are_unknown_and_keep_their_records() -> None:
    """The error reports this: no other record of these keys is known to be outdated."""

    class Damaged:
        def records(self) -> Sequence[Stored]:
            raise DataError("its checksum is wrong")

        def hold(self) -> None:
            pass

    shown = Shown(A0)
    shown.add_committed(record("k", "1", 0))
    (bad,) = shown.delta_builder.add_committed([Batch(A0, Kind.PLAIN, 1, 3, 2, -1, -1, Damaged())]).bad
    assert (bad.key, bad.offset) == (None, 1)
    assert (
        "up to offset 2, cannot be read, so that its keys are not known and keep their previous records" in bad.reason
    )
    assert shown.show(Position({A0: 3})) == {"k": "1"}
