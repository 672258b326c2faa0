"""Past versions: kept by number, held, and compared; against a model, with either store, also across rebuilds."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kafka_replica import ConfigurationError, MemoryStore, Replica, RocksStore, Snapshot, Store
from kafka_replica.errors import VersionGoneError
from kafka_replica.publication.difference import Difference
from kafka_replica.testing import FakeTopic
from support.waiting import wait_until

Model = dict[bytes, tuple[bytes, tuple[tuple[str, bytes | None], ...]]]


@pytest.fixture(params=["memory", "rocks"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    """Each kind of store."""
    if request.param == "memory":
        yield MemoryStore()
        return
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        yield RocksStore(Path(name) / "store")


def test_the_last_few_are_kept(store: Store) -> None:
    """``kept_versions`` versions are kept in addition to the current, each unchanged; the error names them."""
    topic = FakeTopic()
    with topic.replica(store, kept_versions=3) as replica:
        for number in range(1, 7):
            replica.wait_for(topic.put("k", b"%d" % number), timeout_s=10)
        newest = replica.snapshot().version
        for back in range(4):
            assert replica.at(newest - back)["k"].value == b"%d" % (6 - back)
            assert replica.at(newest - back).version == newest - back
        for gone in (newest - 4, 0, -1, newest + 1):
            with pytest.raises(VersionGoneError, match=f"version {gone} is not kept .*{newest - 3} to {newest}"):
                replica.at(gone)
        with pytest.raises(VersionGoneError):
            replica.diff(newest - 4)


def test_without_a_history_only_the_present_version_is_available(store: Store) -> None:
    """Without a history only the present version and held snapshots are available."""
    topic = FakeTopic()
    topic.put("k", b"1")
    with topic.replica(store) as replica:
        held = replica.wait_ready(timeout_s=10)
        assert replica.at(held.version).version == held.version
        now = replica.wait_for(topic.put("k", b"2"), timeout_s=10)
        with pytest.raises(VersionGoneError):
            replica.at(held.version)
        assert [(key, was and was.value, is_ and is_.value) for key, was, is_ in replica.diff(held)] == [
            (b"k", b"1", b"2")
        ]
        assert replica.at(now.version)["k"].value == b"2"
        assert held["k"].value == b"1"


@pytest.mark.parametrize("kept_versions", [-1, 1.5, "3", None, True])
def test_a_number_of_kept_versions_that_is_not_natural_is_refused(kept_versions: object) -> None:
    """A history that is not a natural number is refused when the replica is made."""
    with pytest.raises(ConfigurationError, match="kept_versions="):
        FakeTopic().replica(kept_versions=kept_versions)


class ReplicaHistory:
    """A topic, a replica of it, and the expected content of each version."""

    def __init__(self, seed: int, replica: Replica, topic: FakeTopic) -> None:
        self.dice = random.Random(seed)
        self.replica, self.topic = replica, topic
        self.versions: dict[int, Model] = {}
        self.held: list[Snapshot] = []
        self.rebuilds = 0

    def present(self) -> Model:
        """Return the content of the topic according to its records."""
        model: Model = {}
        for record in self.topic.records():
            model.pop(record.key, None)
            if record.value is not None:
                model[record.key] = record.value, record.headers
        return model

    def step(self) -> None:
        """Write a transaction, or create the topic again with some of its content."""
        if self.dice.random() < 0.08:
            kept = list(self.present().items())
            self.topic.recreate()
            self.rebuilds += 1
            with self.topic.transaction() as transaction:
                for key, (value, headers) in self.dice.sample(kept, len(kept) // 2):
                    transaction.put(key, value, headers)
                transaction.put("always", b"x")
            wait_until(lambda: self.replica.status().counts.rebuilds == self.rebuilds)
        else:
            with self.topic.transaction() as transaction:
                for _ in range(self.dice.randint(1, 4)):
                    key = b"k%d" % self.dice.randint(0, 12)
                    if self.dice.random() < 0.3:
                        transaction.delete(key)
                    else:
                        headers = (("h", b"1"),) if self.dice.random() < 0.3 else ()
                        transaction.put(key, self.dice.choice([b"", b"1", b"2"]), headers)
        wait_until(lambda: self.replica.status().ready)
        snapshot = self.replica.wait_for(self.topic.end(), timeout_s=10)
        self.versions[snapshot.version] = self.present()
        if self.dice.random() < 0.2:
            self.held.append(snapshot)

    def compare(self) -> None:
        """Compare any two versions, by number or as held snapshots."""
        newest = max(self.versions)
        reachable: list[int | Snapshot] = [*range(max(1, newest - 5), newest + 1), *self.held]
        before, after = self.dice.choices([one for one in reachable if self.number(one) in self.versions], k=2)
        was, now = self.versions[self.number(before)], self.versions[self.number(after)]
        assert values_by_key(self.replica.diff(before, after)) == expected(was, now)
        assert values_by_key(self.replica.diff(before)) == expected(was, self.versions[newest])

    @staticmethod
    def number(one: int | Snapshot) -> int:
        """Return the number of a version."""
        return one if isinstance(one, int) else one.version


def values_by_key(difference: Difference) -> dict[bytes, tuple[object, object]]:
    """Return a difference as values and headers, and check its three lists against them."""
    found: dict[bytes, tuple[object, object]] = {}
    for key, was, now in difference:
        found[key] = was and (was.value, was.headers), now and (now.value, now.headers)
        kinds = [key in difference.added, key in difference.changed, key in difference.deleted]
        assert kinds == [was is None, was is not None and now is not None, now is None]
    assert len(found) == len(difference)
    return found


def expected(was: Model, now: Model) -> dict[bytes, tuple[object, object]]:
    """Return the difference according to the model."""
    return {key: (was.get(key), now.get(key)) for key in {*was, *now} if was.get(key) != now.get(key)}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.thorough
def test_any_two_versions_against_a_model(store: Store, seed: int) -> None:
    """Every version by number and every difference match the model, while transactions and recreated topics arrive."""
    topic = FakeTopic()
    with topic.replica(store, kept_versions=5, recent_changes=3 if seed % 2 else 1000) as replica:
        replica.wait_ready(timeout_s=10)
        story = ReplicaHistory(seed, replica, topic)
        for _ in range(60):
            story.step()
            story.compare()
        assert story.rebuilds, "the topic was never made anew: another seed is needed"
        newest = replica.snapshot().version
        for number in range(newest - 5, newest + 1):
            if number in story.versions:
                assert contents(replica.at(number)) == story.versions[number]
        for snapshot in story.held:
            assert contents(snapshot) == story.versions[snapshot.version]
            assert len(snapshot) == len(story.versions[snapshot.version])


def contents(snapshot: Snapshot) -> Model:
    """Return the values and headers of a version."""
    return {key: (record.value or b"", record.headers) for key, record in snapshot.items()}
