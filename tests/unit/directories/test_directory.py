"""Directories of a replica: typed objects by key, in step with the replica's versions."""

from __future__ import annotations

import json
import os
import pickle
import re
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, make_dataclass
from datetime import UTC, datetime
from datetime import time as time_of_day
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import msgspec
import pytest
from pydantic import BaseModel, Field, field_validator
from pydantic.dataclasses import dataclass as pydantic_dataclass

from kafka_replica import DeadLetterFile, KeyFilter, Record, RocksStore, Snapshot
from kafka_replica.directories import (
    Directory,
    DirectoryChange,
    DirectoryView,
    DuplicateValueError,
    MultiValuedIndex,
    PrefixIndex,
    RangeIndex,
    UniqueIndex,
    record_validator,
)
from kafka_replica.directories.contents.contents import Contents
from kafka_replica.directories.contents.schema import Schema
from kafka_replica.directories.interpreters import ActiveRows, Put
from kafka_replica.directories.live.read_only_dict import ReadOnlyDict
from kafka_replica.directories.records.decoding import decoder_for
from kafka_replica.directories.records.interpretation import Interpreter
from kafka_replica.directories.versions.recent_versions import ContentVersions
from kafka_replica.errors import (
    BadRecordError,
    ConfigurationError,
    NotReadyError,
    ReplicaClosedError,
    UsageError,
    WaitTimeoutError,
)
from kafka_replica.history import VersionHistory
from kafka_replica.stores.rocks.snapshot import RocksSnapshot
from kafka_replica.testing import FakeKafka, FakeTopic
from support.directories.terminals import put
from support.waiting import wait_until

WAIT_S = 60.0


class Terminal(msgspec.Struct, frozen=True):
    """A row of the directory that the library began with."""

    terminal_id: str
    acquirer_id: str
    tags: list[str] = []
    limit: float | None = None


@dataclass
class Account:
    """A plain dataclass."""

    number: int
    opened: datetime


def row(terminal_id: str, acquirer_id: str, **more: Any) -> bytes:
    """Return a value."""
    return json.dumps({"terminal_id": terminal_id, "acquirer_id": acquirer_id, **more}).encode()


@pytest.fixture
def topic() -> FakeTopic:
    """Return a topic with three terminals."""
    topic = FakeTopic("terminals")
    put(topic, T1=row("1", "A", tags=["new"], limit=5), T2=row("2", "A"), T3=row("3", "B", tags=["new", "old"]))
    return topic


def test_look_ups_follow_the_topic(topic: FakeTopic) -> None:
    """Keys are those of the records; changes and deletions arrive; a view does not change."""
    with topic.replica() as replica, Directory(replica, Terminal) as terminals:
        before = terminals.wait_ready(WAIT_S)
        assert terminals["T1"] == Terminal("1", "A", ["new"], 5)
        assert sorted(terminals) == ["T1", "T2", "T3"]
        assert terminals.get("T4") is None
        assert "T3" in terminals
        position = put(topic, T1=row("1", "C"), T3=None, T4=row("4", "D"))
        now = terminals.wait_for(position, WAIT_S)
        assert terminals["T1"].acquirer_id == now["T1"].acquirer_id == "C"
        assert "T3" not in terminals
        assert {key: found.acquirer_id for key, found in terminals.items()} == {"T1": "C", "T2": "A", "T4": "D"}
        assert {key: found.acquirer_id for key, found in before.items()} == {"T1": "A", "T2": "A", "T3": "B"}
        assert len(terminals) == len(list(terminals.values())) == 3
        with pytest.raises(KeyError):
            terminals["T3"]


def test_indexes_belong_to_their_version(topic: FakeTopic) -> None:
    """Each kind of index finds the objects of its version, and no others."""
    indexes = {
        "acquirer": MultiValuedIndex[Terminal]("acquirer_id"),
        "tag": MultiValuedIndex[Terminal]("tags"),
        "id": UniqueIndex[Terminal](lambda found: found.terminal_id),
        "prefix": PrefixIndex[Terminal]("terminal_id"),
        "limit": RangeIndex[Terminal]("limit"),
    }
    with topic.replica() as replica, Directory(replica, Terminal, indexes=indexes) as terminals:
        before = terminals.wait_ready(WAIT_S)
        assert {found.terminal_id for found in terminals.index("acquirer")["A"]} == {"1", "2"}
        assert {found.terminal_id for found in terminals.index("tag")["new"]} == {"1", "3"}
        assert terminals.index("id")["3"].acquirer_id == "B"
        assert terminals.index("id").get("9") is None
        terminals.wait_for(put(topic, T1=row("1", "B", limit=2), T5=row("12", "B", limit=2.5), T3=None), WAIT_S)
        assert {found.terminal_id for found in terminals.index("acquirer")["B"]} == {"1", "12"}
        assert terminals.index("tag")["new"] == ()
        assert [found.terminal_id for found in terminals.index("prefix").starting_with("1")] == ["1", "12"]
        assert [found.limit for found in terminals.index("limit").between(0, 10)] == [2, 2.5]
        assert [found.limit for found in before.index("limit").between(0, 10)] == [5]
        with pytest.raises(UsageError, match="no index 'acquirr'; did you mean 'acquirer'"):
            terminals.index("acquirr")
        with pytest.raises(UsageError, match="bounds of different types"):
            list(terminals.index("limit").between(0, "a"))


def test_a_key_from_the_object_and_a_condition(topic: FakeTopic) -> None:
    """The key may be taken from the object, and ``where`` leaves objects out; both follow changes of the object."""
    with (
        topic.replica() as replica,
        Directory(replica, Terminal, key="terminal_id", where=lambda found: found.acquirer_id == "A") as terminals,
    ):
        terminals.wait_ready(WAIT_S)
        assert sorted(terminals) == ["1", "2"]
        terminals.wait_for(put(topic, T1=row("10", "A"), T2=row("2", "B"), T3=row("3", "A")), WAIT_S)
        assert sorted(terminals) == ["10", "3"]
        assert terminals["10"].terminal_id == "10"
        with pytest.raises(KeyError):
            terminals["1"]


def test_a_key_that_several_records_have(topic: FakeTopic) -> None:
    """A key of several records raises an error that names them, until it belongs to one record again."""
    with topic.replica() as replica, Directory(replica, Terminal, key="terminal_id") as terminals:
        terminals.wait_ready(WAIT_S)
        terminals.wait_for(put(topic, T9=row("1", "Z")), WAIT_S)
        message = (
            "the directory of Terminal (topic terminals): the key '1' belongs to 2 records, with the keys T1, T9; "
            "correct or delete all but one of them, or choose a key= that is unique"
        )
        with pytest.raises(DuplicateValueError, match=f"^{re.escape(message)}$"):
            terminals["1"]
        with pytest.raises(DuplicateValueError):
            terminals.get("1")
        for copied in (terminals.items, terminals.values, terminals.copy):
            with pytest.raises(DuplicateValueError):
                list(copied())
        assert "1" in terminals
        assert sorted(terminals.keys()) == ["1", "2", "3"]
        assert "DuplicateValueError" in terminals.view()._repr_html_()
        assert terminals["2"].acquirer_id == "A"
        terminals.wait_for(put(topic, T1=None), WAIT_S)
        assert terminals["1"].acquirer_id == "Z"


def test_records_that_exchange_unique_values_never_conflict(topic: FakeTopic) -> None:
    """Only the end of a transaction counts: two records that exchange a unique value never conflict."""
    indexes = {"id": UniqueIndex[Terminal]("terminal_id")}
    with topic.replica() as replica, Directory(replica, Terminal, indexes=indexes) as terminals:
        terminals.wait_ready(WAIT_S)
        terminals.wait_for(put(topic, T1=row("2", "X"), T2=row("1", "Y")), WAIT_S)
        assert (terminals.index("id")["1"], terminals.index("id")["2"]) == (terminals["T2"], terminals["T1"])
        assert terminals.index("id").duplicates == []


class Price(BaseModel):
    """A model of pydantic."""

    amount: Decimal = Field(gt=0)


def test_tuples_with_missing_parts_are_ordered_and_sets_are_bad() -> None:
    """Values that Python cannot compare never stop a directory: a part that is None precedes all others."""
    topic = FakeTopic("places")
    values: dict[str, tuple[Any, ...]] = {
        "a": ("x", None), "b": ("x", 2), "c": ("x", 1.5), "d": (None, "1"), "e": ("x", "2"),
        "f": (time_of_day(8, tzinfo=UTC), 0), "g": (time_of_day(9), 0), "h": ({1}, 0), "i": (float("nan"), 0),
    }  # fmt: skip
    with topic.replica() as replica:
        index = RangeIndex[str](values.__getitem__)
        places = Directory(replica, str, decode=bytes.decode, indexes={"by": index}, on_bad_record="skip")
        places.wait_for(put(topic, **{name: name.encode() for name in values}), WAIT_S)
        by = cast("RangeIndex[str]", places.index("by"))
        assert list(by.between(("x", None), ("x", 9))) == ["a", "e", "c", "b"]
        assert list(by.between((None, ""), ("x",))) == ["d"]
        assert {bad.key for bad in places.bad_records} == {b"h", b"i"}


def test_dataclasses_and_models_are_decoded_from_json() -> None:
    """Dataclasses and models of pydantic are decoded from JSON, other serialisations by a function."""
    topic = FakeTopic("accounts")
    put(topic, a=b'{"number": 1, "opened": "2026-01-01T00:00:00Z"}')
    with topic.replica() as replica:
        accounts = Directory(replica, Account, key="number", indexes={"opened": RangeIndex[Account]("opened")})
        accounts.wait_ready(WAIT_S)
        assert accounts[1] == Account(1, datetime(2026, 1, 1, tzinfo=UTC))
        year = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 12, 31, tzinfo=UTC)
        assert list(accounts.index("opened").between(*year)) == [accounts[1]]
        prices = Directory(replica, Price, on_bad_record="skip", indexes={"amount": RangeIndex[Price]("amount")})
        prices.wait_for(put(topic, p=b'{"amount": "12.50"}'), WAIT_S)
        assert list(prices.index("amount").between(12, 13.0)) == [Price(amount=Decimal("12.5"))]
        assert "amount\n  Field required" in prices.bad_records[0].reason
        sizes = Directory(replica, int, decode=len)
        sizes.wait_ready(WAIT_S)
        assert sizes["a"] == 47
        with pytest.raises(ConfigurationError, match="cannot be decoded from JSON"):
            Directory(replica, threading.Thread)


@pydantic_dataclass
class Limit:
    """A dataclass of pydantic."""

    amount: int = Field(gt=0)
    name: str = "x"

    @field_validator("name")
    @classmethod
    def in_capitals(cls, name: str) -> str:
        """Return the name in capitals."""
        return name.upper()


def test_dataclasses_of_pydantic_are_validated_by_pydantic() -> None:
    """Pydantic's own decoder obeys constraints and calls validators, which msgspec ignores."""
    topic = FakeTopic("limits")
    put(topic, a=b'{"amount": 1, "name": "low"}', b=b'{"amount": -5}')
    with topic.replica() as replica, Directory(replica, Limit, on_bad_record="skip") as limits:
        limits.wait_ready(WAIT_S)
        assert dict(limits.view()) == {"a": Limit(1, "LOW")}
        assert [bad.key for bad in limits.bad_records] == [b"b"]


def test_a_dataclass_that_pydantic_refuses_is_named() -> None:
    """A field of a type that pydantic cannot validate is an error of the library when the directory is made."""
    refused = make_dataclass("Refused", [("owner", threading.Thread, None)], bases=(Limit,))
    with pytest.raises(ConfigurationError, match=r"Refused.* cannot be decoded from JSON by pydantic: .*Thread"):
        decoder_for(refused)


def test_several_directories_at_one_version() -> None:
    """Directories of several topics show the same version of their replica."""
    kafka = FakeKafka()
    kafka.topic("terminals")
    kafka.topic("acquirers")
    with kafka.replica("terminals", "acquirers") as replica:
        terminals = Directory(replica, Terminal, topic="terminals")
        acquirers = Directory(replica, Terminal, topic="acquirers")
        for number in range(20):
            with kafka.transaction() as transaction:
                transaction.put("T1", row(str(number), "A"), topic="terminals")
                transaction.put("A", row(str(number), "first"), topic="acquirers")
            position = transaction.committed.position
            snapshot = replica.wait_for(position, WAIT_S)
            pair = terminals.at(snapshot)["T1"], acquirers.at(snapshot)["A"]
            assert pair[0].terminal_id == pair[1].terminal_id
            assert list(terminals) == ["T1"]
        with pytest.raises(ConfigurationError, match="'other' is not one of the replica's topics"):
            Directory(replica, Terminal, topic="other")


def test_a_directory_of_several_topics_needs_one_of_them_or_a_key() -> None:
    """Keys of several topics are separate, so a directory by the records' keys has one topic."""
    kafka = FakeKafka()
    austria, italy = (kafka.topic(name) for name in ("austria", "italy"))
    put(austria, T1=row("1", "A"))
    put(italy, T1=row("2", "B"))
    with kafka.replica("austria", "italy") as replica:
        for on_demand in (False, True):
            with pytest.raises(ConfigurationError, match=r"several topics.* give topic= one of austria, italy; or"):
                Directory(replica, Terminal, on_demand=on_demand)
        assert sorted(Directory(replica, Terminal, key="terminal_id").wait_ready(WAIT_S)) == ["1", "2"]
        assert list(Directory(replica, Terminal, topic="italy").wait_ready(WAIT_S)) == ["T1"]
        twice = Directory(replica, Terminal, key="terminal_id")
        twice.wait_for(put(italy, T3=row("1", "B")), WAIT_S)
        with pytest.raises(
            DuplicateValueError, match=r"of Terminal \(topics austria, italy\): the key '1' belongs to 2"
        ):
            twice["1"]


def test_a_version_of_an_earlier_incarnation(tmp_path: Path) -> None:
    """A history has versions of replicas that ended, with the same numbers as other versions of the present replica."""
    topic = FakeTopic("terminals")
    folder = tmp_path / "history"
    put(topic, T1=row("1", "old"))
    replica = topic.replica()
    with VersionHistory(folder) as history:
        history.follow(replica)
        with replica:
            replica.wait_ready(WAIT_S)
    topic.recreate()  # so that the position is equal, too
    put(topic, T1=row("1", "new"))
    replica = topic.replica()
    with VersionHistory(folder) as history:
        history.follow(replica)
        with replica, Directory(replica, Terminal) as terminals:
            terminals.wait_ready(WAIT_S)
            new, old = (history.at(version=each) for each in history.versions(limit=5))
            assert (old.version, old.position) == (new.version, new.position)
            assert [terminals.at(each)["T1"].acquirer_id for each in (old, new)] == ["old", "new"]
            newest = terminals._versions.newest
            assert newest is not None
            assert terminals.at(new)._contents is newest[1]


@pytest.mark.parametrize("on_demand", [False, True])
def test_a_version_of_another_replica(topic: FakeTopic, on_demand: bool) -> None:
    """A version of another replica of the topic is shown at once, with whatever number."""
    with topic.replica() as other:
        held = [other.wait_ready(WAIT_S)]
        held += [other.wait_for(put(topic, T1=row("1", str(number))), WAIT_S) for number in range(3)]
        with topic.replica() as replica, Directory(replica, Terminal, on_demand=on_demand) as terminals:
            assert terminals.wait_ready(WAIT_S).version == 1
            shown = [terminals.at(snapshot, timeout_s=0) for snapshot in held]
            assert [view["T1"].acquirer_id for view in shown] == ["A", "0", "1", "2"]
            assert [view.snapshot for view in shown] == held


def test_decoding_another_version_delays_only_its_caller(topic: FakeTopic) -> None:
    """Look-ups and new versions do not wait while all records of a version of another replica are decoded."""
    decoding, go_on = threading.Event(), threading.Event()
    is_slow = False

    def decode(value: bytes) -> Terminal:
        if is_slow:
            decoding.set()
            go_on.wait(WAIT_S)
        return msgspec.json.decode(value, type=Terminal)

    with topic.replica() as other, topic.replica() as replica:
        terminals = Directory(replica, Terminal, decode=decode)
        terminals.wait_ready(WAIT_S)
        snapshot = other.wait_ready(WAIT_S)
        is_slow = True
        views: list[Any] = []
        caller = threading.Thread(target=lambda: views.append(terminals.at(snapshot)))
        caller.start()
        assert decoding.wait(WAIT_S)
        is_slow = False
        assert terminals.wait_for(put(topic, T1=row("1", "new")), WAIT_S)["T1"].acquirer_id == "new"
        assert views == []
        go_on.set()
        caller.join(WAIT_S)
        assert views[0]["T1"].acquirer_id == "A"


def test_a_version_of_a_replica_that_filters_keys(topic: FakeTopic) -> None:
    """A replica with a filter of keys gives the same number and position to a version with fewer records."""
    with topic.replica() as replica, topic.replica(key_filter=KeyFilter.prefix("T1")) as other:
        terminals, few = Directory(replica, Terminal), Directory(other, Terminal)
        all_of, few_of = replica.wait_ready(WAIT_S), other.wait_ready(WAIT_S)
        assert (all_of.version, all_of.position) == (few_of.version, few_of.position)
        assert sorted(terminals.at(few_of)) == sorted(few.at(few_of)) == ["T1"]
        assert sorted(few.at(all_of)) == sorted(terminals.at(all_of)) == ["T1", "T2", "T3"]


@pytest.mark.parametrize("on_disk", [False, True])
def test_the_contents_of_own_versions_are_found_again(topic: FakeTopic, tmp_path: Path, on_disk: bool) -> None:
    """A version of the directory's own replica is not decoded a second time, whichever way its snapshot was made."""
    received: list[Snapshot] = []
    store = RocksStore(tmp_path / "store") if on_disk else None
    with topic.replica(store=store, kept_versions=20) as replica, Directory(replica, Terminal) as terminals:
        version = terminals.wait_ready(WAIT_S).version
        replica.subscribe(lambda change: received.append(change.snapshot))
        views = [terminals.wait_for(put(topic, T1=row("1", str(number))), WAIT_S) for number in range(5)]
        last = views[-1].version
        wait_until(lambda: received and received[-1].version == last)
        for snapshot in (*received, *map(replica.at, range(version + 1, last + 1))):
            stored = [view for view in views if view.version == snapshot.version]
            assert all(terminals.at(snapshot)._contents is view._contents for view in stored)


def test_a_version_of_other_topics_is_refused(topic: FakeTopic) -> None:
    """A version of other topics has other objects, so that it is not one of the directory."""
    kafka = FakeKafka()
    put(kafka.topic("acquirers"), A7=b"{}")
    put(kafka.topic("terminals"), T1=row("1", "both"))
    with (
        topic.replica() as replica,
        kafka.replica("acquirers") as other,
        kafka.replica("acquirers", "terminals") as both,
    ):
        terminals = Directory(replica, Terminal)
        terminals.wait_ready(WAIT_S)
        selected = Directory(both, Terminal, topic="terminals")
        selected.wait_ready(WAIT_S)
        assert selected.at(replica.snapshot())["T2"].acquirer_id == "A"
        with pytest.raises(
            UsageError, match=r"snapshot of acquirers was given, .* follows terminals; give a snapshot of"
        ):
            terminals.at(other.wait_ready(WAIT_S))
        with pytest.raises(UsageError, match=r"snapshot of acquirers, terminals was given"):
            terminals.at(both.wait_ready(WAIT_S))
        with pytest.raises(UsageError, match=r"has no topic 'terminals'"):
            selected.at(other.snapshot())
        with pytest.raises(UsageError, match=r"at\(1\): give a snapshot"):
            terminals.at(1)  # type: ignore[arg-type]


@pytest.mark.thorough
def test_any_held_version_can_be_shown(topic: FakeTopic) -> None:
    """Any version that a reader holds can be shown, also after many newer ones."""
    with topic.replica(kept_versions=100) as replica, Directory(replica, Terminal, key="terminal_id") as terminals:
        first = replica.wait_ready(WAIT_S)
        held = [first, *(replica.wait_for(put(topic, T1=row("1", str(number))), WAIT_S) for number in range(60))]
        for number, snapshot in enumerate(held):
            assert terminals.at(snapshot)["1"].acquirer_id == ("A" if number == 0 else str(number - 1))


@pytest.mark.thorough
def test_readers_never_go_back_and_never_see_half(topic: FakeTopic) -> None:
    """While transactions arrive, look-ups see ever newer objects, and views see whole transactions."""
    wrong: list[object] = []
    with topic.replica() as replica, Directory(replica, Terminal, key="terminal_id") as terminals:
        put(topic, T1=row("1", "0"), T2=row("2", "0"), T3=None)
        terminals.wait_ready(WAIT_S)
        over = threading.Event()

        def read() -> None:
            last = 0
            while not over.is_set():
                for key in ("1", "2"):
                    number = int(terminals[key].acquirer_id) if key in terminals else last
                    if number < last:
                        wrong.append((key, number, last))
                    last = number
                view = terminals.view()
                if {found.acquirer_id for found in view.values()} not in ({"A"}, *({str(n)} for n in range(301))):
                    wrong.append(dict(view))

        terminals.wait_for(put(topic, T1=row("1", "0"), T2=row("2", "0")), WAIT_S)
        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        for number in range(1, 301):
            position = put(topic, T1=row("1", str(number)), T2=row("2", str(number)))
        terminals.wait_for(position, WAIT_S)
        over.set()
        for reader in readers:
            reader.join()
    assert wrong == []


def test_a_key_is_dropped_before_objects_are_replaced() -> None:
    """A key is dropped before any object is replaced, so that a reader who has seen new objects never finds it."""
    held = ReadOnlyDict[str, Any]()
    seen: list[bool] = []

    class Replaced:
        def __del__(self) -> None:
            seen.append(dict.__contains__(held, "gone"))

    held._replace((), {"gone": 1, "changed": Replaced()})
    held._replace(["gone"], {"changed": 2})
    assert seen == [False]


def test_a_version_between_two_that_were_merged(topic: FakeTopic) -> None:
    """A version that was merged into the next one is decoded, with a key that neither of its neighbours has."""
    with topic.replica(kept_versions=10) as replica:
        first = replica.wait_ready(WAIT_S)
        middle = replica.wait_for(put(topic, T1=row("1", "middle"), T2=None, T9=row("9", "brief")), WAIT_S)
        last = replica.wait_for(put(topic, T1=row("1", "last"), T3=None, T9=None), WAIT_S)
    schema = Schema(decoder_for(Terminal), None, None, {})
    versions = ContentVersions(schema, on_demand=False)
    versions.begin(first)
    versions.advance(last, {b"T1", b"T2", b"T3"})
    for snapshot in (first, middle, last):
        expected = dict(Contents.of(schema, snapshot).objects())
        stored = versions.stored(snapshot, replica.incarnation)
        assert (stored is None) == (snapshot is middle)
        found = versions.whole(snapshot) if stored is None else stored
        assert isinstance(found, Contents)
        assert dict(found.objects()) == expected


def test_a_whole_version_on_disk_is_read_in_one_scan(
    topic: FakeTopic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Looking up one record after another takes several times as long."""
    with topic.replica(store=RocksStore(tmp_path / "store")) as replica:
        replica.wait_ready(WAIT_S)
        monkeypatch.setattr(RocksSnapshot, "get", None)
        with Directory(replica, Terminal, on_bad_record="skip") as terminals:
            assert sorted(terminals.wait_ready(WAIT_S)) == ["T1", "T2", "T3"]


def test_a_directory_is_prepared_for_changes(topic: FakeTopic) -> None:
    """The trees, which the first change would otherwise have to make, are made right after the first version."""
    put(topic, **{f"K{number}": row(str(number), "A") for number in range(200)})
    with topic.replica() as replica, Directory(replica, Terminal, indexes={"id": UniqueIndex("terminal_id")}) as found:
        found.wait_ready(WAIT_S)
        newest = found._versions.newest
        assert newest is not None
        contents = newest[1]
        assert isinstance(contents, Contents)
        trees = contents.entries, contents.indexes["id"]._entries  # type: ignore[attr-defined]
        end_s = time.monotonic() + WAIT_S
        while not all(isinstance(tree._root, tuple) for tree in trees):
            assert time.monotonic() < end_s
            time.sleep(0.01)


def test_a_bad_record_stops_the_directory(topic: FakeTopic) -> None:
    """By default every look-up then raises the error, which names the record and the reason."""
    with topic.replica() as replica, Directory(replica, Terminal) as terminals:
        terminals.wait_ready(WAIT_S)
        position = put(topic, T2=b'{"terminal_id": 2}')
        with pytest.raises(
            BadRecordError, match=r"terminals-0, offset \d+, key 'T2': decoding its value: ValidationError: Expected"
        ):
            terminals.wait_for(position, WAIT_S)
        for use in (lambda: terminals["T1"], lambda: terminals.get("T1"), lambda: list(terminals), terminals.view):
            with pytest.raises(BadRecordError):
                use()
        assert replica.snapshot()["T2"].value == b'{"terminal_id": 2}'


class LookingWhileFailing(Directory[Any, Any]):
    """A directory in which another thread looks at the moment of a failure."""

    found: list[DirectoryView[Any, Any] | BadRecordError]

    def _handle_bad_records(self, now: Contents[Any], touched: Collection[bytes] | None) -> None:
        def look() -> None:
            try:
                self.found.append(self.view())
            except BadRecordError as bad:
                self.found.append(bad)

        if len(now.bad_records):
            self.thread = threading.Thread(target=look)
            self.thread.start()
            self.thread.join(0.5)  # it has to wait for the error
        super()._handle_bad_records(now, touched)


def test_no_look_up_misses_the_error_of_a_bad_record(topic: FakeTopic) -> None:
    """A look-up while the directory stops raises the error; the version without the bad key is never shown."""
    with topic.replica() as replica, LookingWhileFailing(replica, Terminal) as terminals:
        terminals.found = []
        terminals.wait_ready(WAIT_S)
        with pytest.raises(BadRecordError):
            terminals.wait_for(put(topic, T2=b"bad"), WAIT_S)
        terminals.thread.join(WAIT_S)
        assert [type(each) for each in terminals.found] == [BadRecordError]


@pytest.mark.parametrize(
    "value", [b"", b"{", b"[]", b"null", b'{"terminal_id": "2", "acquirer_id": "\xff"}', b"\xff" * 100]
)
def test_bad_records_are_set_aside(topic: FakeTopic, tmp_path: Path, value: bytes) -> None:
    """With the other policies the key is absent, and the record listed, until a good record or a tombstone comes."""
    letters = tmp_path / "letters"
    with (
        topic.replica() as replica,
        Directory(replica, Terminal, on_bad_record="skip") as skipping,
        Directory(replica, Terminal, on_bad_record="dead-letter", dead_letters=DeadLetterFile(letters)) as writing,
    ):
        skipping.wait_ready(WAIT_S)
        position = put(topic, T2=value)
        for terminals in (skipping, writing):
            terminals.wait_for(position, WAIT_S)
            assert sorted(terminals) == ["T1", "T3"]
            assert [bad.key for bad in terminals.bad_records] == [b"T2"]
        assert [json.loads(line)["key"] for line in letters.read_text().splitlines()] == ["T2"]
        position = put(topic, T2=row("2", "good"))
        for terminals in (skipping, writing):
            terminals.wait_for(position, WAIT_S)
            assert terminals["T2"].acquirer_id == "good"
            assert terminals.bad_records == []


@pytest.mark.parametrize("is_interpreted", [False, True])
def test_bad_records_are_retried(topic: FakeTopic, tmp_path: Path, is_interpreted: bool) -> None:
    """Once what a function looks up is there, its records are good; views do not change, and other records stay bad."""
    known = {"Z": "Zeta"}

    def look_up(value: bytes) -> Terminal:
        found = msgspec.json.decode(value, type=Terminal)
        return msgspec.structs.replace(found, acquirer_id=known[found.acquirer_id])

    options: dict[str, Any] = {"decode": look_up}
    if is_interpreted:
        options["interpreter"] = lambda record: [
            Put(key, msgspec.json.encode(look_up(record.value))) for key in (record.key, "newest")
        ]
        options["decode"] = decoder_for(Terminal, None)
    put(topic, T0=row("T0", "Z"), T1=row("T1", "A"), T3=row("T3", "A"), T2=row("T2", "B"))
    indexes = {"acquirer": MultiValuedIndex[Terminal]("acquirer_id")}
    letters = DeadLetterFile(tmp_path / "letters")
    options |= {"indexes": indexes, "on_bad_record": "dead-letter", "dead_letters": letters}
    with topic.replica() as replica:
        terminals = Directory(replica, Terminal, **options)
        before = terminals.wait_ready(WAIT_S)
        assert len(terminals.retry_bad_records()) == 3
        known["A"] = "Alpha"
        assert [bad.key for bad in terminals.retry_bad_records()] == [b"T2"]
        assert terminals["T1"].acquirer_id == "Alpha"
        assert sorted(terminals) == ["T0", "T1", "T3", "newest"][: 3 + is_interpreted]
        assert len(terminals.index("acquirer")["Alpha"]) == 2 + is_interpreted
        assert terminals.get("newest", terminals["T3"]) == terminals["T3"]
        assert (len(before), len(before.bad_records)) == (1 + is_interpreted, 3)
        assert terminals.at(before.snapshot)["T3"] == terminals["T3"]
        known["B"] = "Beta"
        assert terminals.retry_bad_records() == []
        assert terminals.get("newest", terminals["T2"]) == terminals["T2"]
        terminals.wait_for(put(topic, T1=row("T1", "B"), T2=None), WAIT_S)
        again = Directory(replica, Terminal, **options)
        assert dict(terminals) == dict(again.wait_ready(WAIT_S))
        assert len(terminals.index("acquirer")["Beta"]) == 1 + is_interpreted
        assert terminals.retry_bad_records() == []
    assert len((tmp_path / "letters").read_text().splitlines()) == 3, "a retry writes no dead letter again"


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"key": "missing"}, "taking its key: AttributeError: 'Terminal' object has no attribute 'missing'"),
        ({"key": "tags"}, "taking its key: TypeError: unhashable type: 'list'"),
        ({"key": "limit"}, "taking its key: ValueError: the object has None as its key"),
        ({"where": lambda found: found.limit < 3}, "where=: TypeError: '<' not supported between instances"),
        ({"indexes": {"tag": UniqueIndex("tags")}}, "the index tag: TypeError: unhashable type: 'list'"),
        (
            {"indexes": {"tag": PrefixIndex("limit")}},
            "the index tag: TypeError: <PrefixIndex of limit> accepts strings",
        ),
        ({"indexes": {"tag": RangeIndex(lambda found: object)}}, "the index tag: TypeError: '<' not supported"),
    ],
)
def test_functions_that_fail(topic: FakeTopic, options: dict[str, Any], reason: str) -> None:
    """An exception of a user's function makes the record bad, and the reason names the function."""
    with topic.replica() as replica, Directory(replica, Terminal, on_bad_record="skip", **options) as terminals:
        terminals.wait_ready(WAIT_S)
        assert any(bad.reason.startswith(reason) for bad in terminals.bad_records), terminals.bad_records


def test_decoding_on_demand(topic: FakeTopic) -> None:
    """Each record is decoded when it is looked up first, once, and again only if it was written again."""
    decoded: list[bytes] = []

    def decode(value: bytes) -> Terminal:
        decoded.append(value)
        return msgspec.json.decode(value, type=Terminal)

    with topic.replica() as replica, Directory(replica, Terminal, decode=decode, on_demand=True) as terminals:
        terminals.wait_ready(WAIT_S)
        assert decoded == []
        assert terminals["T1"] is terminals["T1"]
        assert len(terminals) == 3
        assert len(decoded) == 1
        before = terminals.view()
        terminals.wait_for(put(topic, T1=row("1", "Z"), T2=None, T4=b"{"), WAIT_S)
        assert terminals["T1"].acquirer_id == "Z"
        assert before["T1"].acquirer_id == "A"
        assert "T2" not in terminals
        with pytest.raises(BadRecordError, match="T4"):
            terminals["T4"]
        assert sorted(terminals) == ["T1", "T3", "T4"]
    with pytest.raises(ConfigurationError, match="on_demand"):
        Directory(replica, Terminal, on_demand=True, on_bad_record="skip")


def test_decoding_on_demand_of_keys_that_are_not_utf_8() -> None:
    """The record is bad when it is looked up, and hides no other one; a notebook shows the error in its row."""
    topic = FakeTopic("terminals")
    topic.put(b"\xff1", row("1", "A"))
    topic.put("T2", row("2", "A"))
    with topic.replica() as replica, Directory(replica, Terminal, on_demand=True) as terminals:
        terminals.wait_ready(WAIT_S)
        assert sorted(terminals) == ["T2", "\udcff1"]
        with pytest.raises(BadRecordError, match="taking its key"):
            terminals["\udcff1"]
        html = terminals.view()._repr_html_()
        assert "BadRecordError" in html
        assert "terminal_id=&#x27;2&#x27;" in html


def test_a_topic_of_one_key_space_cannot_be_selected() -> None:
    """Keys of such a replica do not name their topics, so that the directory would silently be empty."""
    kafka = FakeKafka()
    for name in ("a", "b"):
        FakeTopic(name, kafka=kafka)
    with kafka.replica("a", "b", one_key_space=True) as replica:
        with pytest.raises(ConfigurationError, match="topic='a': the replica reads its topics as one key space"):
            Directory(replica, Terminal, topic="a")
        Directory(replica, Terminal).wait_ready(WAIT_S)


def test_a_listener_receives_objects_before_and_after_each_version(topic: FakeTopic) -> None:
    """A listener receives the whole directory, then the objects before and after each version."""
    changes: list[DirectoryChange[str, Terminal]] = []
    came = threading.Condition()

    def listen(change: DirectoryChange[str, Terminal]) -> None:
        with came:
            changes.append(change)
            came.notify_all()

    with topic.replica() as replica, Directory(replica, Terminal, key="terminal_id") as terminals:
        terminals.wait_ready(WAIT_S)
        terminals.subscribe(listen)
        with came:
            assert came.wait_for(lambda: changes, WAIT_S)
        put(topic, T1=row("1", "C"), T2=row("2", "A"), T3=None, T4=row("4", "D"))
        with came:
            assert came.wait_for(lambda: changes[-1].deleted, WAIT_S)
    assert changes[0].initial
    assert sorted(changes[0].added) == ["1", "2", "3"]
    last = changes[-1]
    assert {key: (each.before.acquirer_id, each.after.acquirer_id) for key, each in last.changed.items()} == {
        "1": ("A", "C")
    }
    assert (list(last.added), list(last.deleted)) == (["4"], ["3"])


@pytest.mark.parametrize("interpreter", [None, ActiveRows(key="terminal_id")])
def test_a_key_that_two_records_claim_is_absent(topic: FakeTopic, interpreter: Interpreter | None) -> None:
    """A key that two records claim is absent for both, and there again when one of the records has gone."""
    received: dict[str, Terminal] = {}
    versions: list[int] = []
    came = threading.Condition()

    def listen(change: DirectoryChange[str, Terminal]) -> None:
        with came:
            received.update(change.added)
            received.update({key: each.after for key, each in change.changed.items()})
            for key in change.deleted:
                del received[key]
            versions.append(change.version)
            came.notify_all()

    with (
        topic.replica() as replica,
        Directory(replica, Terminal, key="terminal_id", interpreter=interpreter) as terminals,
    ):
        terminals.wait_ready(WAIT_S)
        terminals.subscribe(listen)
        states: list[dict[str, bytes | None]] = [
            {"T2": row("1", "B")},  # claims what T1 has
            {"T1": row("1", "C")},
            {"T1": None},
            {"T1": row("1", "D")},
            {"T2": row("2", "B")},
        ]
        for rows in states:
            view = terminals.wait_for(put(topic, **rows), WAIT_S)
            with came:
                assert came.wait_for(lambda version=view.version: versions and versions[-1] >= version, WAIT_S)  # type: ignore[misc] # a lambda with a default
            claimed = [each.terminal_id for each in map(decoded, replica.snapshot().values())]
            assert received.keys() == {each for each in claimed if claimed.count(each) == 1 or interpreter is not None}
            assert received == {key: terminals[key] for key in received}


def decoded(record: Record) -> Terminal:
    """Return the object of a record."""
    return msgspec.json.decode(record.value or b"", type=Terminal)


def test_before_after_and_without_a_version(topic: FakeTopic) -> None:
    """A directory without a version says so; one whose replica has ended, or which is closed, stays readable."""
    replica = topic.replica()
    terminals = Directory(replica, Terminal)
    with pytest.raises(NotReadyError):
        terminals["T1"]
    with pytest.raises(NotReadyError):
        terminals.get("T1")
    with replica:
        terminals.wait_ready(WAIT_S)
        with pytest.raises(WaitTimeoutError):
            terminals.wait_for({partition: end + 1 for partition, end in replica.snapshot().position.items()}, 0.01)
    assert terminals["T1"].acquirer_id == "A"
    terminals.close()
    terminals.close()
    assert terminals["T1"].acquirer_id == "A"
    with pytest.raises(ReplicaClosedError):
        Directory(replica, Terminal)


@pytest.mark.thorough
def test_a_wait_ends_with_an_error_when_the_replica_is_closed(topic: FakeTopic) -> None:
    """A call that waits without limit for a version ends with an error when the replica is closed."""
    errors: list[Exception] = []
    with topic.replica() as replica:
        terminals = Directory(replica, Terminal)
        terminals.wait_ready(WAIT_S)
        last = replica.snapshot().version

        def wait() -> None:
            try:
                with terminals._changed:
                    terminals._wait_for_version(last + 1, None)
            except WaitTimeoutError as error:
                errors.append(error)

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
    waiting.join(WAIT_S)
    assert [str(error).endswith("; it was closed") for error in errors] == [True]


def test_changing_a_directory_is_refused(topic: FakeTopic) -> None:
    """The methods of a dict that would change it, and pickling, are refused."""
    with topic.replica() as replica, Directory(replica, Terminal) as terminals:
        terminals.wait_ready(WAIT_S)
        changes = (
            lambda: terminals.__setitem__("T1", terminals["T1"]), lambda: terminals.pop("T1"), terminals.clear,
            lambda: terminals.update({}), lambda: terminals.__delitem__("T1"), terminals.popitem,
            lambda: terminals.setdefault("T9", terminals["T1"]), lambda: pickle.dumps(terminals),
        )  # fmt: skip
        for change in changes:
            with pytest.raises(UsageError):
                change()
        assert "3 objects" in repr(terminals)
        assert "T1" in terminals._repr_html_()


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks here")
def test_a_fork_notices(topic: FakeTopic) -> None:
    """In a fork, where the directory is not kept up to date, look-ups raise an error instead of old objects."""
    with topic.replica() as replica, Directory(replica, Terminal) as terminals:
        terminals.wait_ready(WAIT_S)
        child = os.fork()
        if not child:
            try:
                terminals["T1"]
            except UsageError:
                os._exit(7)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert terminals["T1"].acquirer_id == "A"


def test_a_validator_keeps_bad_records_out_of_all_versions(topic: FakeTopic) -> None:
    """``record_validator`` makes a record that cannot be decoded a bad record of the replica itself."""
    put(topic, T4=b"{")
    with topic.replica(validator=record_validator(Terminal), on_bad_record="skip") as replica:
        assert sorted(replica.wait_ready(WAIT_S)) == [b"T1", b"T2", b"T3"]
        assert [bad.key for bad in replica.bad_records] == [b"T4"]
