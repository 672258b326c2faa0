"""A record behaves alike in both implementations of its fields, in Python and in C."""

from __future__ import annotations

import copy
import gc
import pickle
import sys
from collections.abc import Sequence
from typing import Any

import pytest

from kafka_replica.common.compiled import PARSER
from kafka_replica.common.record_fields import PlainRecordFields
from kafka_replica.records import Partition, Record
from support.core.leaks import assert_no_leaks

SOURCE = Partition("t", 3)
HEADERS = ("h", b"1"), ("h", b"2")
ITEMS = b"k", b"value", 1 << 40, -1, HEADERS, SOURCE
I64 = (1 << 63) - 1
implementations = [PlainRecordFields, Record] if PARSER is not None else [PlainRecordFields]


@pytest.fixture(params=implementations)
def kind(request: pytest.FixtureRequest) -> Any:
    """Return a class of fields: that in Python, and that in C."""
    return request.param


def test_fields_and_items(kind: Any) -> None:
    """Fields can be given by place and name, and read by name, index and slice, and in a loop."""
    one = kind(*ITEMS)
    other = kind(source=SOURCE, headers=HEADERS, timestamp_ms=-1, offset=1 << 40, value=b"value", key=b"k")
    assert (one.key, one.value, one.offset, one.timestamp_ms, one.headers, one.source) == ITEMS == tuple(other)
    assert [one[at] for at in range(-6, 6)] == [*ITEMS, *ITEMS]
    assert (one[:2], one[::-1], one[4:]) == (ITEMS[:2], ITEMS[::-1], ITEMS[4:])
    key, *_, source = one
    assert (key, source, len(one), b"value" in one, b"x" in one) == (b"k", SOURCE, 6, True, False)
    assert isinstance(kind(*ITEMS), Sequence)
    assert not isinstance(kind(*ITEMS), tuple)
    for at in (6, -7, 1 << 70):
        with pytest.raises(IndexError):
            one[at]
    with pytest.raises(TypeError):
        one["key"]


@pytest.mark.parametrize("number", [0, -1, 1 << 31, -(1 << 31), I64, -I64 - 1])
def test_every_number(kind: Any, number: int) -> None:
    """Offsets and timestamps may be any number of 64 bits; the log may have any timestamp."""
    one = kind(b"", None, number, -number - 1, (), SOURCE)
    assert (one.offset, one.timestamp_ms) == (number, -number - 1)


def test_comparisons(kind: Any) -> None:
    """Records are compared by their items, in order; they are never equal to something else, such as a tuple."""
    one, other = kind(*ITEMS), kind(*ITEMS)
    later = kind(b"k", b"value", (1 << 40) + 1, -1, HEADERS, SOURCE)
    assert one == other
    assert one != later
    assert hash(one) == hash(other)
    assert {one: 1}[other] == 1
    assert sorted([later, one]) == [one, later]
    assert (one < later, one <= other, later > one, one >= other) == (True, True, True, True)
    assert (later < one, later <= one, one > later, one >= later) == (False, False, False, False)
    assert one != ITEMS
    assert one != ITEMS
    with pytest.raises(TypeError):
        one < ITEMS  # noqa: B015


def test_records_never_change(kind: Any) -> None:
    """No field can be set, and there is no room for others."""
    one = kind(*ITEMS)
    for name in ("key", "value", "offset", "timestamp_ms", "headers", "source", "unknown"):
        with pytest.raises(AttributeError):
            setattr(one, name, 1)


@pytest.mark.parametrize("wrong", [(), ITEMS[:5], (*ITEMS, 1)])
def test_wrong_numbers_of_fields(kind: Any, wrong: tuple[Any, ...]) -> None:
    """A record has six fields."""
    with pytest.raises(TypeError):
        kind(*wrong)
    with pytest.raises(TypeError):
        kind(*ITEMS, unknown=1)


def test_a_subclass_may_have_more_fields(kind: Any) -> None:
    """A subclass with attributes of its own, which may form a cycle, is created and freed like any object."""

    class More(kind):  # type: ignore[misc]
        """Has a dict."""

    class Slots(kind):  # type: ignore[misc]
        """Has one more field."""

        __slots__ = ("more",)

    for own in (More, Slots):
        one = own(*ITEMS)
        one.more = [one]
        assert (one.key, one.offset, tuple(one)) == (b"k", 1 << 40, ITEMS)
        assert own(*ITEMS) == kind(*ITEMS)
        del one
    gc.collect()


def test_nothing_is_leaked(kind: Any) -> None:
    """Memory stays as it is; the shared objects keep their count."""
    source, headers = Partition("leaks", 7), (("leaks", b"7"),)

    def work() -> None:
        one, other = kind(b"k", b"v", 1 << 50, 5, headers, source), kind(b"k", None, 3, 5, headers, source)
        assert one != other
        assert tuple(one)[:2] == one[:2] == (one.key, one.value)
        hash(one)
        with pytest.raises(TypeError):
            kind(b"k")
        with pytest.raises(IndexError):
            one[9]

    assert_no_leaks(work, source, headers, kind)


def test_a_record() -> None:
    """The methods of a record, which both implementations share."""
    one = Record(*ITEMS)
    assert repr(one) == f"<Record k at t-3@{1 << 40}, 5 bytes>"
    assert (one.topic, one.partition, one.is_tombstone) == ("t", 3, False)
    assert (one.header("h"), one.header("x")) == (b"2", None)
    gone = one.replace(value=None, offset=1)
    assert (type(gone), tuple(gone)) == (Record, (b"k", None, 1, -1, HEADERS, SOURCE))
    assert gone.is_tombstone
    with pytest.raises(TypeError):
        one.replace(unknown=1)
    if sys.version_info >= (3, 13):
        assert copy.replace(one, value=None, offset=1) == gone


def test_copies_of_a_record() -> None:
    """A record can be copied and pickled."""
    one = Record(*ITEMS)
    for copied in (copy.copy(one), copy.deepcopy(one), *(pickle.loads(pickle.dumps(one, n)) for n in range(2, 6))):
        assert copied == one
        assert type(copied) is Record


def test_patterns() -> None:
    """A record matches patterns of its class, with names or places, and of sequences."""

    def matched(one: Any) -> list[Any]:
        found: list[Any] = []
        match one:
            case Record(b"k", b"value", offset=offset):
                found.append(offset)
        match one:
            case [b"k", *_, place]:
                found.append(place)
        return found

    assert matched(Record(*ITEMS)) == [1 << 40, SOURCE]
