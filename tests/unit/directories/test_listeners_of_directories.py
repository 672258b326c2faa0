"""Listeners get the objects that the directory has decoded, and all of them, whatever fails or is slow."""

from __future__ import annotations

import gc
import logging
import threading
import time
import weakref
from typing import Any

import msgspec
import pytest

from kafka_replica.directories import Directory, DirectoryChange
from kafka_replica.errors import BadRecordError, UsageError
from kafka_replica.testing import FakeTopic
from support.directories.terminals import KINDS, WAIT_S, Received, put, row, topic_of_two


class Terminal(msgspec.Struct, frozen=True):
    """A row of a directory."""

    id: str
    merchant: str = "M"


class Heard(Received):
    """A listener that holds the objects that all changes so far result in, and can be blocked."""

    def __init__(self) -> None:
        super().__init__()
        self.objects: dict[Any, Any] = {}
        self.go_on = threading.Event()
        self.go_on.set()

    def hear(self, change: DirectoryChange[Any, Any]) -> None:
        """Apply a change, which must fit to the objects."""
        assert self.go_on.wait(WAIT_S)
        with self._came:
            for key, gone in change.deleted.items():
                assert self.objects.pop(key) == gone
            for key, both in change.changed.items():
                assert self.objects[key] is both.before
                self.objects[key] = both.after
            assert not change.added.keys() & self.objects.keys()
            self.objects |= change.added
            self.receive(change)


@pytest.fixture
def topic() -> FakeTopic:
    """Return a topic with two good records."""
    return topic_of_two()


@pytest.mark.parametrize("kind", KINDS)
def test_a_function_that_fails_in_the_listeners_thread_does_not_hold_it_up(topic: FakeTopic, kind: str) -> None:
    """Records are decoded once, by the directory, so that the two cannot differ."""
    heard = Heard()
    threads: list[str] = []

    def decode(value: bytes) -> Terminal:
        threads.append(threading.current_thread().name)
        if "Heard.hear" in threads[-1] and b"T3" in value:
            raise OSError("the service was away, only for a moment")
        return msgspec.json.decode(value, type=Terminal)

    with topic.replica() as replica, Directory(replica, Terminal, decode=decode, **KINDS[kind]) as terminals:
        subscription = terminals.subscribe(heard.hear)
        heard.up_to(terminals.wait_ready(WAIT_S).version)
        now = terminals.wait_for(put(topic, T3=row("T3")), WAIT_S)
        heard.up_to(now.version)
        now = terminals.wait_for(put(topic, T1=row("T1", "N"), T2=None), WAIT_S)
        heard.up_to(now.version)
        assert (heard.objects, subscription.last_error) == (dict(now), None)
    assert len(threads) == 4
    assert not [name for name in threads if "Heard.hear" in name]


@pytest.mark.parametrize("kind", KINDS)
def test_a_retry_ends_a_stop_and_listeners_get_everything_as_one_change(
    topic: FakeTopic, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A passing failure needs neither a new record nor a restart; a retry that does not help changes nothing."""
    caplog.set_level(logging.WARNING, "kafka_replica.directories")
    heard = Heard()
    away = {b"T3", b"T4"}

    def decode(value: bytes) -> Terminal:
        if any(each in value for each in away):
            raise OSError("the registry is away")
        return msgspec.json.decode(value, type=Terminal)

    with topic.replica() as replica, Directory(replica, Terminal, decode=decode, **KINDS[kind]) as terminals:
        terminals.subscribe(heard.hear)
        heard.up_to(terminals.wait_ready(WAIT_S).version)
        with pytest.raises(BadRecordError):
            terminals.wait_for(put(topic, T1=row("T1", "N"), T3=row("T3")), WAIT_S)
        with pytest.raises(BadRecordError):
            terminals.wait_for(put(topic, T4=row("T4"), T2=None), WAIT_S)
        assert [bad.key for bad in terminals.retry_bad_records()] == [b"T3", b"T4"]
        away.remove(b"T3")
        assert [bad.key for bad in terminals.retry_bad_records()] == [b"T4"]
        assert "key 'T4'" in str(terminals.error)
        with pytest.raises(BadRecordError):
            _ = terminals["T3"]
        away.clear()
        assert terminals.retry_bad_records() == terminals.bad_records == []
        assert (terminals.error, terminals["T3"].id, sorted(terminals)) == (None, "T3", ["T1", "T3", "T4"])
        assert dict(terminals.at(replica.snapshot())) == dict.copy(terminals) == dict(terminals.view())
        now = terminals.wait_for(put(topic, T5=row("T5")), WAIT_S)
        heard.up_to(now.version)
    missed = heard.changes[1]  # of the last version before the retry, if the listener had not reached it until then
    added = sorted({"T3", "T4", *missed.added})
    assert [sorted(keys) for keys in (missed.added, missed.changed, missed.deleted)] == [added, ["T1"], ["T2"]]
    assert (sum(change.conflated for change in heard.changes[1:]), heard.objects) == (3, dict(now))
    levels = [each.levelname for each in caplog.records if each.name == "kafka_replica.directories"]
    assert levels == ["ERROR", "ERROR", "WARNING"]  # T3, T4, and the end


def test_listeners_get_what_a_retry_repairs_with_the_next_version(topic: FakeTopic) -> None:
    """The objects that were left out at first are not missing for listeners for good."""
    heard = Heard()
    away = [True]

    def decode(value: bytes) -> Terminal:
        if away[0] and b"T1" in value:
            raise OSError("the registry is away")
        return msgspec.json.decode(value, type=Terminal)

    with topic.replica() as replica, Directory(replica, Terminal, decode=decode, on_bad_record="skip") as terminals:
        terminals.subscribe(heard.hear)
        heard.up_to(terminals.wait_ready(WAIT_S).version)
        away.clear()
        away.append(False)
        assert terminals.retry_bad_records() == []
        now = terminals.wait_for(put(topic, T2=None), WAIT_S)
        last = heard.up_to(now.version)
    assert (sorted(last.added), sorted(last.deleted), sorted(heard.objects)) == (["T1"], ["T2"], ["T1"])


@pytest.mark.thorough
@pytest.mark.parametrize("kind", KINDS)
def test_keys_that_come_and_go_during_a_stop_take_no_memory(topic: FakeTopic, kind: str) -> None:
    """Only keys whose objects differ are stored for a listener, however long a stop lasts."""
    heard = Heard()
    with topic.replica() as replica, Directory(replica, Terminal, **KINDS[kind]) as terminals:
        terminals.subscribe(heard.hear)
        heard.up_to(terminals.wait_ready(WAIT_S).version)
        put(topic, T3=b"{", T4=row("T4"))
        for number in range(40):
            name = f"S{number}"
            put(topic, **{name: row(name)})
            replica.wait_for(put(topic, **{name: None}), WAIT_S)
        with pytest.raises(BadRecordError):
            terminals.wait_ready(WAIT_S)
        (received,) = terminals._versions._received
        assert received.differing_keys == {b"T4"}
        now = terminals.wait_for(put(topic, T3=None), WAIT_S)
        heard.up_to(now.version)
    assert (len(heard.changes), heard.objects) == (2, dict(now))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("versions", [5, 40])
def test_a_slow_listener_gets_each_recent_version_or_several_as_one(topic: FakeTopic, kind: str, versions: int) -> None:
    """Keys that come and go are in the changes of the versions that have them; no version is counted twice."""
    heard = Heard()
    states: dict[int, dict[Any, Any]] = {}
    with topic.replica() as replica, Directory(replica, Terminal, **KINDS[kind]) as terminals:
        terminals.subscribe(heard.hear)
        first = heard.up_to(terminals.wait_ready(WAIT_S).version)
        heard.go_on.clear()
        view = terminals.view()
        for number in range(versions):
            value = None if number % 2 else row("T3", str(number))
            view = terminals.wait_for(put(topic, T3=value, T1=row("T1", str(number))), WAIT_S)
            states[view.version] = dict(view)
        before = dict(heard.objects)
        heard.go_on.set()
        heard.up_to(view.version)
    assert heard.objects == states[view.version]
    assert sum(change.conflated for change in heard.changes[1:]) == view.version - first.version
    shown = before
    for change in heard.changes[1:]:
        shown |= {**change.added, **{key: both.after for key, both in change.changed.items()}}
        shown = {key: found for key, found in shown.items() if key not in change.deleted}
        assert shown == states[change.version]
    if versions == 5:
        assert len(heard.changes) == 6


class Measured:
    """An object that cannot always be compared, as one that has an array."""

    def __init__(self, value: bytes) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        raise ValueError("the truth value of an array is ambiguous")

    __hash__ = None  # type: ignore[assignment]


def test_objects_that_cannot_be_compared_count_as_changed() -> None:
    """An exception of the comparison does not lose the other objects of the version."""
    topic = FakeTopic("measured")
    put(topic, A=b"1", B=b"1")
    heard = Heard()
    with topic.replica() as replica, Directory(replica, Measured, decode=Measured) as measured:
        subscription = measured.subscribe(heard.hear)
        heard.up_to(measured.wait_ready(WAIT_S).version)
        now = measured.wait_for(put(topic, A=b"2", C=b"1"), WAIT_S)
        last = heard.up_to(now.version)
        assert (list(last.changed), list(last.added), subscription.last_error) == (["A"], ["C"], None)
        assert {key: found.value for key, found in heard.objects.items()} == {"A": b"2", "B": b"1", "C": b"1"}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_first", [True, False])
def test_a_bad_record_does_not_keep_its_version_in_memory(topic: FakeTopic, kind: str, is_first: bool) -> None:
    """The error of a record that is left out for long keeps its cause, but no snapshot."""
    if is_first:
        put(topic, T3=b"{")
    options = {**KINDS[kind], "on_bad_record": "skip"}
    with topic.replica() as replica, Directory(replica, Terminal, **options) as terminals:
        view = terminals.wait_ready(WAIT_S)
        if not is_first:
            view = terminals.wait_for(put(topic, T3=b"{"), WAIT_S)
        (bad,) = terminals.bad_records
        version = weakref.ref(view.snapshot)
        del view
        for number in range(3):
            terminals.wait_for(put(topic, T1=row("T1", str(number))), WAIT_S)
        give_up_s = time.monotonic() + WAIT_S
        while version() is not None and time.monotonic() < give_up_s:
            gc.collect()
            time.sleep(0.01)
        assert version() is None
        assert isinstance(bad.__cause__ or bad.__context__, Exception)


def test_closing_a_directory_ends_its_subscriptions(topic: FakeTopic) -> None:
    """A listener that is no longer called has a closed subscription; others cannot subscribe."""
    heard = Heard()
    with topic.replica() as replica:
        with Directory(replica, Terminal) as terminals:
            subscription = terminals.subscribe(heard.hear)
            heard.up_to(terminals.wait_ready(WAIT_S).version)
        assert [subscription.closed, terminals.closed] == [True, True]
        with pytest.raises(UsageError, match="the directory of Terminal was closed; create another one"):
            terminals.subscribe(heard.hear)


def test_listeners_of_a_directory_on_demand_get_the_objects_before_and_after(topic: FakeTopic) -> None:
    """The directory has decoded nothing, so its listeners decode; a bad record counts as absent."""
    changes: list[DirectoryChange[str, Terminal]] = []
    with topic.replica() as replica, Directory(replica, Terminal, on_demand=True) as terminals:
        terminals.subscribe(changes.append)
        terminals.wait_for(put(topic, T1=row("T1", "N"), T2=b"{", T3=row("T3")), WAIT_S)
        give_up_s = time.monotonic() + WAIT_S
        while not (changes and changes[-1].version == replica.snapshot().version):
            assert time.monotonic() < give_up_s
            time.sleep(0.01)
    objects: dict[str, Terminal] = {}
    for change in changes:
        objects |= {**change.added, **{key: both.after for key, both in change.changed.items()}}
        objects = {key: found for key, found in objects.items() if key not in change.deleted}
    assert objects == {"T1": Terminal("T1", "N"), "T3": Terminal("T3")}


@pytest.mark.thorough
def test_an_ended_subscription_keeps_no_version_in_memory() -> None:
    """Neither the contents that its listener received, nor the keys that differ from them."""
    topic = FakeTopic("t")
    put(topic, a=row("a"))
    with topic.replica() as replica, Directory(replica, Terminal) as directory:
        called = threading.Event()
        subscription = directory.subscribe(lambda _change: called.set())
        assert called.wait(WAIT_S)
        subscription.close()
        gc.collect()
        assert len(directory._versions._received) == 0


def test_closing_waits_for_a_running_call() -> None:
    """After that no listener runs, so that what it needs can be closed as well."""
    topic = FakeTopic("t")
    put(topic, a=row("a"))
    running, released, ended = threading.Event(), threading.Event(), threading.Event()

    def listener(_change: object) -> None:
        running.set()
        released.wait(WAIT_S)
        ended.set()

    with topic.replica() as replica:
        directory = Directory(replica, Terminal)
        directory.subscribe(listener)
        assert running.wait(WAIT_S)
        threading.Timer(0.2, released.set).start()
        directory.close()
        assert ended.is_set()
