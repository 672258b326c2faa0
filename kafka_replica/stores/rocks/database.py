"""A RocksDB database; only this module and ``tuning`` use rocksdict."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn
from weakref import finalize

from kafka_replica.errors import MissingExtraError, StoreDamagedError, StoreError
from kafka_replica.records import key_text
from kafka_replica.stores.rocks.cursor import Cursor
from kafka_replica.stores.rocks.errors import STORE_ADVICE, Advice, is_full, translate_error
from kafka_replica.stores.rocks.tuning import Tuning

try:
    import rocksdict
except ImportError as error:
    raise MissingExtraError("the store on disk", "rocksdb") from error

_NOT_FOUND = "key not found"
_STALLED = "Write stall"
_STALLED_S = 0.001
_STALLED_IN_VAIN_S = 10.0
_RESUMES_EVERY_S = 0.05
_RESUMES_WITHIN_S = 20.0  # RocksDB checks every 5 s whether a full disk has room again


class Batch:
    """An atomic batch of writes."""

    __slots__ = ("_batch", "delete", "delete_range", "put", "size_bytes")

    def __init__(self) -> None:
        self._batch = rocksdict.WriteBatch(raw_mode=True)
        self.put = self._batch.put
        self.delete = self._batch.delete
        self.delete_range = self._batch.delete_range
        self.size_bytes = self._batch.size_in_bytes

    def hand_over(self) -> rocksdict.WriteBatch:
        """Return the batch in rocksdict's type."""
        return self._batch


class View:
    """A consistent view of a database at one moment. Thread-safe; keeps the database open."""

    __slots__ = ("_snapshot", "database")

    def __init__(self, database: Database, snapshot: Any) -> None:
        self._snapshot = snapshot
        self.database = database

    def get(self, key: bytes) -> bytes | None:
        """Return the value of a key.

        Raises:
            StoreError: the value cannot be read.
        """
        try:
            found: bytes = self._snapshot[key]
        except Exception as error:  # noqa: BLE001 - rocksdict raises no other type
            if str(error) == _NOT_FOUND:
                return None
            self.database.explain(error, "reading")
        return found


class Database:
    """A RocksDB database in a folder. One thread writes, any thread reads.

    Args:
        folder: the folder of the database.
        tuning: the resources that it may use.
        must_exist: whether a missing database counts as damage; otherwise it is created.
        links: a folder of links to the files of the database, removed with this object: opens this folder instead, for
            reading only, with the files as they are now. Another process may have the database open.
        advice: the advice in the messages of errors.

    Raises:
        StoreInUseError: the database is open elsewhere.
        StoreDamagedError: the database is damaged.
        StoreError: the database cannot be opened.
    """

    def __init__(
        self,
        folder: Path,
        tuning: Tuning,
        *,
        must_exist: bool = False,
        links: Path | None = None,
        advice: Advice = STORE_ADVICE,
    ) -> None:
        self.folder = folder
        self._advice = advice
        self.is_damaged = False
        """True once damaged data was found in the database."""
        access = rocksdict.AccessType.read_write() if links is None else rocksdict.AccessType.read_only(False)
        try:
            self._db = rocksdict.Rdict(str(links or folder), tuning.options(creates=not must_exist), access_type=access)
        except Exception as error:  # noqa: BLE001
            if links is not None:
                shutil.rmtree(links, ignore_errors=True)
            self.explain(error, "opening")
        if links is not None:
            finalize(self, _remove, self._db, links)
        self._stat = _stat(folder)
        self._logged, self._unlogged = rocksdict.WriteOptions(), rocksdict.WriteOptions()
        # These are attributes, contrary to rocksdict's stubs.
        self._logged.sync = tuning.is_synced
        self._unlogged.disable_wal = True  # type: ignore[method-assign,assignment]
        self._write_options = rocksdict.WriteOptions()
        self._write_options.no_slowdown = True
        self._write_options.disable_wal = True  # type: ignore[method-assign,assignment]
        self._failures = 0
        self._write_buffer_bytes = tuning.write_buffer_bytes

    def is_here(self) -> bool:
        """Return whether the folder is still the one that was opened."""
        now = _stat(self.folder)
        return now is not None and self._stat is not None and os.path.samestat(now, self._stat)

    # --- reading ---

    def get(self, key: bytes) -> bytes | None:
        """Return the newest value of a key.

        Raises:
            StoreError: the value cannot be read.
        """
        try:
            found: bytes | None = self._db.get(key)
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        return found

    def get_many(self, keys: list[bytes]) -> list[bytes | None]:
        """Return the newest values of keys, in the same order.

        Raises:
            StoreError: a value cannot be read.
        """
        try:
            found: list[bytes | None] = self._db.get(keys)  # type: ignore[arg-type, assignment]  # the stubs expect a wider list
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        return found

    def view(self, of: type[View] = View) -> View:
        """Return a view of the current state."""
        return of(self, self._db.snapshot())

    def cursor(self) -> Cursor:
        """Return a cursor over the entries as of this call.

        Raises:
            StoreError: the database cannot be read.
        """
        try:
            entries = self._db.iter()
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        return Cursor(entries, self.ended_early)

    def items(self, first: bytes, end: bytes) -> Iterator[tuple[bytes, bytes]]:
        """Return an iterator over the entries from ``first`` to before ``end``, in order, as of this call.

        There must be a key at or after ``end``: rocksdict's iterators end silently when they cannot read on, so that
        only a key after the end shows that the end was reached. Iterators over a snapshot iterate over the current
        state instead (0.3.29); the caller has to derive a version from that by other means.

        Raises:
            StoreError: the entries cannot be read.
        """
        try:
            entries = self._db.items(from_key=first)  # created now: it shows the state at its creation
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        return self._before(end, entries, first)

    def _before(self, end: bytes, entries: Any, at: bytes) -> Iterator[tuple[bytes, bytes]]:
        try:
            for entry in entries:
                at = entry[0]
                if at >= end:
                    return
                yield entry
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        self.ended_early(at)

    def ended_early(self, at: bytes) -> NoReturn:
        """Raise an error for an iteration that found no entry after a key, although there is one."""
        probe = self._db.iter()
        probe.seek(at)
        while probe.valid():
            probe.next()
        try:
            probe.status()
        except Exception as error:  # noqa: BLE001
            self.explain(error, "reading")
        raise StoreError(
            f"reading the store in {self.folder}: RocksDB stopped before the end; check that the disk works"
        )

    # --- writing ---

    def write(self, batch: Batch, *, is_logged: bool = True) -> None:
        """Write a batch atomically.

        Args:
            batch: the batch.
            is_logged: whether the batch survives a crash immediately; otherwise it does after the next ``flush``.

        Raises:
            StoreError: nothing of the batch was written.
        """
        self._wait_for_room()
        try:
            self._db.write(batch.hand_over(), self._logged if is_logged else self._unlogged)
        except Exception as error:  # noqa: BLE001
            self.explain(error, "writing")

    def flush(self) -> None:
        """Flush all writes so far to disk, so that they survive a power cut.

        Raises:
            StoreError: the data could not be written.
        """
        self._wait_for_room()
        try:
            self._db.flush()
        except Exception as error:  # noqa: BLE001
            self.explain(error, "writing")

    def _wait_for_room(self) -> None:
        """Wait until RocksDB accepts writes without stalling: a write that stalls on a full disk never returns."""
        begun_s = time.monotonic()
        while True:
            try:
                self._db.write(rocksdict.WriteBatch(raw_mode=True), self._write_options)
            except Exception as error:  # noqa: BLE001
                if _STALLED not in str(error):
                    self.explain(error, "writing")
            else:
                return
            failures = self._background_failures()
            if failures > self._failures or (failures and time.monotonic() - begun_s > _STALLED_IN_VAIN_S):
                self._failures = failures
                self._explain_failure()
            time.sleep(_STALLED_S)

    def wait_until_resumed(self) -> None:
        """Wait until RocksDB accepts writes again after the disk was full, provided that the disk has room now.

        RocksDB keeps the error of the failed write and refuses all others until it has checked the disk again.
        Closing the database would clear the error, but every snapshot in use keeps the database open.
        """
        give_up_s = time.monotonic() + _RESUMES_WITHIN_S
        while self._is_full() and self._free_bytes() > self._write_buffer_bytes and time.monotonic() < give_up_s:
            time.sleep(_RESUMES_EVERY_S)
        self._failures = self._background_failures()  # earlier failures no longer count

    def _is_full(self) -> bool:
        try:
            self._db.write(rocksdict.WriteBatch(raw_mode=True), self._write_options)
        except Exception as error:  # noqa: BLE001
            return is_full(error, self.folder)
        return False

    def _background_failures(self) -> int:
        return self._db.property_int_value("rocksdb.background-errors") or 0

    def _free_bytes(self) -> int:
        return shutil.disk_usage(self.folder).free

    def _explain_failure(self) -> NoReturn:
        """Raise an error for a failed background write, whose reason RocksDB does not report, since it will retry."""
        free_bytes = self._free_bytes()
        reason = f"No space left on device, probably: files cannot be written, {free_bytes} bytes are free"
        self.explain(OSError(reason), "writing")

    def sync_always(self, is_synced: bool) -> None:
        """Set whether each logged write waits for the disk from now on."""
        self._logged.sync = is_synced

    def remove_when_unread(self) -> None:
        """Remove the folder when it has no more readers, or when the process ends."""
        finalize(self, _remove, self._db, self.folder)

    # --- errors ---

    def explain(self, error: Exception, doing: str) -> NoReturn:
        """Raise our exception for rocksdict's error."""
        explanation = translate_error(error, doing, self.folder, self._advice)
        self.is_damaged |= isinstance(explanation, StoreDamagedError)
        raise explanation from error

    def no_record(self, key: bytes, error: Exception) -> NoReturn:
        """Raise an error for a key whose stored data is not a record."""
        self.is_damaged = True
        raise StoreDamagedError(
            f"reading {key_text(key)} in {self._advice.name} in {self.folder}: the stored value is not a record; "
            f"{self._advice.damaged}"
        ) from error


def _stat(folder: Path) -> os.stat_result | None:
    try:
        return folder.stat()
    except OSError:  # the folder was removed, which may happen at any moment
        return None


def _remove(db: Any, folder: Path) -> None:
    with suppress(Exception):  # the database will be deleted anyway
        db.close()
    shutil.rmtree(folder, ignore_errors=True)
