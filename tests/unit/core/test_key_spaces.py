"""The keys of records in a replica of several topics, each with its own key space."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kafka_replica import MemoryStore, RocksStore, Store, UsageError
from kafka_replica.testing import FakeKafka


def in_parts(folder: Path) -> Store:
    """Return a store that writes each version in parts, also the first one."""
    store = RocksStore(folder)
    store.part_bytes = 1
    return store


STORES: dict[str, Callable[[Path], Store]] = {
    "memory": lambda _: MemoryStore(),
    "checkpoint": lambda folder: MemoryStore(checkpoint=folder / "checkpoint"),
    "rocks": RocksStore,
    "rocks, in parts": in_parts,
}


@pytest.mark.parametrize("store", STORES)
def test_a_record_has_the_key_that_was_written(store: str, tmp_path: Path) -> None:
    """Every store returns the key as it is in the log, in scans, look-ups and of one topic, also after a restart."""
    kafka = FakeKafka()
    for topic in ("codes", "flows"):
        kafka.topic(topic, partitions=2)
    for number in range(3):
        with kafka.transaction() as transaction:
            for topic in ("codes", "flows"):
                transaction.put(f"k{number}", b"1", topic=topic)
                transaction.put("changed", str(number).encode(), topic=topic)
        with kafka.replica("codes", "flows", store=STORES[store](tmp_path)) as replica:
            position = transaction.committed.position
            snapshot = replica.wait_for(position, 60)
            for part in (snapshot.of("codes"), snapshot.of("flows")):
                assert {key: record.key for key, record in part.items()} == {key: key for key in part}
                assert [part[key].key for key in part] == list(part)
                assert dict(part.of("flows")) == dict(snapshot.of("flows"))
            assert sorted({record.key for record in snapshot.values()}) == sorted(snapshot.of("codes"))


@pytest.mark.parametrize("large_values", [False, True])
def test_a_single_topic_has_all_keys_of_its_version(large_values: bool) -> None:
    """A program whose list of topics has one name works like one with several names."""
    kafka = FakeKafka()
    kafka.topic("codes").put("a", b"1")
    kafka.topic("flows")
    with kafka.replica("codes", large_values=large_values) as replica:
        snapshot = replica.wait_ready(60)
        assert dict(snapshot.of("codes")) == dict(snapshot)
        assert snapshot.of("codes")["a"].value == b"1"
        with pytest.raises(UsageError, match="version 1 has no topic 'flows'; it has codes"):
            snapshot.of("flows")
    with kafka.replica("codes", "flows", large_values=large_values) as replica:
        snapshot = replica.wait_ready(60)
        assert (list(snapshot.of("codes")), list(snapshot.of("flows"))) == ([b"a"], [])
        for part in (snapshot, snapshot.of("flows")):
            with pytest.raises(UsageError, match="version 1 has no topic 'others'; it has codes, flows"):
                part.of("others")
