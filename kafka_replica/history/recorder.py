"""Record versions in a history, in the thread that makes them, so that no reader sees a version that is not recorded.

If a version cannot be written, as on a full disk, the replica continues. The recorder remembers the keys that versions
touch meanwhile, tries again at intervals, and then writes everything that was missed in one step, which contains the
number of missing versions. A mark in the folder remembers across restarts that versions are missing.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from threading import RLock, Timer
from typing import NamedTuple

from kafka_replica.common.clock import now_ms
from kafka_replica.errors import KafkaReplicaError
from kafka_replica.history.completeness import CompletenessMark
from kafka_replica.history.continuation import Continuation, continue_with
from kafka_replica.history.instants import InstantAssigner
from kafka_replica.history.journal import Journal
from kafka_replica.history.kept_version import KeptVersion, StoredVersion
from kafka_replica.history.retention import Retention
from kafka_replica.history.step_writer import StepWriter
from kafka_replica.history.sweeper import Sweeper
from kafka_replica.listeners import Change
from kafka_replica.records import Record
from kafka_replica.stores import Snapshot

_log = logging.getLogger("kafka_replica.history")

_RETRY_AFTER_S = 5.0
_MAX_MISSED_KEYS = 100_000  # beyond that, all keys are compared
_SWEPT_KEYS = 100  # keys removed with each version, in addition to twice as many as the version has


class Failure(NamedTuple):
    """Versions that could not be recorded yet."""

    error: KafkaReplicaError
    since_ms: int


class _PendingVersion(NamedTuple):
    """The version that is to be recorded next."""

    change: Change
    incarnation: str
    is_first: bool
    """True if the replica has shown no version before."""
    shown_ms: int | None = None
    """The instant at which readers could see it, although it was not recorded."""


class Recorder:
    """Writes each version that it is called with.

    Args:
        journal: the database.
        retention: how long versions are kept.
        instants: assigns instants to versions.
        retry_after_s: the interval of attempts to write after a failure, in seconds.
    """

    def __init__(
        self,
        journal: Journal,
        retention: Retention,
        instants: InstantAssigner,
        retry_after_s: float = _RETRY_AFTER_S,
    ) -> None:
        self.failure: Failure | None = None
        """Set while versions cannot be recorded."""
        self.failures = 0
        """The number of failed attempts."""
        self._journal = journal
        self._mark = CompletenessMark(journal.database.folder.parent)
        self.has_gap = not self._mark.exists
        """True if readers may have seen versions since the newest recorded one, in addition to one that is waiting."""
        self._retention = retention
        self._instants = instants
        self._retry_after_s = retry_after_s
        self._sweeper = Sweeper(journal)
        self._lock = RLock()
        self._last: tuple[str, int] | None = None  # the version received last
        self._missed: set[bytes] | None = None  # keys touched by versions that were not recorded; None: not known
        self._waiting: _PendingVersion | None = None  # the newest of these versions
        self._timer: Timer | None = None
        self._closed = False

    def reset(self) -> None:
        """Reset the last version, because a replica that starts may have shown versions that were not received."""
        with self._lock:
            self._last = None

    def record(self, change: Change, incarnation: str, *, is_first: bool) -> None:
        """Write a version; if that fails, remember that it is missing.

        Args:
            change: the version.
            incarnation: the incarnation of its number.
            is_first: True if the replica has shown no version before.
        """
        with self._lock:
            if self._closed:
                return
            self._note_gap(change, incarnation)
            self._note_touched(change, incarnation)
            self._waiting = _PendingVersion(change, incarnation, is_first)
            if self._timer is None:
                self._try_to_record()
            if self._waiting is not None:
                self._waiting = _PendingVersion(change, incarnation, is_first, self._instants.next())

    def prune(self) -> None:
        """Apply the limits, and remove everything that is not needed; versions can be recorded between steps."""
        with self._lock:
            newest = self._journal.newest
            if newest is None:
                return
            self._journal.set_oldest(newest, self._oldest(newest))
        is_done = False
        while not is_done:
            with self._lock:
                is_done = self._closed or self._sweeper.sweep(1)

    def close(self) -> None:
        """Record nothing from now on. Idempotent."""
        with self._lock:
            self._closed = True
            self._waiting = None
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None  # the timer refers to this object

    # --- helpers, called with the lock held ---

    def _note_gap(self, change: Change, incarnation: str) -> None:
        """Remember whether readers may have seen versions between the newest recorded one and this one."""
        newest = self._journal.newest
        if self._waiting is not None:
            self.has_gap = True  # the version that is waiting is replaced
        elif newest is not None and newest.version.incarnation == incarnation:
            is_newer = change.version > newest.version.number
            self.has_gap |= is_newer and self._last != (incarnation, change.version - 1)

    def _note_touched(self, change: Change, incarnation: str) -> None:
        """Remember the keys that have to be compared with the newest recorded version."""
        continues = change.previous is not None and self._last == (incarnation, change.previous.version)
        self._last = incarnation, change.version
        if not continues or change.rebuilt or self._missed is None:
            self._missed = None  # records that the change does not list may differ, at least in their offsets
            return
        self._missed.update(change.changed, change.deleted)
        if self.failure is not None and len(self._missed) > _MAX_MISSED_KEYS:
            self._missed = None

    def _try_to_record(self) -> None:
        if self._waiting is None:
            return
        change, incarnation = self._waiting.change, self._waiting.incarnation
        newest = self._journal.newest
        known = None if newest is None else newest.version
        # After a gap, even a recorded version is recorded again, with the instant at which readers see it again.
        is_whole = change.initial and not self.has_gap
        how = continue_with(known, incarnation, change.version, is_whole=is_whole)
        try:
            if not how.is_known:
                self._write(self._waiting, how)
        except Exception as error:  # noqa: BLE001 - a history must not stop the replica
            self._fail(error)
            return
        self._missed, self._waiting, self.has_gap = set(), None, False
        self._note_complete()
        if self.failure is not None:
            _log.info("recording of the history in %s continues", self._journal.database.folder.parent)
            self.failure = None

    def _note_complete(self) -> None:
        if self._mark.exists:
            return
        try:
            self._journal.database.flush()  # a power cut must not lose the version but keep the mark
        except KafkaReplicaError as error:
            _log.warning("cannot mark a history as complete: %s", error)
        else:
            self._mark.create()

    def _write(self, waiting: _PendingVersion, how: Continuation) -> None:
        if self.failure is not None:
            self._journal.database.wait_until_resumed()
            self._journal.discard_unfinished()
        writer = StepWriter(self._journal)
        writer.add_all(self._records(waiting.change.snapshot))
        with self._instants.writing(waiting.shown_ms) as published_ms:
            newest = self._journal.newest
            stored = _stored(writer, newest, waiting, how, published_ms, is_after_gap=self.has_gap)
            writer.commit(stored, self._oldest(stored))
        try:
            self._sweeper.sweep(_SWEPT_KEYS + 2 * (writer.changed + writer.deleted))
        except KafkaReplicaError as error:  # the version is written; the next one sweeps again
            _log.warning("cannot remove old versions of a history: %s", error)

    def _records(self, snapshot: Snapshot) -> Iterator[tuple[bytes, Record | None]]:
        """Yield the keys that may differ from the newest recorded version, with their records."""
        if self._missed is not None:
            yield from ((key, snapshot.get(key)) for key in self._missed)
            return
        yield from snapshot.items()
        if self._journal.newest is not None:
            keys = (key for key, _ in self._journal.scan(self._journal.newest.version.sequence))
            yield from ((key, None) for key in keys if key not in snapshot)

    def _oldest(self, newest: StoredVersion) -> int:
        """Return the sequence of the oldest version to be kept, once ``newest`` is written."""
        catalogue = self._journal.catalogue()
        last = newest.version.sequence
        return self._retention.oldest(
            self._journal.oldest or last, last, now_ms(), lambda at: newest if at == last else catalogue.stored(at)
        )

    def _fail(self, error: Exception) -> None:
        if not isinstance(error, KafkaReplicaError):
            _log.exception("unexpected error in a history")
            error = KafkaReplicaError(f"recording a version: {type(error).__name__}: {error}; please report this")
        elif self.failure is None:
            _log.error("cannot record versions in the history; retrying: %s", error)
        self.failures += 1
        self._mark.remove()  # before readers see the version
        since_ms = now_ms() if self.failure is None else self.failure.since_ms
        self.failure = Failure(error.with_traceback(None), since_ms)
        self._timer = Timer(self._retry_after_s, self._retry)
        self._timer.daemon = True
        self._timer.start()

    def _retry(self) -> None:
        with self._lock:
            self._timer = None
            if not self._closed:
                self._try_to_record()


def _stored(
    writer: StepWriter,
    newest: StoredVersion | None,
    waiting: _PendingVersion,
    how: Continuation,
    published_ms: int,
    *,
    is_after_gap: bool,
) -> StoredVersion:
    """Return the metadata of the version that was written."""
    change = waiting.change
    is_alone = how.missing == 0 and not change.initial
    version = KeptVersion(
        sequence=writer.sequence,
        number=change.version,
        incarnation=waiting.incarnation,
        published_ms=published_ms,
        position=change.position,
        keys=writer.keys,
        changed=writer.changed,
        deleted=writer.deleted,
        missing=how.missing,
        transactions=change.transactions if is_alone else None,
        source_transactions=change.source_transactions if is_alone else None,
        rebuilt=change.rebuilt,
        is_first=waiting.is_first,
        is_after_gap=is_after_gap and newest is not None,
    )
    first = writer.sequence if newest is None or how.begins_segment else newest.first
    return StoredVersion(version, first, writer.live_bytes, writer.replaced_bytes)
