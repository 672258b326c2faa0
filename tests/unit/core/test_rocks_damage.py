"""Damaged, removed or foreign files in a store on disk: noticed, reported, rebuilt, never served."""

from __future__ import annotations

import gc
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kafka_replica import MemoryStore, RocksStore, Snapshot, State
from kafka_replica.errors import StoreDamagedError, StoreError
from kafka_replica.stores import Store
from kafka_replica.stores.rocks.database import Batch
from kafka_replica.testing import FakeTopic
from support.core.rocks_tools import delta, many, new_folder, present, publish, values
from support.waiting import wait_until

HARM: dict[str, Callable[[bytes], bytes | None]] = {
    "removed": lambda data: None,
    "emptied": lambda data: b"",
    "position": lambda data: data[: len(data) // 2],
    "flipped": lambda data: data[: len(data) // 3] + bytes([data[len(data) // 3] ^ 1]) + data[len(data) // 3 + 1 :],
}


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for a store."""
    with new_folder() as path:
        yield path


def flip(file: Path, at: float) -> None:
    """Flip one bit at a relative position of the file."""
    data = bytearray(file.read_bytes())
    data[int(len(data) * at)] ^= 1
    file.write_bytes(data)


@pytest.mark.thorough
def test_any_file_of_the_database_damaged_in_any_way(folder: Path) -> None:
    """A damaged file leads to a published version, or to none with a report; opening it read-only agrees."""
    states = [{}, many(300, b"1" * 100), {**many(300, b"1" * 100), **many(50, b"2")}]
    writer = RocksStore(folder / "kept")
    publish(writer, states[1])
    publish(writer, many(50, b"2"), 1_000)
    left = folder / "left"
    _wait_until_still(folder / "kept")
    shutil.copytree(folder / "kept", left)  # as a killed process leaves the database, with a log
    writer.close()
    names = sorted(file.name for file in present(left).iterdir())
    assert any(name.endswith(".log") for name in names)
    seen: set[int] = set()
    for name in names:
        for how, harm in HARM.items():
            copy = folder / f"{name} {how}"
            shutil.copytree(left, copy)
            file = present(copy) / name
            if not file.stat().st_size:
                continue
            harmed = harm(file.read_bytes())
            file.unlink()
            if harmed is not None:
                file.write_bytes(harmed)
            version = _looked_at(copy, states)
            store = RocksStore(copy)
            try:
                assert values(store.snapshot()) == states[store.snapshot().version], (name, how)
            except StoreDamagedError:
                assert version is None
                assert store.is_damaged
                store.rebuild()
            assert version is not None or store.resume_point is None or store._aside is not None, (name, how)
            must = name.endswith("sst") or name.startswith(("MANIFEST", "CURRENT"))
            assert not must or version is None, (name, how)
            seen.add(-1 if version is None else version)
            publish(store, {b"new": b"3"})
            store.close()
            assert RocksStore(copy).snapshot()["new"].value == b"3"
    assert seen == {-1, 1, 2}


def _wait_until_still(folder: Path) -> None:
    """Wait until RocksDB's background thread has compacted what was just flushed."""
    before: set[tuple[str, int]] | None = None
    still = 0
    while still < 10:
        files = _sizes(present(folder))
        before, still = files, still + 1 if files is not None and files == before else 0
        time.sleep(0.05)


def _sizes(folder: Path) -> set[tuple[str, int]] | None:
    """Return the files with their sizes; None if one was removed meanwhile."""
    try:
        return {(file.name, file.stat().st_size) for file in folder.iterdir() if file.name != "LOG"}
    except FileNotFoundError:
        return None


def _looked_at(folder: Path, states: list[dict[bytes, bytes | None]]) -> int | None:
    """Return the version that a read-only store finds, or None where damage is reported."""
    try:
        snapshot = RocksStore(folder, read_only=True).snapshot()
        assert values(snapshot) == states[snapshot.version]
    except StoreDamagedError as error:
        assert "check the disk; a replica" in str(error)  # noqa: PT017 - one of two outcomes
        return None
    return snapshot.version


CURRENTS = {
    "nothing": "",
    "position": '{"format": 1, "da',
    "no object": "[1]",
    "no text": "\udcff",
    "a number": '{"format": 1, "database": 7}',
    "an endless number": '{"format": Infinity, "database": "x"}',
    "somebody else's": '{"format": 1, "database": "../other"}',
    "itself": '{"format": 1, "database": ""}',
    "gone": '{"format": 1, "database": "database-0123456789ab"}',
}


@pytest.mark.parametrize("text", CURRENTS.values(), ids=CURRENTS)
def test_a_damaged_database_pointer_leaves_an_empty_store(
    folder: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A damaged pointer to the database is reported and leaves an empty store; opening it read-only is an error."""
    (folder / "other").mkdir()
    path = folder / "s"
    store = RocksStore(path)
    publish(store, {b"a": b"1"})
    store.close()
    (path / "CURRENT").write_text(text, errors="surrogateescape")
    with pytest.raises(StoreDamagedError, match="check the disk; a replica that uses it rebuilds it"):
        RocksStore(path, read_only=True)
    store = RocksStore(path)
    assert (store.resume_point, dict(store.snapshot())) == (None, {})
    assert "check the disk" in caplog.text
    publish(store, {b"b": b"2"})
    store.close()
    assert values(RocksStore(path).snapshot()) == {b"b": b"2"}
    assert (folder / "other").is_dir()


def test_a_missing_database_pointer_means_no_store(folder: Path) -> None:
    """Without the pointer to the database there is no store, as after a crash before the first version."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    store.close()
    (folder / "CURRENT").unlink()
    with pytest.raises(StoreError, match="it contains no version"):
        RocksStore(folder, read_only=True)
    store = RocksStore(folder)
    assert store.resume_point is None
    publish(store, {b"b": b"2"})
    assert len(list(folder.glob("database-*"))) == 1


@pytest.mark.parametrize("head", [b"", b"x", b"{}\n{}", b"[]\n[]", b'{"version": 1, "keys": 1, "partitions": []}\n{}'])
def test_a_database_without_a_version_record_is_damaged(folder: Path, head: bytes) -> None:
    """A database without a valid version record is damaged, whatever else is in it."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    batch = Batch()
    batch.put(b"h", head)
    store._generation_to_write().database.write(batch)
    store.close()
    with pytest.raises(StoreDamagedError, match="rebuilds it"):
        RocksStore(folder, read_only=True)
    assert RocksStore(folder).resume_point is None


@pytest.mark.parametrize(
    "garbage", [b"", b"short", b"\0" * 16 + b"\0\0\0\x09" + b"\0\0\0\0", b"\0" * 20 + b"\0\0\0\x09h"]
)
def test_an_invalid_record_raises_in_look_ups_and_scans(folder: Path, garbage: bytes) -> None:
    """An invalid record raises our error in look-ups by readers and the writer, and in scans; the store is damaged."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    batch = Batch()
    batch.put(b"da", garbage)
    store._generation_to_write().database.write(batch)
    publish(store, {b"b": b"2"})
    reads = (
        lambda: store.snapshot().get("a"),
        lambda: store.newest(b"a"),
        lambda: dict(store.snapshot()),
        lambda: list(store.snapshot().items()),
    )
    for read in reads:
        store._generation_to_write().database.is_damaged = False
        with pytest.raises(StoreDamagedError, match=r"reading a in .*: the stored value is not a record"):
            read()
        assert store.is_damaged


def damaged_while_open(folder: Path) -> RocksStore:
    """Return a store with a damaged record in its middle that nothing has read yet."""
    store = RocksStore(folder, block_cache_bytes=0)
    store.stage(delta(many(20_000, b"1" * 50)))
    publish(store, {b"last": b"1"}, 30_000)
    flip(max(present(folder).glob("*.sst"), key=lambda file: file.stat().st_size), 0.5)
    assert not store.is_damaged
    return store


@pytest.mark.thorough
def test_damage_is_met_in_a_walk(folder: Path) -> None:
    """Damage raises in scans of keys, when keys are counted, and in comparisons: no scan ends early in silence."""
    store = damaged_while_open(folder)
    held = store.snapshot()
    for walk in (list, len, lambda snapshot: list(snapshot.values())):
        with pytest.raises(StoreDamagedError, match=r"block checksum mismatch.*check the disk; a replica"):
            walk(held)
        assert store.is_damaged
    assert held["last"].value == b"1"
    store.rebuild()
    assert not store.is_damaged, "it is being mended"
    with pytest.raises(StoreDamagedError):
        list(held)
    assert not store.is_damaged, "and what is read of the old one changes nothing"
    assert publish(store, many(10, b"2")) is None, "nobody can say how they differ"
    assert values(store.snapshot()) == many(10, b"2")
    assert not store.is_damaged
    store.close()
    assert values(RocksStore(folder).snapshot()) == many(10, b"2")


@pytest.mark.thorough
def test_damage_is_met_in_a_look_up(folder: Path) -> None:
    """Damage raises in look-ups by readers and the writer; the rest of the present version stays readable."""
    store = damaged_while_open(folder)
    bad = []
    for key in many(20_000, b""):
        try:
            store.snapshot().get(key)
        except StoreDamagedError:
            bad.append(key)
    assert 0 < len(bad) < 2_000
    assert store.is_damaged
    with pytest.raises(StoreDamagedError):
        store.newest(bad[0])
    with pytest.raises(StoreDamagedError):
        publish(store, {bad[0]: b"2"}, 40_000)
    assert store.snapshot().version == 1
    held = store.snapshot()
    store.close()
    store = RocksStore(folder)  # a database that is known to be damaged is not opened again
    assert (store.resume_point, store.snapshot().version) == (None, 0)
    assert held["last"].value == b"1"


@pytest.mark.thorough
def test_a_replica_mends_its_store(folder: Path) -> None:
    """Damage met by a reader makes the replica rebuild its store next to the old version, and continue."""
    topic = FakeTopic()
    for number in range(2_000):
        topic.put(f"k{number}", b"v" * 50)
    store = RocksStore(folder, block_cache_bytes=0)
    with topic.replica(store) as replica:
        before = replica.wait_ready(timeout_s=60)
        for file in present(folder).glob("*.sst"):
            flip(file, 0.3)
        with pytest.raises(StoreDamagedError):
            list(before)
        del before
        position = topic.put("new", b"1")
        wait_until(lambda: is_whole(replica.wait_for(position, timeout_s=60)))
    assert len(values(RocksStore(folder).snapshot())) == 2_001


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["rocksdb", "checkpoint"])
def test_a_store_that_was_damaged_while_nobody_used_it_is_rebuilt_and_counted(
    folder: Path, kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The log has the damage, and that the replica is rebuilt; the alert on rebuilds needs the count."""
    topic = FakeTopic("codes")
    topic.put("a", b"1")

    def opened() -> Store:
        return RocksStore(folder / "store") if kind == "rocksdb" else MemoryStore(folder / "file")

    with topic.replica(opened()) as replica:
        replica.wait_ready(timeout_s=60)
        assert replica.status().counts.rebuilds == 0
    del replica  # a database that is still open would be used again
    gc.collect()
    if kind == "rocksdb":
        (present(folder / "store") / "CURRENT").unlink()
    else:
        flip(folder / "file", 0.3)
    with topic.replica(opened()) as replica:
        assert values(replica.wait_ready(timeout_s=60)) == {b"a": b"1"}
        assert replica.status().counts.rebuilds == 1
        assert replica.state is State.LIVE
    lines = [record.getMessage() for record in caplog.records]
    assert "the replica of codes is rebuilt, because its store was damaged" in lines
    assert any(str(folder) in line and "check the disk" in line.lower() for line in lines)


def is_whole(snapshot: Snapshot) -> bool:
    """Tell whether all of a snapshot can be read."""
    try:
        return len(values(snapshot)) == 2_001
    except StoreDamagedError:
        return False
