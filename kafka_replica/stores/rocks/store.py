"""The store on disk, as replicas use it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from weakref import WeakValueDictionary

from kafka_replica.errors import StoreDamagedError, StoreError, UsageError
from kafka_replica.records import Partition, Position, Record
from kafka_replica.stores.delta import Applied, Delta
from kafka_replica.stores.rocks.database import Database
from kafka_replica.stores.rocks.difference import difference
from kafka_replica.stores.rocks.folder import Folder
from kafka_replica.stores.rocks.generation import Generation
from kafka_replica.stores.rocks.read_only import open_beside
from kafka_replica.stores.rocks.scan import DiffLink
from kafka_replica.stores.rocks.snapshot import KeyCount, RocksSnapshot
from kafka_replica.stores.rocks.tuning import Tuning
from kafka_replica.transactions.resume_point import ResumePoint

_log = logging.getLogger("kafka_replica")

# What is still read in this process, perhaps after its store was closed: RocksDB opens nothing twice.
_open: WeakValueDictionary[Path, Generation] = WeakValueDictionary()


class RocksStore:
    """Keeps a topic on disk, in a folder of its own, by RocksDB.

    A replica that is started again with it goes on where it was. Memory holds what is being read and written,
    not the topic. What it finds damaged is built anew, aside, and never shown.

    Args:
        path: the folder; made if it is not there. One replica at a time may have it.
        block_cache_bytes: memory for what is read again and again.
        write_buffer_bytes: memory for what is being written; up to two of this size.
        sync: whether each version waits until the disk has it. A killed process loses nothing without that, a
            power cut may lose the newest versions; what is left is whole in any case.
        read_only: for looking at what another process keeps, as it is now; no replica can use such a store.

    Raises:
        MissingExtraError: the extra ``rocksdb`` is not installed.
        ConfigurationError: the folder holds other things, or a size is impossible.
        StoreInUseError: another replica has it, or another process still reads a version of it.
        StoreDamagedError: it is damaged, and was to be looked at only.
        StoreError: it cannot be opened.
    """

    part_bytes: int | None = 16 << 20

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        block_cache_bytes: int = 64 << 20,
        write_buffer_bytes: int = 32 << 20,
        sync: bool = False,
        read_only: bool = False,
    ) -> None:
        self._tuning = Tuning(block_cache_bytes, write_buffer_bytes, sync)
        self._is_read_only = read_only
        self._folder = Folder(Path(path).absolute(), read_only=read_only)
        self._generation: Generation | None = None
        self._aside: Generation | None = None
        self._now = _nothing()
        try:
            if read_only:
                self._generation = open_beside(self._folder, self._tuning)
            else:
                self._open_present()
                self._folder.sweep({*_open})
            if self._generation is not None:
                self._now = self._generation.snapshot()
        except BaseException:
            self._folder.release()
            raise

    def __repr__(self) -> str:
        return f"<RocksStore {str(self._folder.path)!r} {self._now.summary()}>"

    # --- reading ---

    @property
    def resume_point(self) -> ResumePoint | None:
        """What the present version is of; None where there is none."""
        return None if self._generation is None else self._generation.resume_point

    @property
    def is_damaged(self) -> bool:
        """Whether something was met that is not what was written, and is not being built anew already."""
        writing = self._aside or self._generation
        return writing is not None and writing.database.is_damaged

    def snapshot(self) -> RocksSnapshot:
        """The present version, in O(1)."""
        return self._now

    def newest(self, key: bytes) -> Record | None:
        """What was written of a key, staged or published."""
        return self._writing().newest(key)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Key, partition and offset of every record that was written; see ``Store.offsets``."""
        return self._writing().offsets()

    # --- writing ---

    def stage(self, delta: Delta) -> None:
        """Writes a part of the next version; see ``Store.stage``."""
        self._writing().stage(delta)

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> Applied | None:
        """Makes the next version; see ``Store.apply``."""
        generation = self._writing()
        applied: Applied | None = generation.publish(
            delta, self._now.version + 1, resume_point or ResumePoint(position)
        )
        if generation is self._aside:
            applied = self._swap(generation)
        self._now = generation.snapshot()
        return applied if self._now.version > 1 else Applied(self._now.keys(), ())

    def note(self, resume_point: ResumePoint) -> None:
        """Writes down what the present version is known to stand for."""
        self._check_writable()
        if self._generation is not None and self._aside is None:
            self._generation.note(resume_point)

    def rebuild(self, *, forget: bool = False) -> None:
        """Begins to build anew, aside; see ``Store.rebuild``."""
        self._check_writable()
        if self._aside is not None:
            _drop(self._aside)
            self._aside = None
        if forget:
            self._folder.forget()
            if self._generation is not None:
                _drop(self._generation)
            self._generation, self._now = None, _nothing()
        elif self._generation is not None:
            self._aside = self._make()

    def close(self) -> None:
        """Lets go of the folder, but for what snapshots that are held still need. Idempotent."""
        if self._aside is not None:
            _drop(self._aside)
        self._aside = self._generation = None
        self._now = _nothing()
        self._folder.release()

    # --- helpers ---

    def _check_writable(self) -> None:
        if self._is_read_only:
            raise UsageError(f"{self!r} was opened with read_only=True; a replica needs one that it can write")

    def _writing(self) -> Generation:
        """Where the next version is written: in the present database, or in one that is built aside."""
        self._check_writable()
        if self._aside is None and self._generation is None:
            self._aside = self._make()
        found = self._aside or self._generation
        assert found is not None  # noqa: S101 - for type checkers
        return found

    def _make(self) -> Generation:
        folder = self._folder.new()
        generation = _open[folder] = Generation(Database(folder, self._tuning), is_new=True)
        return generation

    def _swap(self, built: Generation) -> Applied | None:
        """The one built aside becomes the present one; says how they differ."""
        before = self._generation
        built.database.flush()  # what is removed now must not be missed after a power cut
        self._folder.switch(built.database.folder)
        self._generation, self._aside = built, None
        if before is None:
            return Applied((), ())
        try:
            return difference(before.entries(), built.entries())
        except StoreError as error:
            _log.error("%s", error)
            return None
        finally:
            _drop(before)

    def _open_present(self) -> None:
        try:
            folder = self._folder.current()
            if folder is not None:
                self._generation = self._opened(folder)
        except StoreDamagedError as error:
            _log.error("%s", error)

    def _opened(self, folder: Path) -> Generation:
        """What is in there; as it is read already, where somebody in this process still holds a version of it."""
        generation = _open.get(folder)
        if generation is None or not generation.database.is_here():
            generation = _open[folder] = Generation(Database(folder, self._tuning, must_exist=True))
            return generation
        if generation.database.is_damaged:
            _drop(generation)
            raise StoreDamagedError(f"opening the store in {folder}: it was found to be damaged before")
        generation.database.sync_always(self._tuning.is_synced)
        generation.database.wait_until_resumed()
        generation.take_back()
        return generation


def _nothing() -> RocksSnapshot:
    """The version before the first one."""
    return RocksSnapshot(None, None, [], 0, Position(), KeyCount(0), 0, DiffLink())


def _drop(generation: Generation) -> None:
    generation.database.remove_when_unread()
