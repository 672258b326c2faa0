"""Replicas of a topic that has lost old records, which begin with records from elsewhere."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import KeyFilter, Partition, Replica, RocksStore
from kafka_replica.errors import ConfigurationError, KafkaReplicaError
from kafka_replica.stores.delta import Delta
from kafka_replica.testing import FakeTopic
from support.effort import examples
from support.waiting import wait_until

WAIT_S = 60.0
CHANGES = st.dictionaries(st.sampled_from("abcdef"), st.none() | st.integers(0, 9), min_size=1, max_size=3)
STEPS = st.one_of(CHANGES, CHANGES, st.sampled_from(["restart", "Kafka deletes"]))


class World:
    """A database, and a topic that tells of its changes and loses old records."""

    def __init__(self, before: Mapping[str, int | None]) -> None:
        self.topic = FakeTopic("t", partitions=2)
        self.now: dict[str, bytes] = {}
        self.loaded = 0
        self.change(before)
        self.delete()

    def change(self, changes: Mapping[str, int | None]) -> None:
        """Change the database, and write of it."""
        with self.topic.transaction() as transaction:
            for key, value in changes.items():
                if value is None:
                    self.now.pop(key, None)
                    transaction.delete(key)
                else:
                    self.now[key] = str(value).encode()
                    transaction.put(key, self.now[key])

    def delete(self) -> None:
        """Let Kafka delete all records, by their age."""
        for partition, end in self.topic.end().items():
            self.topic.delete_before(end, partition.partition)

    def load(self) -> list[tuple[str, bytes]]:
        """Return the state of the database."""
        self.loaded += 1
        return list(self.now.items())

    def shown_by(self, replica: Replica) -> dict[str, bytes | None]:
        """Return what a replica shows once it has read everything."""
        snapshot = replica.wait_for(self.topic.end(), WAIT_S)
        return {key.decode(): record.value for key, record in snapshot.items()}


@pytest.mark.thorough
@given(before=CHANGES, steps=st.lists(STEPS, max_size=8))
@settings(max_examples=examples(15))
def test_every_replica_holds_the_state_of_the_database(
    before: dict[str, int | None], steps: list[dict[str, int | None] | str]
) -> None:
    """All replicas hold the rows of the database: if they follow, continue from disk, or start now.

    The records of the topic win, tombstones included, and a record that Kafka deletes later is not lost.
    """
    world = World(before)
    with TemporaryDirectory() as folder, world.topic.replica(initial_records=world.load) as following:
        assert world.shown_by(following) == world.now
        for step in [*steps, "restart"]:
            if isinstance(step, dict):
                world.change(step)
            elif step == "restart":
                with world.topic.replica(store=RocksStore(folder), initial_records=world.load) as restarted:
                    assert world.shown_by(restarted) == world.now
            else:
                world.shown_by(following)
                world.delete()
        with world.topic.replica(initial_records=world.load) as new:
            assert world.shown_by(new) == world.now
        assert world.shown_by(following) == world.now


def test_changes_while_the_records_are_loaded() -> None:
    """A change that is read but not loaded is shown, and so is one that Kafka deletes before it was read."""
    for is_deleted in (False, True):
        world = World({"a": 1, "b": 1})

        def load(world: World = world, is_deleted: bool = is_deleted) -> list[tuple[str, bytes]]:
            found = world.load()
            if world.loaded == 1:
                world.change({"a": None, "b": 2, "c": 3})
                if is_deleted:
                    world.delete()
                    world.change({"d": 4})
            return found

        with world.topic.replica(initial_records=load) as replica:
            first = replica.wait_ready(WAIT_S)
            assert {key.decode(): record.value for key, record in first.items()} == world.now
        assert world.loaded == 1 + is_deleted


def test_records_that_are_deleted_while_the_records_are_loaded() -> None:
    """Records from before the call are not missed, because the initial records contain their changes."""
    world = World({"a": 1})
    world.change({"a": 2, "b": 2})

    def load() -> list[tuple[str, bytes]]:
        world.delete()
        return world.load()

    with world.topic.replica(initial_records=load) as replica:
        assert world.shown_by(replica) == world.now
        world.change({"c": 3})
        assert world.shown_by(replica) == world.now
        assert (world.loaded, replica.status().counts.rebuilds) == (1, 0)


@pytest.mark.parametrize("boundaries", ["markers", "quiescence"])
@pytest.mark.parametrize("partition", [1, 2])
def test_records_that_are_deleted_before_the_first_one_is_read(partition: int, boundaries: str) -> None:
    """The records are loaded again, for a partition that is empty as for one that was added; then never again."""
    world = World({"a": 1})
    with (
        world.topic.replica(boundaries=boundaries, initial_records=world.load) as replica,
        world.topic.replica(boundaries=boundaries) as without,
    ):
        assert world.shown_by(replica) == world.now
        assert world.shown_by(without) == {}
        with world.topic.kafka.cluster.changed:  # the replicas do not read meanwhile
            if partition == 2:
                world.topic.add_partitions(3)
            for _ in range(2):
                world.topic.put("a", b"2", partition=partition)
            world.now["a"] = b"2"
            world.topic.delete_before(world.topic.end()[Partition("t", partition)], partition)
        wait_until(lambda: world.loaded == 2)
        assert world.shown_by(replica) == world.now
        world.change({"b": 3})
        assert world.shown_by(replica) == world.now
        assert (world.loaded, replica.status().counts.rebuilds) == (2, 1)
        assert world.shown_by(without) == {"b": b"3"}
        assert without.status().counts.rebuilds == 0


@pytest.mark.parametrize("is_deleted", [False, True])
def test_a_partition_that_was_added_during_a_downtime(tmp_path: Path, is_deleted: bool) -> None:
    """The records are loaded again only if Kafka has deleted records of the partition."""
    world = World({"a": 1})
    with world.topic.replica(store=RocksStore(tmp_path), initial_records=world.load) as replica:
        assert world.shown_by(replica) == world.now
    world.topic.add_partitions(3)
    world.topic.put("a", b"2", partition=2)
    world.now["a"] = b"2"
    if is_deleted:
        world.topic.delete_before(1, partition=2)
    for _ in range(2):
        with world.topic.replica(store=RocksStore(tmp_path), initial_records=world.load) as replica:
            assert world.shown_by(replica) == world.now
    assert world.loaded == 1 + is_deleted


def test_a_store_is_loaded_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A restart continues from the saved version; without the option, the store is rebuilt."""
    world = World({"a": 1})
    for number in (1, 2):
        with world.topic.replica(store=RocksStore(tmp_path), initial_records=world.load) as replica:
            assert world.shown_by(replica) == world.now
            world.change({"b": number})
            assert world.shown_by(replica) == world.now
    assert world.loaded == 1
    with caplog.at_level(logging.WARNING), world.topic.replica(store=RocksStore(tmp_path)) as replica:
        assert world.shown_by(replica) == {"b": b"2"}
    assert "is rebuilt" in caplog.text


def test_the_filter_selects_initial_records() -> None:
    """Keys that the filter leaves out are left out here, too."""
    world = World({"a": 1, "b": 2})
    with world.topic.replica(initial_records=world.load, key_filter=KeyFilter.prefix("a")) as replica:
        assert world.shown_by(replica) == {"a": b"1"}


def test_loading_that_fails() -> None:
    """The replica fails, and names the reason; a function is required, and one topic."""
    world = World({"a": 1})
    wrong: tuple[tuple[Any, str], ...] = (
        ([("a", "text")], "the value of 'a' is str, not bytes"),
        ([(123, b"1")], "the key 123 is int, not bytes or a text"),
        ([(bytearray(b"a"), b"1")], r"the key bytearray\(b'a'\) is bytearray, not bytes or a text"),
        ([1], "TypeError"),
    )
    for records, reason in wrong:
        with (
            world.topic.replica(initial_records=lambda records=records: records) as replica,
            pytest.raises(KafkaReplicaError, match=f"loading the initial records of t: .*{reason}|{reason}"),
        ):
            replica.wait_ready(WAIT_S)
    with pytest.raises(ConfigurationError, match="use a function"):
        world.topic.replica(initial_records=[("a", b"1")])
    with pytest.raises(ConfigurationError, match="one topic only"):
        world.topic.kafka.replica("t", "u", initial_records=world.load)


def test_a_store_on_disk_gets_many_initial_records_in_parts(tmp_path: Path) -> None:
    """Initial records are not all held in memory, and the first version has all of them."""
    topic, parts = FakeTopic("t"), []

    class CountsParts(RocksStore):
        part_bytes: int | None = 1000

        def stage(self, delta: Delta) -> None:
            parts.append(len(delta.changes))
            super().stage(delta)

    topic.put("k3", b"newer")
    records = [(f"k{number}", b"%100d" % number) for number in range(100)]
    with topic.replica(store=CountsParts(tmp_path), initial_records=lambda: records) as replica:
        snapshot = replica.wait_ready(WAIT_S)
        assert {key.decode(): record.value for key, record in snapshot.items()} == {**dict(records), "k3": b"newer"}
    assert len(parts) > 5
    assert max(parts) < 20
