"""The contents of a directory that followed all changes are those of one that starts today."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica.directories import DuplicateValueError, MultiValuedIndex, PrefixIndex, RangeIndex, UniqueIndex
from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.errors import UsageError
from kafka_replica.records import Partition, Record
from support.core.snapshots import snapshot_of

Row = dict[str, Any]

VALUES = st.fixed_dictionaries(
    {
        "id": st.sampled_from("abcd") | st.none() | st.lists(st.integers(), max_size=1),
        "tags": st.lists(st.sampled_from("xyz"), max_size=3) | st.sampled_from("xyz") | st.none(),
        "name": st.text("AB", max_size=3) | st.none() | st.just(1),
        "size": st.integers(0, 5) | st.sampled_from([2.5, float("nan"), None, "big", True]),
    }
)
CHANGES = st.lists(st.tuples(st.sampled_from("KLMNOPQ"), VALUES | st.none() | st.just("damaged")), max_size=40)


def decoded(value: bytes) -> Row:
    """Return a row."""
    row: Row = json.loads(value)
    return row


SCHEMA = Schema(
    decoded,
    lambda row: row["id"],
    lambda row: row["tags"] != [],
    {
        "tags": MultiValuedIndex[Row](lambda row: row["tags"]),
        "name": PrefixIndex[Row](lambda row: row["name"]),
        "size": RangeIndex[Row](lambda row: row["size"]),
        "unique": UniqueIndex[Row](lambda row: row["size"]),
    },
)


def shown(contents: Contents[Row]) -> dict[str, Any]:
    """Return everything that can be looked up, in an order of its own."""
    tags, name, size, unique = (contents.indexes[each] for each in SCHEMA.indexes)
    assert isinstance(tags, MultiValuedIndex)
    assert isinstance(name, PrefixIndex)
    assert isinstance(size, RangeIndex)
    assert isinstance(unique, UniqueIndex)
    return {
        "keys": sorted(map(repr, contents.keys())),
        "objects": sorted(map(repr, contents.objects())),
        "length": len(contents),
        "ids": {one: looked_up(contents.look_up, one) for one in "abcd"},
        "tags": {tag: sorted(map(repr, tags[tag])) for tag in "xyz"},
        "name": {start: [row["name"] for row in name.starting_with(start)] for start in ("", "A", "AB", "B")},
        "size": ranged(size, 1, 4),
        "texts": ranged(size, "a", "c"),
        "unique": {value: looked_up(unique.__getitem__, value) for value in (0, 1, 2.5, "big")},
        "duplicates": sorted(map(repr, unique.duplicates)),
        "bad": sorted((key, bad.offset, bad.reason) for key, bad in contents.bad_records.items()),
    }


def looked_up(look_up: Any, value: object) -> str:
    """Return what a look-up returns or raises."""
    try:
        return repr(look_up(value))
    except (KeyError, DuplicateValueError) as error:
        return f"{type(error).__name__} {error}"


def ranged(index: RangeIndex[Row], first: object, last: object) -> object:
    """Return what a range contains, or the error if the index has only values of another type."""
    try:
        return [row["size"] for row in index.between(first, last)]
    except UsageError as error:
        return str(error)


@pytest.mark.thorough
@settings(max_examples=300, deadline=None)
@given(CHANGES, st.integers(1, 5))
def test_following_and_starting_today_agree(changes: list[tuple[str, Row | str | None]], step: int) -> None:
    """Whatever the changes, and however many come at once, nothing but the last records counts."""
    records: dict[bytes, Record] = {}
    contents = Contents.of(SCHEMA, snapshot_of({}))
    past: list[tuple[Contents[Row], dict[str, Any]]] = []
    for at in range(0, len(changes), step):
        touched = changes[at : at + step]
        for offset, (key, value) in enumerate(touched, at):
            if value is None:
                records.pop(key.encode(), None)
            else:
                text = "{" if value == "damaged" else json.dumps(value)
                records[key.encode()] = Record(key.encode(), text.encode(), offset, 0, (), Partition("t", 0))
        contents = contents.advanced({key.encode() for key, _ in touched}, records.get)
        assert shown(contents) == shown(Contents.of(SCHEMA, snapshot_of(records)))
        past.append((contents, shown(contents)))
    for before, expected in past:  # earlier versions have not changed
        assert shown(before) == expected
