"""The store on disk for replicas."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from weakref import WeakValueDictionary

from kafka_replica.errors import StoreDamagedError, StoreError, UsageError
from kafka_replica.records import Partition, Position, Record
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.stores.rocks.database import Database
from kafka_replica.stores.rocks.difference import difference
from kafka_replica.stores.rocks.folder import StoreFolder
from kafka_replica.stores.rocks.generation import Generation
from kafka_replica.stores.rocks.read_only import open_read_only
from kafka_replica.stores.rocks.scan import DiffLink
from kafka_replica.stores.rocks.snapshot import KeyCount, RocksSnapshot
from kafka_replica.stores.rocks.tuning import Tuning
from kafka_replica.transactions.resume_point import ResumePoint

_log = logging.getLogger("kafka_replica")

_CLOSE_S = 5.0  # how long closing waits for a write; a write that takes longer releases the folder at its end

# Generations in use in this process, perhaps after their store was closed: RocksDB opens no database twice.
_open: WeakValueDictionary[Path, Generation] = WeakValueDictionary()


class RocksStore:
    """A store that keeps a topic on disk, in a folder of its own, with RocksDB.

    A replica that is restarted with the same folder continues where it was. Memory holds only data that is being read
    or written, not the topic. A damaged store is rebuilt in a new database; readers never see damaged data.

    Args:
        path: the folder; created if it does not exist. Only one replica at a time may use it.
        block_cache_bytes: memory for data that is read repeatedly.
        write_buffer_bytes: the size of a write buffer; there are up to two buffers.
        sync: whether publishing a version waits until it is on disk. Without this, a killed process loses nothing, but
            a power cut may lose the newest versions; the remaining versions are complete in any case.
        read_only: open the current version of another process's store for reading; no replica can use such a store.

    Raises:
        MissingExtraError: the extra ``rocksdb`` is not installed.
        ConfigurationError: the folder holds other things, or a size is impossible.
        StoreInUseError: another replica uses the store, or another process still reads a version of it.
        StoreDamagedError: the store is damaged, and was opened read-only.
        StoreError: the store cannot be opened.
    """

    part_bytes: int | None = 48 << 20
    """A part has about 40,000 records of 1 KB, or 150,000 of 100 bytes: smaller ones took longer."""

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
        self._folder = StoreFolder(Path(path).absolute(), read_only=read_only)
        self._generation: Generation | None = None
        self._aside: Generation | None = None
        self._now = _empty_snapshot()
        self._is_closed = False
        self.damage: StoreDamagedError | None = None
        """The damage that was found when the store was opened, so that it began without a version; None without any."""
        self._lock = Lock()  # held while something is written, and while the folder is released
        try:
            if read_only:
                self._generation = open_read_only(self._folder, self._tuning)
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
        """The resume point of the current version; None if there is no version."""
        return None if self._generation is None else self._generation.resume_point

    @property
    def is_damaged(self) -> bool:
        """True if damaged data was found, and the store is not being rebuilt yet."""
        writing = self._aside or self._generation
        return writing is not None and writing.database.is_damaged

    def snapshot(self) -> RocksSnapshot:
        """Return the current version, in O(1).

        Raises:
            StoreError: the store is closed. The empty version would look as if all keys had been deleted.
        """
        now = self._now  # before the check, because closing replaces it
        if self._is_closed:
            raise StoreError(f"{self!r} is closed; use the snapshots that were taken before, or open the store again")
        return now

    def newest(self, key: bytes) -> Record | None:
        """Return the newest record written for a key, staged or published."""
        return self._generation_to_write().newest(key)

    def offsets(self) -> Iterator[tuple[bytes, Partition, int]]:
        """Yield key, partition and offset of every record that was written; see ``Store.offsets``."""
        return self._generation_to_write().offsets()

    # --- writing ---

    def stage(self, delta: Delta) -> None:
        """Write a part of the next version; see ``Store.stage``."""
        with self._writing():
            self._generation_to_write().stage(delta)

    def apply(self, delta: Delta, position: Position, resume_point: ResumePoint | None = None) -> AppliedChanges | None:
        """Publish the next version; see ``Store.apply``."""
        with self._writing():
            generation, before = self._generation_to_write(), self._generation
            applied: AppliedChanges | None = generation.publish(
                delta, self._now.version + 1, resume_point or ResumePoint(position)
            )
            if generation is self._aside:
                self._switch_to(generation)
            self._now = now = generation.snapshot()
        if before is not None and before is not generation:
            applied = _replaced(before, generation)  # reads both, which may take long: closing need not wait
        return applied if now.version > 1 else AppliedChanges(now.keys(), ())

    def save_resume_point(self, resume_point: ResumePoint) -> None:
        """Write a newer resume point of the current version."""
        with self._writing():
            if self._generation is not None and self._aside is None:
                self._generation.save_resume_point(resume_point)

    def rebuild(self, *, forget: bool = False) -> None:
        """Start to rebuild the store in a new database; see ``Store.rebuild``."""
        with self._writing():
            if self._aside is not None:
                _drop(self._aside)
                self._aside = None
            if forget:
                self._folder.forget()
                if self._generation is not None:
                    _drop(self._generation)
                self._generation, self._now = None, _empty_snapshot()
            elif self._generation is not None:
                self._aside = self._create_generation()

    def close(self) -> None:
        """Release the folder, except what snapshots in use still need; then nothing can be written. Idempotent.

        The method waits a few seconds for a write under way. If the write takes longer, the folder is released as soon
        as it ends.
        """
        was_closed, self._is_closed = (
            self._is_closed,
            True,
        )  # before waiting: a later end of a write releases the folder
        if was_closed and self._lock.locked():
            return  # the folder is being released, perhaps by this thread, which a signal handler has interrupted
        if self._lock.acquire(timeout=_CLOSE_S):
            try:
                self._release()
            finally:
                self._lock.release()

    # --- helpers ---

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Write in the context, unless the store is closed; if it is closed meanwhile, release the folder at the end.

        Raises:
            StoreError: the store is closed.
        """
        with self._lock:
            try:
                self._check_writable()
                yield
            finally:
                if self._is_closed:
                    self._release()

    def _release(self) -> None:
        """Release the folder; the caller holds the lock."""
        if self._aside is not None:
            _drop(self._aside)
        self._aside = self._generation = None
        self._now = _empty_snapshot()
        self._folder.release()

    def _check_writable(self) -> None:
        if self._is_closed:
            raise StoreError(f"{self!r} is closed: another process may use its folder; open the store again to write")
        if self._is_read_only:
            raise UsageError(f"{self!r} was opened with read_only=True; a replica needs a writable store")

    def _generation_to_write(self) -> Generation:
        """Return the generation for the next version: the current one, or a new one that is being built."""
        self._check_writable()
        if self._aside is None and self._generation is None:
            self._aside = self._create_generation()
        found = self._aside or self._generation
        assert found is not None  # noqa: S101 - for type checkers
        return found

    def _create_generation(self) -> Generation:
        folder = self._folder.new()
        generation = _open[folder] = Generation(Database(folder, self._tuning), is_new=True)
        return generation

    def _switch_to(self, built: Generation) -> None:
        """Make a newly built generation the current one."""
        built.database.flush()  # before the old database is removed: a power cut must not lose both
        self._folder.switch(built.database.folder)
        self._generation, self._aside = built, None

    def _open_present(self) -> None:
        try:
            folder = self._folder.current()
            if folder is not None:
                self._generation = self._open_generation(folder)
        except StoreDamagedError as error:
            _log.error("%s", error)
            self.damage = error.with_traceback(None)

    def _open_generation(self, folder: Path) -> Generation:
        """Return the generation in a folder; if this process still holds a version of it, the one that is open."""
        generation = _open.get(folder)
        if generation is None or not generation.database.is_here():
            generation = _open[folder] = Generation(Database(folder, self._tuning, must_exist=True))
            return generation
        if generation.database.is_damaged:
            _drop(generation)
            raise StoreDamagedError(f"opening the store in {folder}: it was already found to be damaged")
        generation.database.sync_always(self._tuning.is_synced)
        generation.database.wait_until_resumed()
        generation.roll_back()
        return generation


def _empty_snapshot() -> RocksSnapshot:
    """Return the version before the first one."""
    return RocksSnapshot(None, None, [], 0, Position(), KeyCount(0), 0, DiffLink(), has_key_spaces=False)


def _replaced(before: Generation, built: Generation) -> AppliedChanges | None:
    """Return the differences between a generation and the one that replaced it; None if they cannot be read."""
    try:
        return difference(before.entries(), built.entries())
    except StoreError as error:
        _log.error("%s", error)
        return None
    finally:
        _drop(before)


def _drop(generation: Generation) -> None:
    generation.database.remove_when_unread()
