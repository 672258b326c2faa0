"""The checkpoint file of a memory store: the store contract across restarts, contents, ownership."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import ConfigurationError, MemoryStore, Partition, Position, Record, Snapshot, Store
from kafka_replica.errors import StoreDamagedError, StoreError, StoreInUseError
from kafka_replica.records import Stored
from kafka_replica.stores import checkpoint_file as saver
from kafka_replica.stores import checkpoint_writer
from kafka_replica.stores.checkpoint import load
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.checkpoint_tools import PATIENCE_S, bookmark_of, opened, opened_and_closed, saved
from support.core.store_contract import SHARED, P, StoreContract, records, values
from support.waiting import wait_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a path for a checkpoint file."""
    return tmp_path / "state"


# --- the contract ---


class Restarting:
    """A memory store that is closed and opened again with its file at every third access."""

    part_bytes: int | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store = opened(path)
        self._may_restart = True
        self._looks = 0
        self._lock = threading.RLock()

    @property
    def resume_point(self) -> ResumePoint | None:
        """Return the store's resume point."""
        return self._store.resume_point

    @property
    def is_damaged(self) -> bool:
        """Tell whether the store is damaged."""
        return self._store.is_damaged

    @property
    def damage(self) -> StoreDamagedError | None:
        """Return the damage that was found when the store was opened."""
        return self._store.damage

    def snapshot(self) -> Snapshot:
        """Return a snapshot, at times after a restart."""
        with self._lock:
            self._looks += 1
            if self._may_restart and self._looks % 3 == 1:
                self._store.close()
                self._store = opened(self._path)
            return self._store.snapshot()

    def newest(self, key: bytes) -> Stored | None:
        """Return the store's newest record of a key."""
        return self._store.newest(key)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Return the store's offsets."""
        return self._store.offsets()

    def stage(self, delta: Delta) -> None:
        """Stage without a restart: staged data does not outlive the process."""
        with self._lock:
            self._may_restart = False
            self._store.stage(delta)

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> AppliedChanges | None:
        """Apply a delta to records mapped from the file."""
        with self._lock:
            self._may_restart = True
            return self._store.apply(delta, position, resume_point)

    def save_resume_point(self, resume_point: ResumePoint) -> None:
        """Save the resume point in the store."""
        self._store.save_resume_point(resume_point)

    def rebuild(self, *, forget: bool = False) -> None:
        """Rebuild without a restart."""
        with self._lock:
            self._may_restart = False
            self._store.rebuild(forget=forget)

    def close(self) -> None:
        """Close the store."""
        self._may_restart = False
        self._store.close()


class _InFolders(StoreContract):
    """Stores with a file each that do not sync to disk: nothing crashes here."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(os, "fsync", lambda _: None)
        self.folder, self.made = tmp_path, list[tuple[Path, Store]]()
        yield
        self._end(0)

    def make(self) -> Store:
        """Make an empty store, and close all earlier ones except the last."""
        self._end(1)
        path = self.folder / f"{time.monotonic_ns()}"
        store = self.open(path)
        self.made.append((path, store))
        return store

    def open(self, path: Path) -> Store:
        """Open a store with this file."""
        raise NotImplementedError

    def _end(self, but: int) -> None:
        """Close the oldest stores until ``but`` are left, and check that each one's file gives its last version."""
        while len(self.made) > but:
            path, store = self.made.pop(0)
            store.close()
            last = store.snapshot()
            again = opened(path)
            assert again.snapshot().version == last.version
            assert dict(again.snapshot()) == dict(last)
            again.close()


class TestStartedAgain(_InFolders):
    """The contract holds for a store that was started from a file."""

    def open(self, path: Path) -> Store:
        """Open a store that is closed and opened again repeatedly."""
        return Restarting(path)


class TestSavedAtIntervals(_InFolders):
    """The contract holds while another thread saves continuously."""

    def open(self, path: Path) -> Store:
        """Open a store that is saved every millisecond."""
        return MemoryStore(path, checkpoint_every_s=0.001)


# --- saved content ---

_places = st.sampled_from([Partition("t", 0), Partition("t", 7), Partition("ü", 0)])
_keys = st.one_of(st.binary(max_size=4), st.sampled_from([b"", b"\n", b"a\n", b"\na", b"\0", "klé".encode()]))
_names = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"])),
    st.just(b"\xff\xfe").map(lambda name: name.decode(errors="surrogateescape")),
)
_headers = st.lists(st.tuples(_names, st.none() | st.binary(max_size=3)), max_size=3).map(tuple)
_found = st.builds(
    Record,
    key=_keys,
    value=st.none() | st.binary(max_size=300),
    offset=st.integers(0, 2**63 - 1),
    timestamp_ms=st.integers(-1, 2**63 - 1),
    headers=_headers,
    source=_places,
)
_deltas = st.lists(st.lists(_found, max_size=8), min_size=1, max_size=4)


@pytest.mark.thorough
@SHARED
@given(_deltas, st.booleans(), st.booleans())
def test_a_saved_store_comes_back_after_restarts(deltas: list[list[Record]], is_plain: bool, reads: bool) -> None:
    """Any keys, headers, positions and deletions, and version, position and resume point, survive several restarts."""
    model: dict[bytes, Record] = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "state"
        for number, delta in enumerate(deltas, 1):
            found = [record.replace(source=P) if is_plain else record for record in delta]
            store = opened(path)
            mark = bookmark_of(Position({P: number}))
            if is_plain:  # as a follower of one partition passes them
                store.apply(Delta([(*record[:5],) for record in found], P), mark.position, mark)
            else:
                store.apply(Delta(found), mark.position, mark)
            model |= {record.key: record for record in found}
            model = {key: record for key, record in model.items() if record.value is not None}
            store.close()
            store = opened(path)
            snapshot = store.snapshot()
            assert (snapshot.version, snapshot.position, store.resume_point) == (number, mark.position, mark)
            assert len(snapshot) == len(model)
            assert not reads or dict(snapshot) == model  # otherwise the next file has unread records
            store.close()
        assert dict(opened_and_closed(path).snapshot()) == model


def test_records_of_a_replaced_file_can_still_be_read(path: Path) -> None:
    """Records of a replaced file, and of earlier snapshots, can still be read from that file."""
    saved(path, {b"a": b"1", b"b": b"1", b"c": b"1"})
    store = opened(path)
    held = store.snapshot()
    store.apply(Delta(records([(b"a", b"2"), (b"b", None)], 10)), Position({P: 12}))
    store.close()
    again = opened_and_closed(path).snapshot()
    assert values(again) == {b"a": b"2", b"c": b"1"}
    assert values(held) == {b"a": b"1", b"b": b"1", b"c": b"1"}
    assert values(store.snapshot()) == values(again)


def test_a_bookmark_without_news_costs_no_new_file(path: Path) -> None:
    """A resume point that only moves on is noted at the end of the file, any number of times, without a new file."""
    mark = saved(path, {b"a": b"1"})
    was, size = path.stat(), path.stat().st_size
    for number in range(3):
        store = opened(path)
        mark = mark.with_position(Position({P: 10 + number}), 1_000 + number)
        store.save_resume_point(mark)
        store.close()
        assert os.path.samestat(path.stat(), was)
        size, before = path.stat().st_size, size
        assert size > before
        again = opened_and_closed(path)
        assert again.resume_point == mark
        assert again.snapshot().position == mark.position
        assert path.stat().st_size == size  # nothing to note
        assert values(again.snapshot()) == {b"a": b"1"}


@pytest.mark.thorough
def test_notes_do_not_grow_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a certain size of notes the file is written again from scratch, with the newest note."""
    monkeypatch.setattr(saver, "_NOTES_BYTES", 2_000)
    saved(path, {b"a": b"1"})
    small = path.stat().st_size
    store = MemoryStore(path, checkpoint_every_s=0.001)
    sizes = [small]
    for number in range(30):
        mark = bookmark_of(Position({P: 10 + number}))
        store.save_resume_point(mark)
        wait_until(lambda mark=mark: load(path).note.resume_point == mark)  # type: ignore[misc]
        sizes.append(path.stat().st_size)
    store.close()
    assert max(sizes) < small + 3_000
    assert sorted(sizes) != sizes
    assert values(opened_and_closed(path).snapshot()) == {b"a": b"1"}


def test_a_file_that_was_removed_is_written_whole(path: Path) -> None:
    """A file that was removed is written in full: a note at the end of nothing would be worthless."""
    mark = saved(path, {b"a": b"1"})
    store = opened(path)
    path.rename(path.with_name("taken"))
    path.write_bytes(b"of somebody else")
    store.save_resume_point(mark.with_position(Position({P: 10}), 1_000))
    store.close()
    assert values(opened_and_closed(path).snapshot()) == {b"a": b"1"}


def test_a_save_that_ends_after_its_data_was_forgotten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """New data is saved although a save of forgotten data, with the same number and resume point, ends later."""
    begun, may_end, write = threading.Event(), threading.Event(), checkpoint_writer.write

    def slow(*image: Any) -> Any:
        begun.set()
        assert may_end.wait(PATIENCE_S)
        return write(*image)

    monkeypatch.setattr(saver, "write", slow)
    store, mark = MemoryStore(path, checkpoint_every_s=0.001), bookmark_of(Position({P: 1}))
    store.apply(Delta(records([(b"old", b"1")])), mark.position, mark)
    assert begun.wait(PATIENCE_S)
    store.rebuild(forget=True)
    store.apply(Delta(records([(b"new", b"1")])), mark.position, mark)
    may_end.set()
    store.close()
    assert values(opened_and_closed(path).snapshot()) == {b"new": b"1"}


def test_the_life_of_a_saved_version_is_over(path: Path) -> None:
    """A saved version loses its incarnation: versions published after the save had the numbers that come next."""
    store = opened(path)
    store.apply(Delta(records([(b"a", b"1")])), Position({P: 1}), ResumePoint(Position({P: 1}), incarnation="first"))
    store.close()
    mark = opened_and_closed(path).resume_point
    assert mark is not None
    assert not mark.incarnation


def test_a_changed_store_is_saved_at_intervals(path: Path) -> None:
    """A store is saved while it is used, without being closed; without changes nothing is written."""
    store = MemoryStore(path, checkpoint_every_s=0.01)
    for number in range(1, 4):
        store.apply(Delta(records([(b"a", str(number).encode())], number)), Position({P: number}))
        wait_until(lambda number=number: path.exists() and load(path).note.version == number)  # type: ignore[misc]
    was = path.stat().st_mtime_ns
    time.sleep(0.1)
    assert path.stat().st_mtime_ns == was
    mark = bookmark_of(Position({P: 9}))
    store.save_resume_point(mark)
    wait_until(lambda: load(path).note.resume_point == mark)
    store.close()


# --- ownership of the file ---


@pytest.mark.thorough
def test_a_second_store_on_a_file_is_refused(path: Path) -> None:
    """A second store on a file is refused, in this and other processes; a store closed by any thread does not count."""
    first = opened(path)
    with pytest.raises(StoreInUseError, match="another store uses it"):
        opened(path)
    program = f"from kafka_replica import MemoryStore; MemoryStore({str(path)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], check=False, capture_output=True, text=True, timeout=PATIENCE_S
    )
    assert "StoreInUseError" in done.stderr
    closing = threading.Thread(target=first.close)
    closing.start()
    closing.join()
    opened(path).close()


def test_impossible_arguments_are_refused(tmp_path: Path, path: Path) -> None:
    """A folder as the file, an interval of zero, and a path below a file are refused."""
    with pytest.raises(ConfigurationError, match="is a folder"):
        MemoryStore(tmp_path)
    with pytest.raises(ConfigurationError, match="checkpoint_every_s"):
        MemoryStore(path, checkpoint_every_s=0)
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="use a writable file"):
        MemoryStore(path / "below")
