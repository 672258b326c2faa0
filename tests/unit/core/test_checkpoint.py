"""The checkpoint file of a memory store: the contract of stores across restarts, what comes back, whose it is."""

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

from kafka_replica import (
    ConfigurationError,
    MemoryStore,
    Partition,
    Position,
    Record,
    Snapshot,
    Store,
    StoreError,
    StoreInUseError,
)
from kafka_replica.records import Stored
from kafka_replica.stores import checkpoint_file as saver
from kafka_replica.stores.checkpoint import load
from kafka_replica.stores.delta import Applied, Delta
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.checkpoint_tools import PATIENCE_S, bookmark_of, opened, opened_and_closed, saved, until
from support.core.store_contract import SHARED, P, StoreContract, records, values


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a checkpoint file may be made."""
    return tmp_path / "state"


# --- the contract ---


class Restarting:
    """A memory store that is closed, and opened anew with its file, at every third look at it."""

    part_bytes: int | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._store = opened(path)
        self._may_restart = True
        self._looks = 0
        self._lock = threading.RLock()

    @property
    def resume_point(self) -> ResumePoint | None:
        """As the store says."""
        return self._store.resume_point

    @property
    def is_damaged(self) -> bool:
        """As the store says."""
        return self._store.is_damaged

    def snapshot(self) -> Snapshot:
        """After a restart, now and then."""
        with self._lock:
            self._looks += 1
            if self._may_restart and self._looks % 3 == 1:
                self._store.close()
                self._store = opened(self._path)
            return self._store.snapshot()

    def newest(self, key: bytes) -> Stored | None:
        """As the store says."""
        return self._store.newest(key)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Return those of the store."""
        return self._store.offsets()

    def stage(self, delta: Delta) -> None:
        """No restart now: what is staged does not outlive it."""
        with self._lock:
            self._may_restart = False
            self._store.stage(delta)

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> Applied | None:
        """Into what was mapped."""
        with self._lock:
            self._may_restart = True
            return self._store.apply(delta, position, resume_point)

    def note(self, resume_point: ResumePoint) -> None:
        """As the store does."""
        self._store.note(resume_point)

    def rebuild(self, *, forget: bool = False) -> None:
        """No restart now, either."""
        with self._lock:
            self._may_restart = False
            self._store.rebuild(forget=forget)

    def close(self) -> None:
        """As the store does."""
        self._may_restart = False
        self._store.close()


class _InFolders(StoreContract):
    """Each store has a file of its own, and the disk is not waited for: nothing crashes here."""

    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
        monkeypatch.setattr(os, "fsync", lambda _: None)
        self.folder, self.made = tmp_path, list[tuple[Path, Store]]()
        yield
        self._end(0)

    def make(self) -> Store:
        """An empty one; of those before only the last one goes on."""
        self._end(1)
        path = self.folder / f"{time.monotonic_ns()}"
        store = self.open(path)
        self.made.append((path, store))
        return store

    def open(self, path: Path) -> Store:
        """With this file."""
        raise NotImplementedError

    def _end(self, but: int) -> None:
        """Closes them; what they had can be begun with again."""
        while len(self.made) > but:
            path, store = self.made.pop(0)
            store.close()
            last = store.snapshot()
            again = opened(path)
            assert again.snapshot().version == last.version
            assert dict(again.snapshot()) == dict(last)
            again.close()


class TestStartedAgain(_InFolders):
    """The contract, for what was begun with a file."""

    def open(self, path: Path) -> Store:
        """Closed and opened again and again."""
        return Restarting(path)


class TestSavedAtIntervals(_InFolders):
    """The contract, while another thread saves all the time."""

    def open(self, path: Path) -> Store:
        """Saved every millisecond."""
        return MemoryStore(path, checkpoint_every_s=0.001)


# --- what comes back ---

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


@SHARED
@given(_deltas, st.booleans(), st.booleans())
def test_what_was_saved_comes_back(deltas: list[list[Record]], is_plain: bool, reads: bool) -> None:
    """Any keys, headers and places; deletions stay deletions; number, cut and bookmark too, over several starts."""
    model: dict[bytes, Record] = {}
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "state"
        for number, delta in enumerate(deltas, 1):
            found = [record._replace(source=P) if is_plain else record for record in delta]
            store = opened(path)
            mark = bookmark_of(Position({P: number}))
            if is_plain:  # as a follower of one partition hands them over
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
            assert not reads or dict(snapshot) == model  # else the next file is made of what nobody looked at
            store.close()
        assert dict(opened_and_closed(path).snapshot()) == model


def test_a_new_file_is_made_while_the_old_one_is_read(path: Path) -> None:
    """Records of a file that was replaced, and of snapshots from before, are read from it all the same."""
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
    """What is only known to stand for more is noted at the end of the file, any number of times."""
    mark = saved(path, {b"a": b"1"})
    was, size = path.stat(), path.stat().st_size
    for number in range(3):
        store = opened(path)
        mark = mark.moved(Position({P: 10 + number}), 1_000 + number)
        store.note(mark)
        store.close()
        assert os.path.samestat(path.stat(), was)
        size, before = path.stat().st_size, size
        assert size > before
        again = opened_and_closed(path)
        assert again.resume_point == mark
        assert again.snapshot().position == mark.position
        assert path.stat().st_size == size  # nothing to note
        assert values(again.snapshot()) == {b"a": b"1"}


def test_notes_do_not_grow_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After so many of them the file is written anew, with the newest."""
    monkeypatch.setattr(saver, "_NOTES_BYTES", 2_000)
    saved(path, {b"a": b"1"})
    small = path.stat().st_size
    store = MemoryStore(path, checkpoint_every_s=0.001)
    sizes = [small]
    for number in range(30):
        mark = bookmark_of(Position({P: 10 + number}))
        store.note(mark)
        until(lambda mark=mark: load(path).note.resume_point == mark)  # type: ignore[misc]
        sizes.append(path.stat().st_size)
    store.close()
    assert max(sizes) < small + 3_000
    assert sorted(sizes) != sizes
    assert values(opened_and_closed(path).snapshot()) == {b"a": b"1"}


def test_a_file_that_was_removed_is_written_whole(path: Path) -> None:
    """A note at the end of nothing would be worth nothing."""
    mark = saved(path, {b"a": b"1"})
    store = opened(path)
    path.rename(path.with_name("taken"))
    path.write_bytes(b"of somebody else")
    store.note(mark.moved(Position({P: 10}), 1_000))
    store.close()
    assert values(opened_and_closed(path).snapshot()) == {b"a": b"1"}


def test_a_save_that_ends_after_its_data_was_forgotten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes next has the same number and may have the same bookmark: it is saved all the same."""
    begun, may_end, write = threading.Event(), threading.Event(), saver.write

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
    """Versions shown after it was saved had the numbers that come next: nobody may take the one for the other."""
    store = opened(path)
    store.apply(Delta(records([(b"a", b"1")])), Position({P: 1}), ResumePoint(Position({P: 1}), incarnation="first"))
    store.close()
    mark = opened_and_closed(path).resume_point
    assert mark is not None
    assert not mark.incarnation


def test_intervals(path: Path) -> None:
    """It is saved while the store is used, without being closed; with nothing new, nothing is written."""
    store = MemoryStore(path, checkpoint_every_s=0.01)
    for number in range(1, 4):
        store.apply(Delta(records([(b"a", str(number).encode())], number)), Position({P: number}))
        until(lambda number=number: path.exists() and load(path).note.version == number)  # type: ignore[misc]
    was = path.stat().st_mtime_ns
    time.sleep(0.1)
    assert path.stat().st_mtime_ns == was
    mark = bookmark_of(Position({P: 9}))
    store.note(mark)
    until(lambda: load(path).note.resume_point == mark)
    store.close()


# --- whose it is ---


def test_one_store_a_file(path: Path) -> None:
    """The second is refused, in this process and in another one; one that any thread closed is out of the way."""
    first = opened(path)
    with pytest.raises(StoreInUseError, match="another store has it"):
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


def test_what_cannot_be_is_refused(tmp_path: Path, path: Path) -> None:
    """A folder, an interval of nothing, a place below a file."""
    with pytest.raises(ConfigurationError, match="is a folder"):
        MemoryStore(tmp_path)
    with pytest.raises(ConfigurationError, match="checkpoint_every_s"):
        MemoryStore(path, checkpoint_every_s=0)
    path.write_bytes(b"")
    with pytest.raises(StoreError, match="name a file that can be written"):
        MemoryStore(path / "below")
