"""Indexes accept or refuse values, and their look-ups find objects or refuse what cannot find any."""

from __future__ import annotations

import pickle
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import Enum, StrEnum
from functools import total_ordering
from typing import Any, NamedTuple, TypeVar

import attrs
import msgspec
import pytest

from kafka_replica.directories import Directory, Index, MultiValuedIndex, PrefixIndex, RangeIndex, UniqueIndex
from kafka_replica.directories.indexes.entry import Entry
from kafka_replica.errors import DataError, KafkaReplicaError, UsageError
from kafka_replica.testing import FakeTopic
from support.directories.terminals import WAIT_S, put

I = TypeVar("I", bound=Index[Any])  # noqa: E741


def filled(index: I, found: Collection[Any]) -> I:
    """Return an index of objects, whose keys are their numbers, after adding one object after the other."""
    for at, one in enumerate(found):
        index = index.with_object(index.values_of(one), b"%d" % at, one)
    return index


def filled_at_once(index: I, found: Collection[Any]) -> I:
    """Return an index of objects, whose keys are their numbers."""
    entries = [Entry(b"%d" % at, one, at, (tuple(index.values_of(one)),)) for at, one in enumerate(found)]
    return index.with_entries(entries, 0)


class Firmware(msgspec.Struct, order=True):
    """A version, of which a part may be missing."""

    major: int
    build: int | None = None


@dataclass(order=True)
class Release:
    """A version, whose text does not count."""

    text: str = field(compare=False)
    major: int
    build: int | None = None


class Patch(Release):
    """A subclass without an order of its own."""


@attrs.define(order=True)
class Model:
    """A version of attrs, whose text does not count."""

    text: str = attrs.field(order=False)
    major: int
    build: int | None = None


@pytest.mark.parametrize(
    "make",
    [
        Firmware,
        lambda major, build: Release(f"{-major}", major, build),
        lambda major, build: Patch(f"{-major}", major, build),
        lambda major, build: Model(f"{-major}", major, build),
    ],
)
@pytest.mark.parametrize("fill", [filled, filled_at_once])
def test_ordered_objects_are_compared_by_their_fields_of_which_some_are_none(make: Any, fill: Any) -> None:
    """Fields that Python cannot compare, None and a number, are ordered like those of tuples."""
    found = [make(1, 3), make(2, None), make(1, None), make(1, -1), make(0, 9)]
    index = fill(RangeIndex[Any](lambda one: one), found)
    assert list(index.between(make(1, None), make(2, None))) == [found[at] for at in (2, 3, 0, 1)]
    assert list(index.between(make(1, 0), make(1, 5))) == found[:1]


@total_ordering
@dataclass
class Backwards:
    """A class with an order of its own, which is not that of its field."""

    number: int | str

    def __lt__(self, other: Any) -> bool:
        return bool(self.number > other.number)

    def __hash__(self) -> int:
        return hash(self.number)


class Inverse(Firmware):
    """A struct with an order of its own."""

    def __lt__(self, other: Any) -> bool:
        return bool(self.major > other.major)

    def __gt__(self, other: Any) -> bool:
        return bool(self.major < other.major)

    def __hash__(self) -> int:
        return hash(self.major)


@pytest.mark.parametrize("kind", [Backwards, Inverse])
def test_an_order_that_a_class_itself_defines_counts(kind: Any) -> None:
    """Fields do not replace an order that was written for a class."""
    index = filled(RangeIndex[Any](lambda one: one), [kind(1), kind(3), kind(2)])
    assert list(index.between(kind(3), kind(2))) == [kind(3), kind(2)]


@pytest.mark.parametrize("fill", [filled, filled_at_once])
def test_a_value_that_cannot_be_compared_with_others_is_named(fill: Any) -> None:
    """The error names the index, the key and the remedy, not only an operator of Python."""
    with pytest.raises(DataError, match=r"RangeIndex of a function>.* of the key 1 cannot .* returns a tuple"):
        fill(RangeIndex[Any](lambda one: one), [Backwards(1), Backwards("x")])


class Terminal(msgspec.Struct):
    """A terminal with a version."""

    firmware: Firmware


@pytest.mark.parametrize("policy", ["stop", "skip"])
def test_a_version_with_a_missing_part_does_not_end_a_directory(policy: Any) -> None:
    """A directory that follows such a record, and one that starts with it, show it."""
    topic = FakeTopic("terminals")
    put(topic, T1=b'{"firmware":{"major":1,"build":3}}')
    with topic.replica() as replica:
        options: dict[str, Any] = {"indexes": {"by": RangeIndex[Terminal]("firmware")}, "on_bad_record": policy}
        terminals = Directory(replica, Terminal, **options)
        terminals.wait_ready(WAIT_S)
        terminals.wait_for(put(topic, T2=b'{"firmware":{"major":1}}'), WAIT_S)
        for each in (terminals, Directory(replica, Terminal, **options)):
            each.wait_ready(WAIT_S)
            found = list(each.index("by").between(Firmware(1), Firmware(1, 9)))
            assert [one.firmware.build for one in found] == [None, 3]


def test_an_index_that_cannot_compare_ends_a_directory_with_an_error_about_the_index() -> None:
    """No order of records decides which of them is bad: the error names the index and a key."""
    topic = FakeTopic("numbers")
    put(topic, a=b"1")
    with topic.replica() as replica:
        index = RangeIndex[Any](Backwards)
        numbers = Directory[str, Any](replica, object, decode=msgspec.json.decode, indexes={"by": index})
        numbers.wait_ready(WAIT_S)
        with pytest.raises(KafkaReplicaError, match=r"the key b cannot be compared .* create the directory again"):
            numbers.wait_for(put(topic, b=b'"x"'), WAIT_S)


AWARE = [datetime(2026, 5, 1, 10, tzinfo=UTC)]
DAYS = [date(2026, 5, 1)]
YEAR = date(2026, 1, 1), date(2026, 12, 31)
NAIVE = datetime(2026, 1, 1), datetime(2026, 12, 31)  # noqa: DTZ001


@pytest.mark.parametrize("fill", [filled, filled_at_once])
@pytest.mark.parametrize(
    ("values", "bounds", "reason"),
    [
        (AWARE, YEAR, r"bounds of the type datetime\.date, .* of the type datetime\.datetime with time zone; give"),
        (AWARE, NAIVE, r"bounds of the type datetime\.datetime, .* the type datetime\.datetime with time zone; give"),
        (DAYS, NAIVE, r"bounds of the type datetime\.datetime, but .* are of the type datetime\.date; give"),
        (DAYS, ("2026-01-01", "2026-12-31"), r"bounds of the type str, but .* are of the type datetime\.date; give"),
        (["a", *DAYS], NAIVE, r"of the type str, datetime\.date; give"),
        (DAYS, (None, YEAR[1]), "bounds of a range are None and .* None is not a bound"),
        (DAYS, (YEAR[0], None), "None is not a bound, as it is not indexed; give the first and the last value"),
        ([], ([1], [2]), r"they cannot be ordered: TypeError: unhashable type: 'list'; give values of the type"),
        ([], (float("nan"), 1.0), "nan cannot be ordered"),
        (DAYS, (1, "a"), "bounds of different types, number and str"),
    ],
)
def test_bounds_that_cannot_find_any_value_are_refused(
    fill: Any, values: list[Any], bounds: tuple[Any, Any], reason: str
) -> None:
    """An empty answer does not conceal bounds of a type that no value has; the error names both types, at once."""
    with pytest.raises(UsageError, match=reason):
        fill(RangeIndex[Any](lambda one: one), values).between(*bounds)


def test_ranges_without_values_are_empty_if_values_of_their_type_exist() -> None:
    """Below, above and between values of the type, and in an index without values, an answer is empty."""
    index = filled(RangeIndex[Any](lambda one: one), [3, 5.5, "m", *DAYS])
    for bounds in ((0, 2), (4, 5), (6, 9), (9, 0), ("a", "b"), ("x", "z"), (date(2020, 1, 1), date(2021, 1, 1))):
        assert list(index.between(*bounds)) == []
    assert list(index.between(4, 6)) == [5.5]
    assert list(index.between("a", "z")) == ["m"]
    assert list(RangeIndex[Any]("any").between(*YEAR)) == []


def test_values_of_several_types_may_disappear() -> None:
    """A range of one of the types finds nothing once the last value of this type was deleted, as before it came."""
    index = filled(RangeIndex[Any](lambda one: one), ["x", (2, 3)])
    assert list(index.between(1, 5)) == []
    assert list(filled(RangeIndex[Any](lambda one: one), [1, *DAYS]).between("a", "z")) == []


class Colour(Enum):
    """Members without an order of their own."""

    RED = "r"
    BLUE = "b"


class Size(StrEnum):
    """Members that can be compared with texts."""

    LARGE = "large"
    SMALL = "small"


class Item(msgspec.Struct, order=True, frozen=True):
    """An ordered class whose fields have values of subclasses, or without an order."""

    name: str
    colour: Colour = Colour.RED


def test_values_of_subclasses_are_compared_with_those_of_their_bases() -> None:
    """Members of a StrEnum are texts, also as parts; members of an Enum have the order of their definition as parts."""
    index = filled(RangeIndex[Any](lambda one: one), [Size.SMALL, "m"])
    assert list(index.between("a", "z")) == ["m", "small"]
    assert list(index.between(Size.LARGE, Size.SMALL)) == ["m", "small"]
    red, blue = Item("a"), Item("a", Colour.BLUE)
    items = filled(RangeIndex[Any](lambda one: one), [blue, red, Item("b")])
    assert list(items.between(Item(Size.LARGE), Item(Size.SMALL))) == []
    assert list(items.between(Item("a"), Item("a", Colour.BLUE))) == [red, blue]
    assert pickle.loads(pickle.dumps(UniqueIndex[Any]("site.name"))).values_of(_Place(red)) == ("a",)


class _Place(msgspec.Struct):
    site: Item


@pytest.mark.parametrize("prefix", [b"A", None, 5])
def test_a_prefix_that_is_not_a_text_is_refused(prefix: Any) -> None:
    """The error names the type that was given, at once and also for an index without values."""
    with pytest.raises(UsageError, match=rf"needs the beginning of a text, a str, not {type(prefix).__name__}"):
        PrefixIndex[Any]("name").starting_with(prefix)


class Address(msgspec.Struct):
    """An address."""

    city: str | None = None


class Site(msgspec.Struct):
    """A place, of which some have no address."""

    name: str
    address: Address | None = None


SITES = [Site("a", Address("Linz")), Site("b"), Site("c", Address())]


@pytest.mark.parametrize("kind", [MultiValuedIndex, PrefixIndex, RangeIndex, UniqueIndex])
def test_an_object_without_a_part_of_the_path_is_not_in_the_index(kind: Any) -> None:
    """A nested object that is None counts like an attribute that is None."""
    assert [list(kind("address.city").values_of(site)) != [] for site in SITES] == [True, False, False]


@pytest.mark.parametrize("path", ["street.city", "address.town", "address.city.name"])
def test_a_part_of_a_path_that_does_not_exist_is_an_error(path: str) -> None:
    """A name that an object does not have raises an error, so that no index remains empty by mistake."""
    with pytest.raises(AttributeError, match="has no attribute"):
        UniqueIndex[Site](path).values_of(SITES[0])


def test_objects_without_a_nested_object_are_shown() -> None:
    """No record is bad because a nested object is missing; as a directory's key, None is still refused."""
    topic = FakeTopic("sites")
    put(topic, a=b'{"name":"a","address":{"city":"Linz"}}', b=b'{"name":"b"}')
    with topic.replica() as replica:
        indexes = {"city": MultiValuedIndex[Site]("address.city")}
        sites = Directory(replica, Site, indexes=indexes).wait_ready(WAIT_S)
        assert sorted(sites) == ["a", "b"]
        assert sites.index("city")["Linz"] == (sites["a"],)
        by_city = Directory(replica, Site, key="address.city", on_bad_record="skip").wait_ready(WAIT_S)
        assert list(by_city) == ["Linz"]
        assert "the object has None as its key" in by_city.bad_records[0].reason


class Place(NamedTuple):
    """A value of two parts."""

    bank: str
    country: str | None


@pytest.mark.parametrize(
    ("value", "values"),
    [
        (Place("A7", "AT"), [("A7", "AT")]),
        (Place("A7", None), [("A7", None)]),
        ([("A7", "AT")], [("A7", "AT")]),
        ([Place("A7", "AT"), Place("A8", "AT")], [("A7", "AT"), ("A8", "AT")]),
        (("A7", "AT", None), ["A7", "AT"]),
    ],
)
def test_a_named_tuple_is_one_value_and_a_plain_tuple_several(value: Any, values: list[Any]) -> None:
    """An object is found by both parts of a value; the parts of a plain tuple are values of their own."""
    index = filled(MultiValuedIndex[Any](lambda one: value), ["one"])
    assert sorted(index) == values
    assert all(index[each] == ("one",) for each in values)
