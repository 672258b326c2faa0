"""Look-ups that follow a replica: correct at each version, at a cost that does not depend on the store's size."""

from __future__ import annotations

import gc
import random
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kafka_replica import MemoryStore, Replica, RocksStore, Snapshot, Store
from kafka_replica.errors import NotReadyError, UsageError
from kafka_replica.producer import TransactionalProducer
from kafka_replica.sdmx import Structures, split_message
from kafka_replica.sdmx.errors import ArtefactNotFoundError
from kafka_replica.sdmx.formats.shared.reading.error_collector import OnError
from kafka_replica.sdmx.lookups import decoding as module
from kafka_replica.sdmx.lookups.cache import DecodeCache
from kafka_replica.sdmx.lookups.live_structures import LiveStructures
from kafka_replica.sdmx.messages.message import Message
from kafka_replica.sdmx.reading.messages import read_message
from kafka_replica.sdmx.urns.urn import Urn
from kafka_replica.testing import FakeKafka, FakeTopic
from support.effort import usual_or_long
from support.sdmx.sdmx_corpus import FakeSnapshot
from support.sdmx.sdmx_json_samples import URN, artefact, message, named

STORES: dict[str, Callable[[Path], Store]] = {"memory": lambda _: MemoryStore(), "rocks": RocksStore}
WAIT_S = 60.0


def codelist(id_: str, *, extends: str | None = None, codes: str = "A") -> tuple[str, bytes]:
    """Return a codelist that may extend another: its key and a message."""
    refers = [{"codelist": f"{URN}codelist.Codelist=A:{extends}(1.0.0)"}] if extends else []
    [part] = split_message(
        message({"codelists": [artefact(id_, codes=[named(code) for code in codes], codelistExtensions=refers)]})
    )
    return str(part.urn), part.value


def key(id_: str) -> str:
    """Return the key of a codelist."""
    return f"{URN}codelist.Codelist=A:{id_}(1.0.0)"


def answers(structures: Structures) -> Any:
    """Return the results of all queries of a version; each of them names the unreadable records."""
    counts = structures.count_references()
    dangling = structures.dangling_references()
    assert counts.dangling == len(dangling)
    assert list(dangling.unreadable) == list(structures.unreadable_records())
    queries = (structures.parents, structures.children, structures.ancestors, structures.descendants)
    family = [[list(query(urn)) for query in queries] for urn in structures]
    assert all(query(urn).unreadable.keys() == dangling.unreadable.keys() for query in queries for urn in structures)
    return structures.find(), family, dangling, list(dangling.unreadable), counts, structures.find(version="+")


def assert_same_answers(structures: Structures, snapshot: Snapshot) -> None:
    """Check that the look-ups give the same results as new ones for the version alone."""
    assert structures.version == snapshot.version
    assert answers(structures) == answers(Structures(snapshot, cache=DecodeCache(0)))


@pytest.fixture(params=list(STORES))
def replica(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[FakeTopic, Replica]]:
    """A topic in memory and a replica of it, in either store."""
    topic = FakeTopic()
    with topic.replica(STORES[request.param](tmp_path / "store"), kept_versions=5) as made:
        yield topic, made


def test_every_version_is_answered_for(replica: tuple[FakeTopic, Replica]) -> None:
    """After random changes, some unreadable, each version answers like a fresh one; older ones do not change."""
    topic, followed = replica
    chance = random.Random(7)
    held: list[tuple[Structures, Any]] = []
    with LiveStructures(followed, cache=DecodeCache()) as live:
        for version in range(25):
            with topic.transaction() as transaction:
                for _ in range(chance.randint(1, 4)):
                    id_ = f"L{chance.randint(0, 7)}"
                    what = chance.random()
                    if what < 0.25:
                        transaction.delete(key(id_))
                    elif what < 0.3:
                        transaction.put(key(id_), b"{broken")
                    else:
                        transaction.put(*codelist(id_, extends=chance.choice([None, "L0", "L1", "NONE"])))
                transaction.put(*codelist("L0", codes=chance.choice(["A", "AB"])))
            snapshot = followed.wait_for(topic.end(), WAIT_S)
            if version % 4 == 3:  # otherwise several versions are applied at once
                live.prepare()
            if version % 2:
                structures = live.structures()
                assert_same_answers(structures, snapshot)
                held.append((structures, answers(structures)))
        for structures, expected in held:
            assert answers(structures) == expected
        for number in range(followed.snapshot().version - 5, followed.snapshot().version + 1):
            assert_same_answers(live.structures(followed.at(number)), followed.at(number))
    with pytest.raises(UsageError, match="closed"):
        live.structures()


class Work:
    """Counts of the work: keys parsed, records read, messages decoded."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.parsed = self.decoded = 0
        parse, read = Urn.parse, read_message

        def counted(text: str | bytes) -> Urn:
            self.parsed += 1
            return parse(text)

        def reading(data: bytes, content_type: str | None, *, on_error: OnError) -> Message:
            self.decoded += 1
            return read(data, content_type, on_error=on_error)

        monkeypatch.setattr(Urn, "parse", counted)
        monkeypatch.setattr(module, "read_message", reading)

    def take(self) -> tuple[int, int]:
        """Return the counts since the previous call."""
        found = self.parsed, self.decoded
        self.parsed = self.decoded = 0
        return found


class Feed:
    """A replica that the test controls."""

    def __init__(self, snapshot: FakeSnapshot) -> None:
        self.now = snapshot
        self.waiting: list[Any] = [Told(snapshot, (), initial=True)]

    @property
    def ready(self) -> bool:
        """Return the iterator, like Changes."""
        return bool(self.waiting)

    def __next__(self) -> Any:
        return self.waiting.pop(0)

    def close(self) -> None:
        """Return the next change, like Changes."""
        self.waiting.clear()

    def snapshot(self) -> FakeSnapshot:
        """Return the snapshot, like Replica."""
        return self.now

    def changes(self, *, timeout_s: float | None = None) -> Feed:
        """Return the changes, like Replica."""
        del timeout_s
        return self

    def publish(self, records: dict[bytes, Any], changed: list[bytes]) -> None:
        """Apply the next version."""
        self.now = FakeSnapshot(records, self.now.version + 1)
        self.waiting.append(Told(self.now, changed, initial=False))


class Told:
    """Return a change."""

    deleted: tuple[bytes, ...] = ()

    def __init__(self, snapshot: FakeSnapshot, changed: Any, *, initial: bool) -> None:
        self.snapshot, self.changed, self.initial = snapshot, changed, initial


def work_of_ten(size: int, work: Work) -> list[tuple[int, int, int]]:
    """Return the cost of all queries of a version that changes ten keys, in a store of this size."""
    empty = message({"codelists": []})
    made = FakeSnapshot.of(split_message(message({"codelists": [artefact("L0", codes=[named("A")])]})))
    sample = next(iter(made.records.values()))
    records = {key(f"X{at}").encode(): sample.replace(key=b"", value=empty) for at in range(size)}
    for at in range(20):
        name, value = codelist(f"L{at}", extends="L0" if at else None)
        records[name.encode()] = sample.replace(key=name.encode(), value=value)
    feed = Feed(FakeSnapshot(records, 1))
    cache = DecodeCache()
    live = LiveStructures(feed, cache=cache)
    first = live.prepare()
    assert len(first) == size + 20
    work.take()
    costs: list[tuple[int, int, int]] = []
    for version in range(3):
        changed = []
        for at in range(10, 20):
            name, value = codelist(f"L{at}", extends="NONE" if version % 2 else "L0", codes=f"A{version}")
            records[name.encode()] = sample.replace(key=name.encode(), value=value)
            changed.append(name.encode())
        work.take()
        feed.publish(records, changed)
        structures = live.structures()
        assert [urn.id for urn in structures.find(id="L10")] == ["L10"]
        assert structures.latest(Urn.parse(key("L11"))).id == "L11"
        assert structures.reference_stats is not None
        assert structures.reference_stats.dangling == (10 if version % 2 else 0)
        assert structures.get(key("L12")) is not None
        expected = 9 if version % 2 else 19
        assert len(structures.parents(key("L0"))) == len(structures.ancestors(key("L0"))) == expected
        assert len(structures.children(key("L12"))) == len(structures.descendants(key("L12"))) == 1 - version % 2
        assert len(structures.dangling_references()) == 10 * (version % 2)
        assert structures.parents(key("L12").replace("Codelist=", "Code=") + ".A") == ()
        assert not structures.dangling_references().is_complete
        costs.append((*work.take(), feed.now.gets))
    return costs


@pytest.mark.scaled
def test_the_cost_of_a_version_does_not_depend_on_the_store(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten changed keys cost as many parsed keys, read records and decoded messages in a large store as among 1,000."""
    work = Work(monkeypatch)
    work_of_ten(10, work)  # fills the caches that all decoding shares
    small, large = work_of_ten(1_000, work), work_of_ten(usual_or_long(10_000, 100_000), work)
    assert small == large
    urns, decoded, gets = large[0]
    assert urns <= 32
    assert decoded <= 21
    assert gets <= 70


def test_unchanged_parts_are_shared_between_versions(replica: tuple[FakeTopic, Replica]) -> None:
    """Unchanged parts are the same objects in both versions; changed ones are not."""
    topic, followed = replica
    with topic.transaction() as transaction:
        transaction.put(*codelist("SAME"))
        transaction.put(*codelist("OTHER"))
    live = LiveStructures(followed, cache=DecodeCache())
    followed.wait_for(topic.end(), WAIT_S)
    first = live.structures()
    same, other = first.get(key("SAME")), first.get(key("OTHER"))
    topic.put(*codelist("OTHER", codes="B"))
    followed.wait_for(topic.end(), WAIT_S)
    second = live.structures()
    assert second.version == first.version + 1
    assert second.get(key("SAME")) is same
    assert second.get(key("OTHER")) is not other
    assert first.get(key("OTHER")) is other
    assert live.structures() is second
    live.close()


def test_a_topic_that_was_made_again(replica: tuple[FakeTopic, Replica], monkeypatch: pytest.MonkeyPatch) -> None:
    """After a rebuild the answers are correct, and only new content is decoded."""
    topic, followed = replica
    with topic.transaction() as transaction:
        for at in range(20):
            transaction.put(*codelist(f"L{at}", extends="L0" if at else None))
    followed.wait_for(topic.end(), WAIT_S)
    live = LiveStructures(followed, cache=DecodeCache(0))
    before = live.prepare()
    assert before.count_references() == (0, 0)
    topic.recreate()
    with topic.transaction() as transaction:
        for at in range(1, 20):
            transaction.put(*codelist(f"L{at}", extends="L0"))
        transaction.put(*codelist("NEW"))
    give_up_s = time.monotonic() + WAIT_S
    while key("NEW").encode() not in followed.snapshot():
        assert time.monotonic() < give_up_s, "it was not rebuilt"
        time.sleep(0.02)
    snapshot = followed.snapshot()
    work = Work(monkeypatch)
    after = live.structures()
    assert after.count_references() == (19, 0)
    assert work.decoded <= 2  # NEW; what refers to it, nothing
    assert_same_answers(after, snapshot)
    assert len(before.parents(key("L0"))) == 19
    live.close()


def test_a_change_without_a_list_of_keys_compares_everything() -> None:
    """If a replica delivers the whole state because the changes are unknown, everything is compared."""
    records = dict(FakeSnapshot.of(split_message(message({"codelists": [artefact("A1"), artefact("A2")]}))).records)
    feed = Feed(FakeSnapshot(dict(records), 1))
    live = LiveStructures(feed, cache=DecodeCache())
    first = live.prepare()
    gone = records.pop(key("A1").encode())
    name, value = codelist("B1", extends="A1")
    records[name.encode()] = gone.replace(key=name.encode(), value=value)
    feed.now = FakeSnapshot(records, 2)
    feed.waiting.append(Told(feed.now, (), initial=True))
    assert [urn.id for urn in live.structures()] == ["A2", "B1"]
    assert live.structures().reference_stats == (1, 0)
    assert [urn.id for urn in first] == ["A1", "A2"]


def test_the_replica_ends() -> None:
    """Before the first version there is a clear error; after closing, the last version is still available."""
    topic = FakeTopic()
    replica = topic.replica()
    live = LiveStructures(replica)
    with pytest.raises(NotReadyError):
        live.structures()
    with replica:
        topic.put(*codelist("L0"))
        replica.wait_for(topic.end(), WAIT_S)
    assert [urn.id for urn in live.structures()] == ["L0"]
    assert live.structures(replica.snapshot()) is live.structures()


def test_look_ups_read_only_the_topic_of_structures() -> None:
    """The look-ups of a replica with two topics read only the topic of structures."""
    kafka = FakeKafka()
    codes, other = kafka.topic("codes"), kafka.topic("other")
    with kafka.replica("codes", "other") as replica, LiveStructures(replica, topic="codes") as live:
        codes.put(*codelist("L0"))
        other.put(*codelist("NOT_HERE"))
        replica.wait_for({**codes.end(), **other.end()}, WAIT_S)
        assert [urn.id for urn in live.structures()] == ["L0"]
        codes.put(*codelist("L1", extends="L0"))
        other.put(*codelist("NOT_HERE_EITHER"))
        replica.wait_for({**codes.end(), **other.end()}, WAIT_S)
        assert [urn.id for urn in live.structures()] == ["L0", "L1"]
        assert [urn.id for urn in live.structures().parents(key("L0"))] == ["L1"]


def test_threads_that_ask_while_versions_are_made(replica: tuple[FakeTopic, Replica]) -> None:
    """Each thread gets whole versions, never an older one than before or than the replica showed it."""
    topic, followed = replica
    topic.put(*codelist("L0"))
    followed.wait_for(topic.end(), WAIT_S)
    live = LiveStructures(followed, cache=DecodeCache())
    live.prepare()
    done = threading.Event()
    troubles: list[BaseException] = []

    def ask() -> None:
        last = 0
        try:
            while not done.is_set():
                shown = followed.snapshot().version
                structures = live.structures()
                assert structures.version >= max(last, shown)
                last = structures.version
                ids = {urn.id for urn in structures.find(id="P*")}
                assert len(ids) % 2 == 0, "half a transaction"
                assert {urn.id for urn in structures.parents(key("L0"))} == ids
        except BaseException as error:  # noqa: BLE001 - told below
            troubles.append(error)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for at in range(60):
        with topic.transaction() as transaction:
            for half in "AB":
                if at % 3 == 2:
                    transaction.delete(key(f"P{at - 1}{half}"))
                else:
                    transaction.put(*codelist(f"P{at}{half}", extends="L0"))
    followed.wait_for(topic.end(), WAIT_S)
    done.set()
    for thread in threads:
        thread.join(WAIT_S)
    assert not troubles, troubles[0]
    assert_same_answers(live.structures(), followed.snapshot())


def test_old_versions_are_let_go_of() -> None:
    """Look-ups in a new version keep nothing of the previous one, whatever was queried or failed."""
    feed = Feed(FakeSnapshot({}, 1))
    live = LiveStructures(feed)
    sample = next(iter(FakeSnapshot.of(split_message(codelist("L0")[1])).records.values()))
    gone: list[weakref.ref[FakeSnapshot]] = []
    records: dict[bytes, Any] = {}
    for at in range(5):
        gone.append(weakref.ref(feed.now))
        records[key(f"L{at}").encode()] = sample.replace(value=b"{broken" if at % 2 else codelist(f"L{at}")[1])
        feed.publish(dict(records), [key(f"L{at}").encode()])
        structures = live.prepare()
        assert len(structures.dangling_references().unreadable) == (at + 1) // 2
        with pytest.raises(ArtefactNotFoundError):
            structures.get(key("NOT_THERE"))
        del structures
    gc.collect()
    assert [one() for one in gone] == [None] * 5


@pytest.mark.broker
def test_on_a_real_broker(local_kafka: Any, kafka_topic: Any, tmp_path: Path) -> None:
    """On a real broker, with a replica that is restarted from its store, each version answers like a fresh one."""
    topic = kafka_topic("live")
    config = {"bootstrap.servers": local_kafka.bootstrap_servers}
    writer = TransactionalProducer(config, topic, transactional_id=f"{topic}-writer")
    for life in range(2):
        with Replica(config, topic, store=RocksStore(tmp_path / "store")) as replica:
            live = LiveStructures(replica, cache=DecodeCache())
            for version in range(4):
                with writer.transaction() as transaction:
                    transaction.put(*codelist("L0", codes="AB"[version % 2]))
                    for at in range(3):
                        transaction.put(*codelist(f"L{life}{version}{at}", extends="L0"))
                    if version:
                        transaction.delete(key(f"L{life}{version - 1}0"))
                position = transaction.committed.position
                snapshot = replica.wait_for(position, WAIT_S)
                live.prepare()
                assert_same_answers(live.structures(), snapshot)
            assert len(live.structures().parents(key("L0"))) == 9 * (life + 1)
            live.close()
