"""Displays of the package's objects in a REPL and in a notebook."""

from __future__ import annotations

import inspect
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import Change, MemoryStore, Partition, Position, Record, Replica, RocksStore
from kafka_replica.aio import AsyncReplica
from kafka_replica.common.html_tables import html_table
from kafka_replica.embedded import LocalKafka
from kafka_replica.errors import StoreError
from kafka_replica.stores import Snapshot
from kafka_replica.stores.contract import TopicSnapshot
from kafka_replica.stores.delta import Delta
from kafka_replica.stores.rocks import snapshot as rocks_snapshot
from kafka_replica.testing import FakeKafka, FakeTopic
from support.paths import ROOT

PATIENCE_S = 60.0
LONGEST = 300
MODULES = (
    "kafka_replica", "kafka_replica.aio", "kafka_replica.testing", "kafka_replica.sdmx", "kafka_replica.producer",
    "kafka_replica.embedded", "kafka_replica.data.validation", "kafka_replica.data.mapping", "kafka_replica.data.jobs",
)  # fmt: skip


class Html(HTMLParser):
    """A parser that checks that tags are closed, and collects texts and tags."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.text = ""
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        """Open a tag."""
        self.open.append(tag)
        self.seen.add(tag)

    def handle_endtag(self, tag: str) -> None:
        """Close the tag opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Collect the text between tags."""
        self.text += data


@pytest.mark.parametrize("name", MODULES)
def test_every_public_class_has_a_repr_of_its_own(name: str) -> None:
    """Every public class has a repr of its own instead of class and address."""
    module = import_module(name)
    names = getattr(module, "__all__", [one for one, held in vars(module).items() if not one.startswith("_")])
    bare = [
        each
        for each in names
        if inspect.isclass(held := getattr(module, each))
        and held.__module__.startswith("kafka_replica")
        and held.__repr__ is object.__repr__
        and not getattr(held, "_is_protocol", False)
    ]
    assert bare == []


def test_a_replica_in_all_its_states() -> None:
    """A replica shows topic, state, version and count in all states, closed and in a fork, too; never configuration."""
    topic = FakeTopic("codes")
    topic.put("a", b"1")
    replica = topic.replica()
    assert repr(replica) == "<FakeReplica codes: new, no version yet>"
    with replica:
        replica.wait_ready(PATIENCE_S)
        assert repr(replica) == "<FakeReplica codes: live, version 1, 1 key>"
        assert repr(AsyncReplica(replica)) == "<AsyncReplica of <FakeReplica codes: live, version 1, 1 key>>"
        assert repr(replica.snapshot()) == "<MemorySnapshot version 1, 1 key, codes-0@1>"
        assert repr(TopicSnapshot(replica.snapshot(), "x")) == "<TopicSnapshot x: version 1>"
        assert repr(replica.status()) == "<Status live: version 1, 1 key, lag 0>"
        topic.put("b", b"22")
        replica.wait_for(topic.end(), PATIENCE_S)
        assert repr(replica.diff(replica.snapshot(), replica.snapshot())).startswith("<Difference from version 2 to 2")
        assert repr(replica.snapshot()["b"]) == "<Record b at codes-0@1, 2 bytes>"
    assert repr(replica) == "<FakeReplica codes: stopped, version 2, 2 keys>"
    assert replica._owner is not None
    replica._owner.pid = -1
    assert repr(replica) == "<FakeReplica codes: of another process>"


def test_a_repr_shows_no_secret() -> None:
    """A repr shows neither passwords nor addresses that contain them."""
    config = {"bootstrap.servers": "127.0.0.1:1", "sasl.password": "hunter2", "sasl.username": "me"}
    assert "hunter2" not in repr(Replica(config, "t"))
    assert "hunter2" not in repr(AsyncReplica(Replica(config, "t")))


def test_changes_iterators_and_subscriptions_have_a_repr() -> None:
    """A change shows what it changes, an iterator what is pending, a subscription its listener."""
    topic = FakeTopic()
    topic.put("a", b"1")
    with topic.replica() as replica:
        replica.wait_ready(PATIENCE_S)
        changes = replica.changes(timeout_s=PATIENCE_S)
        assert repr(changes) == "<Changes, 1 waiting>"
        assert repr(next(changes)) == "<Change to version 1, 1 key, the whole state>"
        topic.put("b", b"1")
        assert repr(next(changes)) == "<Change to version 2: 1 changed, 0 deleted>"
        assert repr(AsyncReplica(replica).changes()) == "<AsyncChanges of <Changes, 1 waiting>>"
        subscription = replica.subscribe(lambda change: None)
        subscription.close()
        assert repr(subscription).startswith(
            "<Subscription of test_changes_iterators_and_subscriptions_have_a_repr.<locals>.<lambda>, "
        )
        assert repr(subscription).endswith(" waiting, closed>")
    assert repr(changes) == "<Changes, 0 waiting, closed>"


def test_fakes_and_the_embedded_broker() -> None:
    """Fakes are shown after their topic was dropped, too, and the embedded broker before it is started."""
    kafka = FakeKafka()
    topic = kafka.topic("a", partitions=2)
    with topic.transaction() as transaction:
        transaction.put("k", b"1")
        assert repr(transaction).endswith("open, 1 record>")
    assert repr(transaction).endswith("committed, 1 record>")
    assert repr(topic).startswith("<FakeTopic a, 2 partitions, ends [")
    assert repr(kafka) == "<FakeKafka, 1 topic>"
    assert repr(topic.producer("w")) == "<FakeProducer w to a>"
    topic.drop()
    assert repr(topic) == "<FakeTopic a, dropped>"
    assert repr(LocalKafka()) == "<LocalKafka not started>"


def test_long_things_are_short() -> None:
    """A position of a thousand partitions, a record of a megabyte, a tombstone and a binary key are shown in short."""
    position = Position({Partition("t", number): 1 for number in range(1000)})
    assert repr(position) == "Position(t-0@1, t-1@1, t-2@1, t-3@1 and 996 more partitions)"
    place = Partition("t", 0)
    big = Record(b"k" * 10_000, b"v" * 1_000_000, 5, 0, (), place)
    assert len(repr(big)) < LONGEST
    assert repr(Record(b"\xff", None, 5, 0, (), place)) == "<Record \\xff at t-0@5, tombstone>"


def filled(store: Any, count: int) -> Snapshot:
    """Return a version with the given number of keys."""
    place = Partition("t", 0)
    records = [Record(f"key {at} <b>&".encode(), b"1", at, at, (), place) for at in range(count)]
    store.apply(Delta(records), Position({place: count}))
    return store.snapshot()


def test_stores_and_their_versions_do_not_read_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A RocksDB version shows no key count where keys were not counted; a closed store can be shown."""
    store = RocksStore(tmp_path / "s")
    filled(store, 3)
    assert repr(MemoryStore()) == "<MemoryStore version 0, 0 keys>"
    assert repr(store) == f"<RocksStore '{tmp_path / 's'}' version 1, 3 keys>"
    store.close()
    opened = RocksStore(tmp_path / "s")
    uncounted = opened.snapshot()
    uncounted._tally.keys = None  # as after a crash
    monkeypatch.setattr(rocks_snapshot, "shown", lambda *_: pytest.fail("the disk was read"))
    for one in (uncounted, TopicSnapshot(uncounted, "x"), opened):
        assert "version 1" in repr(one)
        assert "key" not in repr(one)
    opened.close()
    assert repr(opened).startswith("<RocksStore ")


@pytest.mark.parametrize("kind", ["memory", "rocks"])
def test_a_version_as_a_table(kind: str, tmp_path: Path) -> None:
    """A version shows its first rows, escaped, and their number, without colours of its own and in a bounded size."""
    snapshot = filled(MemoryStore() if kind == "memory" else RocksStore(tmp_path / "s"), 5000)
    text = snapshot._repr_html_()
    html = Html(text)
    assert "key 0 <b>&" in html.text
    assert "the first 20 keys of 5,000" in html.text
    assert "b" not in html.seen
    assert text.count("<tr>") == 21
    assert "color" not in text
    assert len(text) < 10_000


def test_a_version_that_cannot_be_read_is_still_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """A version whose store fails is shown with an empty table."""
    snapshot = filled(MemoryStore(), 2)

    def fail(*_: object) -> None:
        raise StoreError("the disk is gone")

    monkeypatch.setattr(type(snapshot), "get", fail)
    assert "version 1, 2 keys" in Html(snapshot._repr_html_()).text


def test_odd_timestamps_and_texts() -> None:
    """A timestamp beyond all calendars, a missing timestamp and half a character are shown."""
    store, place = MemoryStore(), Partition("t", 0)
    records = [Record(b"a", b"1", 0, 1 << 60, (), place), Record(b"b\xed\xa0\x80", b"1", 1, -1, (), place)]
    store.apply(Delta(records), Position({place: 2}))
    assert f"{1 << 60} ms" in Html(store.snapshot()._repr_html_()).text
    assert "\\ud800" in html_table("\ud800", ("a",), [("$x$",)], 1)
    assert "mathjax_ignore" in html_table("t", ("a",), [("$x$",)], 1)


def test_help_shows_no_private_parameter() -> None:
    """The signatures that ``help`` shows for public classes have no private parameter."""
    from kafka_replica.sdmx import LiveStructures, Structures

    for kind in (Replica, AsyncReplica, Structures, LiveStructures, MemoryStore, RocksStore, LocalKafka, FakeTopic):
        assert not [name for name in inspect.signature(kind).parameters if name.startswith("_")]


def test_the_version_of_the_package() -> None:
    """The version has one source: the installed package's, which equals pyproject.toml's."""
    import tomllib

    import kafka_replica

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert kafka_replica.__version__ == project["version"]
    assert "__version__" in dir(kafka_replica)
    with pytest.raises(AttributeError, match="no attribute 'Replika'"):
        kafka_replica.Replika  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.thorough
def test_importing_the_package_imports_next_to_nothing() -> None:
    """Names are imported on first use: SDMX alone, and pytest's plug-in, do not import Kafka's client."""
    import subprocess
    import sys

    program = (
        "import sys; before = set(sys.modules); import kafka_replica; new = set(sys.modules) - before\n"
        "print(sorted(name for name in new if not name.startswith('__')))\n"
        "assert kafka_replica.MemoryStore is not None and 'confluent_kafka' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['kafka_replica']"


def test_a_change_of_a_whole_version_on_disk_counts_nothing(tmp_path: Path) -> None:
    """A change of a whole version on disk does not scan its keys to count them."""
    store = RocksStore(tmp_path / "s")
    snapshot: Any = filled(store, 3)
    snapshot._tally.keys = None
    assert repr(Change(snapshot, None, snapshot.keys(), ())) == "<Change to version 1, the whole state>"
    assert snapshot._tally.keys is None
