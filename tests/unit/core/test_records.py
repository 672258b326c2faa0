"""The values of the core, and the public interface of the package."""

from __future__ import annotations

import pickle

import pytest

import kafka_replica
from kafka_replica import BadRecordError, Partition, Position, Record

P0, P1 = Partition("t", 0), Partition("t", 1)


def test_positions_compare_and_dominate() -> None:
    """A position is a value: equal, hashable, ordered by domination, with topic-partition@offset as its text."""
    position = Position({P1: 2, P0: 1})
    assert position == Position({P0: 1, P1: 2})
    assert hash(position) == hash(Position({P0: 1, P1: 2}))
    assert str(position) == "t-0@1, t-1@2"
    assert position.as_json() == {"t-0": 1, "t-1": 2}
    assert position.dominates(Position({P0: 1}))
    assert not position.dominates(Position({P0: 2}))
    assert position.advanced({P0: 5}) == Position({P0: 5, P1: 2})
    assert not Position().dominates(Position({P0: 0}))


def test_the_last_header_of_a_name_counts() -> None:
    """The last header of a name counts; a record without a value is a tombstone."""
    record = Record(b"k", None, 3, 4, (("a", b"1"), ("a", b"2")), P1)
    assert record.header("a") == b"2"
    assert record.header("b") is None
    assert record.is_tombstone
    assert (record.topic, record.partition) == ("t", 1)


def test_a_name_that_is_not_public_is_not_there() -> None:
    """The top package has no other names; the public ones are listed in test_public_names."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = kafka_replica.nothing  # type: ignore[attr-defined]


def test_the_documented_tree_of_errors_equals_the_classes() -> None:
    """The tree of errors in the module's docstring shows each error under its base."""
    drawing = kafka_replica.errors.__doc__ or ""
    for name in vars(kafka_replica.errors):
        if name.endswith("Error"):
            assert f" {name} " in drawing.replace("\n", " \n"), name


def test_a_bad_record_survives_a_pickle() -> None:
    """A pickled BadRecordError keeps its properties: errors travel between processes."""
    error = BadRecordError("t", 0, 7, "it has no key", "fix it")
    again = pickle.loads(pickle.dumps(error))
    assert (again.topic, again.offset, str(again)) == ("t", 7, str(error))
    assert "t-0, offset 7" in str(error)
