"""The store on disk, as replicas use it."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from weakref import WeakValueDictionary

from kafka_replica.bookmark import Bookmark
from kafka_replica.delta import Applied, Delta
from kafka_replica.errors import StoreDamagedError, StoreError, UsageError
from kafka_replica.records import Cut, Record
from kafka_replica.stores.rocks.database import Database, Tuning
from kafka_replica.stores.rocks.folder import Folder
from kafka_replica.stores.rocks.generation import Generation, difference
from kafka_replica.stores.rocks.snapshot import Link, RocksSnapshot, Tally

_log = logging.getLogger("kafka_replica")

# Databases that are still read in this process after their store was closed: RocksDB opens none twice.
_open: WeakValueDictionary[Path, Database] = WeakValueDictionary()


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
        StoreInUseError: another replica has it.
        StoreError: it cannot be opened.
    """

    part_bytes: int | None = 32 << 20

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
        self._now = RocksSnapshot(None, [], 0, Cut(), Tally(0), 0, Link())
        try:
            self._open_present()
        except BaseException:
            self._folder.release()
            raise

    def __repr__(self) -> str:
        return f"RocksStore({str(self._folder.path)!r})"

    # --- reading ---

    @property
    def bookmark(self) -> Bookmark | None:
        """What the present version is of; None where there is none."""
        return None if self._generation is None else self._generation.bookmark

    @property
    def is_damaged(self) -> bool:
        """Whether something was met that is not what was written."""
        return self._generation is not None and self._generation.database.is_damaged

    def snapshot(self) -> RocksSnapshot:
        """The present version, in O(1)."""
        return self._now

    def newest(self, key: bytes) -> Record | None:
        """What was written of a key, staged or published."""
        return self._writing().newest(key)

    # --- writing ---

    def stage(self, delta: Delta) -> None:
        """Writes a part of the next version; see ``Store.stage``."""
        self._writing().stage(delta)

    def apply(self, delta: Delta, cut: Cut, bookmark: Bookmark | None = None) -> Applied | None:
        """Makes the next version; see ``Store.apply``."""
        generation = self._writing()
        applied: Applied | None = generation.publish(delta, self._now.version + 1, bookmark or Bookmark(cut))
        if generation is self._aside:
            applied = self._swap(generation)
        self._now = generation.snapshot()
        return applied if self._now.version > 1 else Applied(self._now.keys(), ())

    def note(self, bookmark: Bookmark) -> None:
        """Writes down what the present version is known to stand for."""
        if self._generation is not None and self._aside is None:
            self._generation.note(bookmark)

    def rebuild(self, *, forget: bool = False) -> None:
        """Begins to build anew, aside; see ``Store.rebuild``."""
        if self._aside is not None:
            self._drop(self._aside)
            self._aside = None
        if self._generation is not None and not forget:
            try:
                self._generation.put_back()
            except StoreError as error:
                _log.error("%s", error)  # it will be replaced all the same
            self._aside = self._make()
        if forget:
            if self._generation is not None:
                self._drop(self._generation)
            self._generation = None
            self._now = RocksSnapshot(None, [], 0, Cut(), Tally(0), 0, Link())

    def close(self) -> None:
        """Lets go of the folder; snapshots stay readable. Idempotent."""
        if self._aside is not None:
            self._drop(self._aside)
        self._aside = self._generation = None
        self._folder.release()

    # --- helpers ---

    def _writing(self) -> Generation:
        """Where the next version is written: in the present database, or in one that is built aside."""
        if self._is_read_only:
            raise UsageError(f"{self!r} was opened with read_only=True; a replica needs one that it can write")
        if self._aside is not None:
            return self._aside
        if self._generation is None:
            self._aside = self._make()
            return self._aside
        return self._generation

    def _make(self) -> Generation:
        folder = self._folder.new(_open)
        database = _open[folder] = Database(folder, self._tuning)
        return Generation(database)

    def _swap(self, built: Generation) -> Applied | None:
        """The one built aside becomes the present one; says how they differ."""
        before = self._generation
        self._folder.switch(built.database.folder)
        self._generation, self._aside = built, None
        if before is None:
            return Applied((), ())
        try:
            return difference(before.database, built.database)
        except StoreDamagedError as error:
            _log.error("%s", error)
            return None
        finally:
            self._drop(before)

    def _drop(self, generation: Generation) -> None:
        generation.database.is_unwanted = True

    def _open_present(self) -> None:
        try:
            folder = self._folder.current()
            if folder is not None:
                self._generation = Generation(self._database(folder), repair=not self._is_read_only)
                self._now = self._generation.snapshot()
        except StoreDamagedError as error:
            if self._is_read_only:
                raise
            _log.error("%s", error)
            self._generation, folder = None, None
        if not self._is_read_only:
            self._folder.sweep(folder)

    def _database(self, folder: Path) -> Database:
        if self._is_read_only:
            return Database(folder, self._tuning, read_only=True)
        database = _open.get(folder)
        if database is None or not database.is_here():
            database = _open[folder] = Database(folder, self._tuning)
        return database
