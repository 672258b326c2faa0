"""Manage the checkpoint file of a memory store: its lock, loading it, and when to write it."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from threading import Event, Lock, RLock, Thread
from typing import NamedTuple

from filelock import FileLock, Timeout

from kafka_replica.common.process import OwnerProcess
from kafka_replica.errors import ConfigurationError, StoreDamagedError, StoreError, StoreInUseError
from kafka_replica.records import Partition
from kafka_replica.stores.checkpoint import Kept, LoadedCheckpoint, SavedRecords, VersionNote, load
from kafka_replica.stores.checkpoint_writer import add_note, temporary_path, write
from kafka_replica.transactions.resume_point import ResumePoint

_log = logging.getLogger("kafka_replica")

_NOTES_BYTES = 1 << 20  # the size of notes; beyond it the file is rewritten


class CheckpointImage(NamedTuple):
    """A version to be saved."""

    data: tuple[int, int]
    """Identifies the records of the version."""
    kept: Iterable[tuple[bytes, Kept]]
    saved: SavedRecords
    source: Partition
    version: int
    resume_point: ResumePoint


class Saver:
    """A checkpoint file, for one store at a time.

    Args:
        path: the file; missing parent folders are created.
        every_s: the interval in seconds at which to write changes; None: only at the end.

    Raises:
        ConfigurationError: the path is a folder, or the interval is invalid.
        StoreInUseError: another store uses the file.
        StoreError: the file cannot be written.
    """

    def __init__(self, path: Path, every_s: float | None) -> None:
        if every_s is not None and every_s <= 0:
            raise ConfigurationError(
                f"checkpoint_every_s={every_s!r} is not possible; it is a number of seconds above 0, or None"
            )
        if path.is_dir():
            raise ConfigurationError(f"{path} is a folder; name a file for the checkpoint")
        self.damage: StoreDamagedError | None = None
        """The damage because of which the file was not loaded."""
        self._path = path
        self._every_s = every_s
        self._lock = FileLock(path.with_name(path.name + ".lock"), thread_local=False)
        self._owner = OwnerProcess()
        self._closing = Event()
        self._busy = Lock()
        self._releasing = RLock()  # held while the file is removed, and while it is released
        self._thread: Thread | None = None
        self._take: Callable[[], CheckpointImage | None] = lambda: None
        self._has_failed = False
        self._in_file: tuple[tuple[int, int], ResumePoint] | None = None
        self._end = self._notes_end = 0  # of the file; the limit beyond which it is rewritten
        self._partitions: list[Partition] = []
        self._file: os.stat_result | None = None
        self._acquire()

    def _acquire(self) -> None:
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._lock.acquire(timeout=0)
        except Timeout as error:
            raise StoreInUseError(
                f"opening the checkpoint file {self._path}: another store uses it; give each store its own file"
            ) from error
        except OSError as error:
            raise StoreError(
                f"opening the checkpoint file {self._path}: {error.strerror}; use a writable file"
            ) from error

    def load(self) -> LoadedCheckpoint | None:
        """Return the content of the file; if it cannot be used, log the reason."""
        try:
            temporary_path(self._path).unlink(missing_ok=True)  # left by a process that was killed
            found = load(self._path)
        except FileNotFoundError:
            return None
        except OSError as error:
            _log.error(
                "reading the checkpoint file %s: %s; the replica is rebuilt. Check that this user may read there",
                self._path,
                error.strerror,
            )
            return None
        except StoreDamagedError as error:
            _log.error("%s", error)
            self.damage = error.with_traceback(None)
            return None
        except StoreError as error:
            self._set_aside(error)
            return None
        self._note_file(found.end, found.note.partitions)
        return found

    def begin(
        self, take: Callable[[], CheckpointImage | None], data: tuple[int, int], resume_point: ResumePoint | None
    ) -> None:
        """Start saving.

        Args:
            take: returns the current version, if it should be saved; called in another thread.
            data: the identity of the loaded version's records.
            resume_point: the resume point of the loaded version; None if no version was loaded.
        """
        self._take = take
        self._in_file = None if resume_point is None else (data, resume_point)
        if self._every_s is not None:
            thread = Thread(target=self._run, args=(self._every_s,), name=f"saves {self._path}", daemon=True)
            try:
                thread.start()
            except BaseException:  # the system allows no more threads, or a signal handler has raised an exception
                self._closing.set()  # in the latter case the thread may exist
                self._lock.release()
                raise
            self._thread = thread

    def discard(self) -> None:
        """Remove the file, so that no store starts from its content again; do nothing after closing has begun.

        From then on the file may be that of another process. The next store finds out itself that the content cannot
        be used.
        """
        with self._releasing:
            if self._closing.is_set():
                return
            self._in_file = None
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                _log.error("cannot remove the checkpoint file %s: %s; remove it manually", self._path, error.strerror)

    def close(self) -> None:
        """Save, and release the file. Idempotent."""
        if self._closing.is_set() or not self._owner.is_current:  # a forked process has neither the thread nor the file
            return
        self._closing.set()
        if self._thread is not None:
            self._thread.join()
        self._save()
        with self._releasing:
            self._lock.release()

    # --- helpers ---

    def _run(self, every_s: float) -> None:
        while not self._closing.wait(every_s):
            self._save()

    def _save(self) -> None:
        """Save unsaved changes; log a failure once, until saving succeeds again."""
        if not self._busy.acquire(blocking=False):
            return  # a signal handler that closes the store has interrupted a save
        try:
            image = self._take()
            if image is not None and self._in_file != (image.data, image.resume_point):
                self._write(image)
                self._in_file, self._has_failed = (image.data, image.resume_point), False
        except OSError as error:
            self._failed(
                f"{error.strerror or error}; free some disk space, or give this user write permission; retrying"
            )
        except StoreDamagedError as error:
            self._failed(str(error))
        except Exception as error:  # noqa: BLE001 - the thread must continue after any error
            self._failed(f"{type(error).__name__}: {error}; please report this")
        finally:
            self._busy.release()

    def _write(self, image: CheckpointImage) -> None:
        if self._in_file is not None and self._in_file[0] == image.data and self._has_room_for_notes():
            self._end = add_note(
                self._path, self._end, VersionNote(image.version, self._partitions, image.resume_point)
            )
        else:
            written = write(self._path, image.kept, image.saved, image.source, image.version, image.resume_point)
            self._note_file(*written)
            _log.debug("wrote version %d to the checkpoint file %s", image.version, self._path)

    def _note_file(self, end: int, partitions: list[Partition]) -> None:
        """Note the state of the file that was written or loaded."""
        self._end, self._partitions, self._file = end, partitions, self._path.stat()
        self._notes_end = end + _NOTES_BYTES

    def _has_room_for_notes(self) -> bool:
        """Return whether the file was not replaced since it was written or loaded, and has room for another note."""
        try:
            is_here = self._file is not None and os.path.samestat(self._path.stat(), self._file)
        except OSError:
            return False
        return is_here and self._end < self._notes_end

    def _failed(self, reason: str) -> None:
        if not self._has_failed:
            _log.error("cannot write the checkpoint file %s: %s. The replica continues", self._path, reason)
        self._has_failed = True

    def _set_aside(self, error: StoreError) -> None:
        """Rename a file that another program has written, so that it is not overwritten."""
        other = self._path.with_name(self._path.name + ".set-aside")
        _log.error("%s; the replica is rebuilt, and the file is renamed to %s", error, other)
        try:
            self._path.replace(other)
        except OSError as again:
            _log.error("renaming %s: %s", self._path, again.strerror)
