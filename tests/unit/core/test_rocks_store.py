"""The store on disk: the contract of all stores, and its own behaviour."""

from __future__ import annotations

import gc
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import ConfigurationError, Partition, Position, Record, RocksStore, Store, UsageError
from kafka_replica.errors import StoreError, StoreInUseError
from kafka_replica.stores.delta import Delta
from kafka_replica.stores.packed_keys import PackedKeys
from kafka_replica.stores.rocks import read_only as beside
from kafka_replica.stores.rocks import scan as walk
from kafka_replica.stores.rocks.codec import pack_record
from kafka_replica.stores.rocks.database import Batch, Database
from kafka_replica.stores.rocks.difference import difference
from kafka_replica.stores.rocks.folder import StoreFolder
from kafka_replica.stores.rocks.generation import Generation
from kafka_replica.stores.rocks.tuning import Tuning
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.rocks_tools import P, delta, many, new_folder, publish, run, values
from support.core.store_contract import StoreContract
from support.effort import usual_or_long


class TestRocksStore(StoreContract):
    """``RocksStore`` fulfils the contract of stores."""

    @pytest.fixture(autouse=True)
    def _folder(self) -> Iterator[None]:
        with new_folder() as folder:
            self.folder, self.made = folder, 0
            yield

    def make(self) -> Store:
        """Make an empty store."""
        self.made += 1
        return RocksStore(self.folder / str(self.made))


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder for stores."""
    with new_folder() as path:
        yield path


# --- reopening ---


def test_a_store_that_is_opened_again_is_the_same(folder: Path) -> None:
    """A reopened store has the same records, version, position, resume point and count, and continues from there.

    Small and staged versions are both tried.
    """
    store = RocksStore(folder)
    resume_point = ResumePoint(Position({P: 5}), {"t": "id"}, {P: 3}, 5, "all", "life")
    store.stage(delta({b"a": b"1", b"b": b"2"}))
    store.apply(delta({b"c": b"3"}), resume_point.position, resume_point)
    publish(store, {b"b": None, b"d": b"4", b"new": b"5"}, 5)
    store.stage(delta({b"a": None}, 8))
    store.apply(Delta(), resume_point.position, resume_point.with_position(Position({P: 9}), 17))
    records = dict(store.snapshot())
    assert len(store.snapshot()) == 3
    for _ in range(2):
        store.close()
        store = RocksStore(folder)
        snapshot = store.snapshot()
        assert (snapshot.version, snapshot.position, len(snapshot)) == (3, Position({P: 9}), 3)
        assert dict(snapshot) == records
        assert store.resume_point == resume_point.with_position(Position({P: 9}), 17)
        assert not store.is_damaged
    applied = publish(store, {b"c": None, b"e": b"6"}, 9)
    assert applied is not None
    assert (set(applied.changed), set(applied.deleted)) == ({b"e"}, {b"c"})
    assert (store.snapshot().version, len(store.snapshot())) == (4, 3)


def test_records_of_many_partitions_keep_their_places(folder: Path) -> None:
    """Records keep their partitions, also those added later and those first seen in parts that were discarded."""
    store = RocksStore(folder)
    places = [Partition(topic, number) for topic in "tu" for number in range(3)]
    records = [Record(str(place).encode(), b"v", 7, 0, (), place) for place in places]
    store.apply(Delta(records[:2]), Position())
    store.stage(Delta(records[2:4]))
    store.close()
    store = RocksStore(folder)
    store.apply(Delta(records[4:]), Position())
    store.close()
    found = dict(RocksStore(folder).snapshot())
    assert found == {record.key: record for record in records[:2] + records[4:]}


def test_a_snapshot_that_is_held_while_its_store_is_opened_again(folder: Path) -> None:
    """A held snapshot can be looked up and scanned, whatever the next store of this process does."""
    store = RocksStore(folder)
    publish(store, many(50, b"1"))
    held = store.snapshot()
    store.stage(delta(many(30, b"never")))
    store.close()
    store = RocksStore(folder, sync=True)
    assert values(store.snapshot()) == values(held) == many(50, b"1")
    publish(store, {**many(10, b"2"), b"new": b"2", b"k0000049": None})
    store.stage(delta(many(20, b"3")))
    publish(store, {b"k0000048": None})
    assert values(held) == many(50, b"1")
    assert len(held) == 50
    assert all(held[key].value == b"1" for key in many(50, b""))
    store.rebuild()
    publish(store, {b"other": b"4"})
    store.close()
    assert values(held) == many(50, b"1")
    assert values(RocksStore(folder).snapshot()) == {b"other": b"4"}


@pytest.mark.thorough
def test_a_snapshot_that_is_held_while_its_folder_is_removed(folder: Path) -> None:
    """A store of the same name is a different store, and releasing the old snapshot removes nothing from it."""
    store = RocksStore(folder / "s")
    publish(store, {b"a": b"1"})
    held = store.snapshot()
    store.rebuild()  # so that the first database is removed when its snapshot is released
    publish(store, {b"a": b"2"})
    store.close()
    shutil.rmtree(folder / "s")
    program = "from support.core.rocks_tools import *\nstore = RocksStore(sys.argv[1])\npublish(store, {b'b': b'3'})"
    run(program, folder / "s")  # another process, which does not see the store that is still open here
    assert values(held) == {b"a": b"1"}
    del held
    gc.collect()
    assert values(RocksStore(folder / "s").snapshot()) == {b"b": b"3"}


@pytest.mark.thorough
def test_databases_are_removed_when_nobody_reads_them(folder: Path) -> None:
    """A database is removed when it has no readers, not before; the next process removes those of an ended process."""

    def databases() -> int:
        return len(list(folder.glob("database-*")))

    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    held = [store.snapshot()]
    store.rebuild()
    assert databases() == 2
    publish(store, {b"a": b"2"})
    assert databases() == 2
    store.close()
    store = RocksStore(folder)
    assert values(held[0]) == {b"a": b"1"}
    assert databases() == 2
    held.clear()
    gc.collect()
    assert databases() == 1
    store.rebuild()
    store.stage(delta({b"a": b"3"}))
    assert databases() == 2
    store.rebuild()
    gc.collect()
    assert databases() == 2
    store.close()
    gc.collect()
    assert databases() == 1
    (folder / "database-0123456789ab").mkdir()
    assert values(RocksStore(folder).snapshot()) == {b"a": b"2"}
    assert databases() == 1


def test_forgotten_data_is_removed_at_once(folder: Path) -> None:
    """Forgotten data is removed at once, not with the next version: it must not be found after a crash."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    held = store.snapshot()
    store.rebuild(forget=True)
    store.close()
    store = RocksStore(folder)
    assert (store.resume_point, store.snapshot().version) == (None, 0)
    assert values(held) == {b"a": b"1"}


# --- ownership of the folder ---


@pytest.mark.thorough
def test_two_stores_on_one_folder(folder: Path) -> None:
    """A second store on a folder is refused with advice, in any process; both work once the first is closed."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    with pytest.raises(StoreInUseError, match="another replica uses it; give each replica its own folder"):
        RocksStore(folder)
    attempt = (
        "from kafka_replica.stores import RocksStore, StoreInUseError\n"
        "try: print(len(RocksStore(sys.argv[1]).snapshot()))\n"
        "except StoreInUseError as error: print(error)"
    )
    assert "another replica uses it; give each replica its own folder" in run(attempt, folder)
    held = store.snapshot()
    store.close()
    assert "for a snapshot still in use: release it there" in run(attempt, folder)
    assert len(held) == 1
    del held
    assert run(attempt, folder) == "1\n"
    assert values(RocksStore(folder).snapshot()) == {b"a": b"1"}


@pytest.mark.parametrize("name", ["notes.txt", "2024", "000001", "database-old"])
def test_unrelated_files_in_a_folder_are_never_removed(folder: Path, name: str) -> None:
    """Unrelated files in a folder are never removed as if they were an obsolete database."""
    (folder / name).mkdir()
    (folder / name / "thesis.txt").write_text("years of work")
    with pytest.raises(
        ConfigurationError, match=f"contains other files than a store .{name}.; use a new or empty folder"
    ):
        RocksStore(folder)
    assert (folder / name / "thesis.txt").read_text() == "years of work"


def test_a_volume_of_its_own(folder: Path) -> None:
    """A volume with a folder that file systems make is accepted."""
    (folder / "lost+found").mkdir()
    publish(RocksStore(folder), {b"a": b"1"})
    assert (folder / "lost+found").is_dir()


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    """The error names the reason why the folder cannot be made."""
    (folder / "file").write_text("")
    with pytest.raises(StoreError, match="use a folder that can be created"):
        RocksStore(folder / "file")


@pytest.mark.parametrize("settings", [{"block_cache_bytes": -1}, {"write_buffer_bytes": 65535}])
def test_sizes_that_cannot_be(folder: Path, settings: dict[str, Any]) -> None:
    """Invalid sizes are refused before anything is made."""
    with pytest.raises(ConfigurationError, match="block_cache_bytes is a number of bytes"):
        RocksStore(folder / "new", **settings)
    assert not (folder / "new").exists()


def test_a_newer_format_is_refused(folder: Path) -> None:
    """A newer format is refused and not taken for damage, which would remove it."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    store.close()
    kept = (folder / "CURRENT").read_text()
    (folder / "CURRENT").write_text(json.dumps({**json.loads(kept), "format": 2}))
    for read_only in (False, True):
        with pytest.raises(StoreError, match="has format 2, this version of kafka_replica writes 1: use a newer"):
            RocksStore(folder, read_only=read_only)
    (folder / "CURRENT").write_text(kept)
    assert values(RocksStore(folder).snapshot()) == {b"a": b"1"}


# --- read-only stores ---


def test_a_read_only_store_sees_only_published_versions(folder: Path) -> None:
    """A read-only store sees a published version with its resume point, never staged data, and cannot write.

    Its version does not change.
    """
    store = RocksStore(folder)
    with pytest.raises(StoreError, match="it contains no version; give the folder of a store"):
        RocksStore(folder, read_only=True)
    publish(store, many(100, b"1"))
    publish(store, {b"new": b"2"}, 100)
    store.stage(delta({**many(50, b"staged"), b"new": None, b"k0000099": None, b"x": b"staged"}, 200))
    store._generation_to_write().database.flush()  # so that another process could see it
    beside = RocksStore(folder, read_only=True)
    expected = {**many(100, b"1"), b"new": b"2"}
    publish(store, {b"y": b"3"}, 300)
    snapshot = beside.snapshot()
    assert (snapshot.version, snapshot.position, beside.resume_point) == (
        2,
        Position({P: 101}),
        ResumePoint(Position({P: 101})),
    )
    assert values(snapshot) == expected
    assert {key: snapshot[key].value for key in expected} == expected
    assert "x" not in snapshot
    assert len(snapshot) == 101
    calls = (
        lambda: beside.newest(b"new"),
        lambda: beside.stage(delta({})),
        lambda: publish(beside, {}),
        lambda: beside.save_resume_point(ResumePoint(Position())),
        beside.rebuild,
    )
    for call in calls:
        with pytest.raises(UsageError, match="opened with read_only=True; a replica needs a writable store"):
            call()
    assert RocksStore(folder, read_only=True).snapshot().version == 3
    beside.close()
    assert publish(store, {b"z": b"4"}, 400) is not None


@pytest.mark.thorough
def test_looking_writes_nothing(folder: Path) -> None:
    """Opening read-only changes no byte in the folder; its temporary files are removed with the last reader."""
    store = RocksStore(folder)
    publish(store, many(100, b"1"))
    store.close()  # while it is open, its own threads write to RocksDB's log, some time after a flush
    del store
    gc.collect()
    before = {file: file.stat().st_mtime_ns for file in folder.rglob("*")}
    beside = RocksStore(folder, read_only=True)
    snapshot = beside.snapshot()
    (links,) = _link_folders(folder)
    beside.close()
    del beside
    assert values(snapshot) == many(100, b"1")
    assert {file: file.stat().st_mtime_ns for file in folder.rglob("*")} == before
    del snapshot
    gc.collect()
    assert not links.exists()


def _link_folders(store: Path) -> list[Path]:
    """Return the temporary folders with links to the files of a store."""
    folders = Path(tempfile.gettempdir()).glob("kafka-replica-*")
    return [each for each in folders if any(store in link.resolve().parents for link in each.glob("CURRENT"))]


_ON_A_READ_ONLY_FILE_SYSTEM = """
import os
import sys
from pathlib import Path
from support.core.rocks_tools import RocksStore, values
from kafka_replica.stores.read_only import look
folder = sys.argv[1]
try:
    Path(folder, "x").touch()
except OSError as error:
    assert error.errno == 30, error  # EROFS
else:
    raise AssertionError("it can be written")
print(len(values(RocksStore(folder, read_only=True).snapshot())), len(look(folder).snapshot))
"""


@pytest.mark.thorough
@pytest.mark.parametrize("is_being_written", [True, False])
def test_looking_on_a_read_only_file_system(folder: Path, *, is_being_written: bool) -> None:
    """A volume mounted read-only here can be opened, whether another process writes to it or not."""
    store = RocksStore(folder)
    publish(store, many(100, b"1"))
    store._generation_to_write().database.flush()
    publish(store, {b"new": b"1"}, 100)
    if not is_being_written:
        store.close()
        del store
        gc.collect()
    mount = 'mount --bind "$1" "$1" && mount -o remount,ro,bind "$1"'
    own = ["unshare", "--mount", *([] if os.geteuid() == 0 else ["--map-root-user"])]
    possible = shutil.which("unshare") and subprocess.run(
        [*own, "sh", "-c", mount, "sh", str(folder)], check=False, capture_output=True
    )
    if not possible or possible.returncode:
        pytest.skip("SKIPPED LOUDLY: this user may not mount anything read-only (unshare --mount); run it as root")
    line = shlex.join([sys.executable, "-c", _ON_A_READ_ONLY_FILE_SYSTEM, str(folder)])
    done = subprocess.run(
        [*own, "sh", "-c", f"{mount} && {line}", "sh", str(folder)],
        check=False, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout.split() == ["101", "101"], done


def test_a_look_that_was_overtaken_is_repeated(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A read-only open is repeated when RocksDB read the list of files before a change and the log after it."""
    store = RocksStore(folder)
    publish(store, {b"a": b"1"})
    real = beside._open
    looks: list[Generation] = []

    def slow(*arguments: Any) -> Generation:
        found = real(*arguments)
        if len(looks) < 2:
            store.stage(delta({b"a": b"%d" % len(looks)}))
            publish(store, {b"b": b"2"}, 100)
        looks.append(found)
        return found

    monkeypatch.setattr(beside, "_open", slow)
    assert RocksStore(folder, read_only=True).snapshot().version == 3
    assert len(looks) == 3


def test_a_database_may_be_removed_while_files_are_listed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The writer may remove a database between the moments at which it was found and at which its files are listed."""
    store = RocksStore(folder)
    publish(store, many(3, b"1"))
    store.close()
    looked_at = StoreFolder(folder, read_only=True)
    before, database = beside._state_marker(looked_at), looked_at.current()
    assert database is not None
    shutil.rmtree(database)
    monkeypatch.setattr(Path, "is_dir", lambda _: True)  # as it was a moment ago
    assert beside._state_marker(looked_at) != before


@pytest.mark.thorough
def test_looking_never_finds_half_a_version(folder: Path) -> None:
    """Opening read-only never finds half a version, however often and whatever the writer does.

    The writer stages versions, rebuilds, and flushes buffers.
    """
    store = RocksStore(folder, write_buffer_bytes=1 << 16)
    publish(store, many(300, b"1" * 50))
    ended = threading.Event()
    problems: list[object] = []

    def look() -> None:
        try:
            while not ended.is_set():
                try:
                    beside = RocksStore(folder, read_only=True)
                except StoreError as error:  # on a slow machine the writer is always faster, and that is reported
                    if "changed constantly" not in str(error):
                        raise
                    continue
                found = {record.value for record in beside.snapshot().values()}
                snapshot = beside.snapshot()
                if found != {b"%d" % snapshot.version * 50} or len(list(snapshot)) != len(snapshot):
                    problems.append((snapshot.version, {value[:10] for value in found if value}))
                looks.append(snapshot.version)
        except BaseException as error:
            problems.append(error)
            raise

    looks: list[int] = []
    looker = threading.Thread(target=look)
    looker.start()
    try:
        number = 1
        while len(set(looks)) < 25 and looker.is_alive():
            number += 1
            value = b"%d" % number * 50
            if number % 5 == 0:
                store.rebuild()
            if number % 2:
                store.stage(delta(many(200, value)))
            publish(store, many(300, value), number * 1_000)
            ended.wait(0.005)  # otherwise most looks are too slow for the writer, and are made again
    finally:
        ended.set()
        looker.join()
    assert not problems


# --- unusual records ---


@pytest.mark.thorough
@pytest.mark.scaled
def test_unusual_records_come_back_byte_for_byte(folder: Path) -> None:
    """Empty, huge and binary keys, values, names and headers come back byte for byte, also from disk."""
    headers = (("", b""), ("", None), ("é", b"\0"), ("\udcff", b"x"), ("n" * 70_000, b"v" * 70_000), ("a", None))
    keys = [b"", b"\0", b"\xff\xfe", b"\xff" * 100_000, b"d", b"h", b"o", "é".encode()]
    records = [Record(key, value, (1 << 63) - 1, -1, headers, P) for key in keys for value in (b"",)]
    records += [Record(b"big", bytes(range(256)) * (usual_or_long(16, 100) << 12), 0, 0, (), P)]  # MB
    store = RocksStore(folder)
    store.stage(Delta(records[:3]))
    store.apply(Delta(records[3:]), Position({P: 9}))
    for _ in range(2):
        snapshot = store.snapshot()
        assert all(snapshot[record.key] == record for record in records)
        assert sum(record in records for record in snapshot.values()) == len(records) == len(snapshot)
        store.close()
        store = RocksStore(folder)
    store.stage(Delta([record.replace(value=None) for record in records[::2]]))
    applied = store.apply(Delta(), Position({P: 10}))
    assert applied is not None
    assert list(applied.deleted) == sorted(record.key for record in records[::2])


@pytest.mark.thorough
@settings(deadline=None)
@given(st.lists(st.binary(max_size=5)), st.data())
def test_packed_keys_behave_like_a_list(keys: list[bytes], data: st.DataObject) -> None:
    """Packed keys are a sequence that behaves like a list of them."""
    packed = PackedKeys()
    for key in keys:
        packed.append(key)
    assert list(packed) == keys
    assert (len(packed), bool(packed)) == (len(keys), bool(keys))
    assert [packed[at] for at in range(-len(keys), len(keys))] == keys + keys
    at = data.draw(st.slices(len(keys)))
    assert packed[at] == keys[at]
    assert list(reversed(packed)) == keys[::-1]
    for outside in (len(keys), -len(keys) - 1):
        with pytest.raises(IndexError):
            packed[outside]
    for key in [*keys, b"other"]:
        assert (key in packed) == (key in keys)
        assert packed.count(key) == keys.count(key)


records_stored = st.dictionaries(
    st.binary(max_size=2), st.tuples(st.integers(0, 3), st.integers(0, 3), st.binary(max_size=1)), max_size=8
)


@pytest.mark.thorough
@settings(deadline=None)
@given(records_stored, records_stored)
def test_the_difference_depends_only_on_content(
    old: dict[bytes, tuple[int, int, bytes]], new: dict[bytes, tuple[int, int, bytes]]
) -> None:
    """The difference of two generations depends on their records' content, not on offset, timestamp or partition."""

    def stored(state: dict[bytes, tuple[int, int, bytes]]) -> Iterator[tuple[bytes, bytes]]:
        return iter(
            [(key, pack_record((key, value, at, at, ()), place)) for key, (at, place, value) in sorted(state.items())]
        )

    applied = difference(stored(old), stored(new))
    assert list(applied.changed) == sorted(key for key in new if key not in old or old[key][2] != new[key][2])
    assert list(applied.deleted) == sorted(old.keys() - new.keys())


# --- many threads, large data ---


def write_in_parts(store: RocksStore, number: int) -> None:
    """Write a version in which all keys have one value, as many as its number says; sometimes through a rebuild."""
    value, count = b"%d" % number, 60 + number % 40
    if number % 7 == 0:
        store.rebuild()
    for first in range(0, 60, 20):
        store.stage(delta(many(20, value, first)))
    publish(store, {**dict.fromkeys(many(100, b"")), **many(count, value)}, number * 1_000)
    if number % 5 == 0:
        store.stage(delta(many(90, b"taken back")))
        store._generation_to_write().roll_back()


@pytest.mark.thorough
def test_scans_stay_whole_during_writes(folder: Path) -> None:
    """Threads scan whole versions in every way while parts are staged, applied, discarded and rebuilt."""
    store = RocksStore(folder, write_buffer_bytes=1 << 16)
    publish(store, many(100, b"1"))
    ended = threading.Event()
    torn: list[object] = []
    walks: list[int] = []

    def read() -> None:
        while not ended.is_set():
            snapshot = store.snapshot()
            for _ in range(2):
                found = {record.value for record in snapshot.values()}
                keys = list(snapshot)
                if snapshot.version and (len(found) != 1 or len(keys) != len(set(keys)) or len(keys) != len(snapshot)):
                    torn.append((snapshot.version, found, len(keys), len(snapshot)))
            walks.append(snapshot.version)

    readers = [threading.Thread(target=read) for _ in range(2)]
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for reader in readers:
            reader.start()
        number = 1
        while len(set(walks)) < 40 and all(reader.is_alive() for reader in readers):
            number += 1
            write_in_parts(store, number)
    finally:
        ended.set()
        for reader in readers:
            reader.join()
        sys.setswitchinterval(before)
    assert not torn


@pytest.mark.parametrize("moment", ["published", "taken back"])
def test_a_scan_stays_right_when_staged_data_disappears(
    folder: Path, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scan stays right if staged data disappears between its two reads of the database.

    The first read shows the staged data, the second does not.
    """
    store = RocksStore(folder)
    publish(store, many(10, b"1"))
    held, generation = store.snapshot(), store._generation_to_write()
    store.stage(delta({**many(5, b"2"), b"new": b"2", b"k0000009": None}))
    real = walk.staged

    def late(database: Database) -> walk.Entries:
        monkeypatch.undo()
        if moment == "published":
            publish(store, {b"more": b"2"}, 100)
        else:
            generation.roll_back()
        return real(database)

    monkeypatch.setattr(walk, "staged", late)
    assert values(held) == many(10, b"1")


def test_a_snapshot_that_is_held_for_long_costs_no_more_than_its_keys(folder: Path) -> None:
    """A value overwritten repeatedly under a held snapshot is remembered once."""
    store = RocksStore(folder)
    publish(store, many(10, b"0"))
    held = store.snapshot()
    for number in range(200):
        publish(store, many(5, b"%d" % number), number)
    links, link = 0, held._link
    while link.newer is not None:
        links, link = links + 1, link.newer
    assert links < 64
    assert held._touched == many(5, b"").keys()
    assert values(held) == many(10, b"0")


@pytest.mark.long
@pytest.mark.thorough
def test_a_version_larger_than_memory(folder: Path) -> None:
    """Adding 500 MB in parts to existing data needs little memory, and so does a scan meanwhile."""
    printed = run(
        """
import os, psutil, random
from support.core.rocks_tools import *
from kafka_replica.stores.delta import Delta
me, value = psutil.Process(), random.Random(1).randbytes(8_000)  # which compression makes no smaller
store = RocksStore(sys.argv[1], block_cache_bytes=8 << 20, write_buffer_bytes=8 << 20)
def part(number, value):
    return delta({b"%06d" % (number * 1_000 + at): value for at in range(1_000)})
for number in range(63): store.stage(part(number, b"small"))
store.apply(Delta(), Position({P: 1}))
before = peak = me.memory_info().rss
for number in range(63):
    store.stage(part(number, value))
    peak = max(peak, me.memory_info().rss)
assert all(record.value == b"small" for record in store.snapshot().values())
peak = max(peak, me.memory_info().rss)
applied = store.apply(Delta(), Position({P: 2}))
peak = max(peak, me.memory_info().rss)
assert len(applied.changed) == len(store.snapshot()) == 63000
print((peak - before) >> 20)
""",
        folder,
    )
    assert int(printed) < 150


def test_sync_waits_for_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By RocksDB's own count each version syncs once with ``sync`` and never without; unlogged parts skip the log."""
    made = []
    options = Tuning.options

    def counting(self: Tuning, *, creates: bool) -> object:
        made.append(options(self, creates=creates))
        made[-1].enable_statistics()
        return made[-1]

    monkeypatch.setattr(Tuning, "options", counting)

    def count(name: str) -> int:
        text = made[-1].get_statistics()
        assert text is not None
        return int(
            next(line for line in text.splitlines() if line.startswith(f"rocksdb.{name} ")).rsplit(maxsplit=1)[1]
        )

    for is_synced in (True, False):
        database = Database(folder / str(is_synced), Tuning(is_synced=is_synced))
        for _ in range(5):
            batch = Batch()
            batch.put(b"k", b"v")
            database.write(batch)
        assert count("wal.synced") == (5 if is_synced else 0)
        logged = count("wal.bytes")
        assert logged > 0
        batch = Batch()
        batch.put(b"k", b"v" * 1_000)
        database.write(batch, is_logged=False)
        assert count("wal.bytes") == logged
    database.sync_always(True)
    batch = Batch()
    batch.put(b"k", b"v")
    database.write(batch)
    assert count("wal.synced") == 1


# --- rocksdict ---


def test_rocksdict_look_ups_show_the_snapshot_and_scans_the_present(folder: Path) -> None:
    """Lookups of rocksdict show the snapshot, which the store relies on; its scans show the present (0.3.29).

    When scans show the snapshot, too, ``walk`` can be simpler.
    """
    database = Database(folder / "d", Tuning())
    batch = Batch()
    for key in (b"changed", b"deleted", b"kept"):
        batch.put(key, b"then")
    database.write(batch)
    view = database.view()
    batch = Batch()
    batch.put(b"changed", b"now")
    batch.delete(b"deleted")
    batch.put(b"new", b"now")
    database.write(batch)
    database.flush()
    database._db.compact_range(None, None)
    assert [view.get(key) for key in (b"changed", b"deleted", b"kept", b"new")] == [b"then", b"then", b"then", None]
    walked = dict(view._snapshot.items())
    assert walked == {b"changed": b"now", b"kept": b"then", b"new": b"now"}, (
        "rocksdict goes through snapshots now: let RocksSnapshot do so, and remove links and walk.py"
    )
