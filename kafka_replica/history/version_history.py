"""The class that users work with, ``VersionHistory``."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from kafka_replica.common.clock import now_ms
from kafka_replica.errors import UsageError
from kafka_replica.history.errors import FutureVersionError, VersionNotKeptError
from kafka_replica.history.folder import open_journal
from kafka_replica.history.instants import InstantAssigner
from kafka_replica.history.journal import Journal
from kafka_replica.history.kept_version import KeptRange, KeptVersion, time_text
from kafka_replica.history.recorder import Failure, Recorder
from kafka_replica.history.retention import Retention
from kafka_replica.history.snapshot import HistorySnapshot
from kafka_replica.history.stats import HistoryStats
from kafka_replica.listeners import Change
from kafka_replica.publication.difference import Difference, difference
from kafka_replica.replica import Replica
from kafka_replica.stores.rocks.tuning import Tuning


class _OpenHistory(NamedTuple):
    """The parts of a history that is open."""

    journal: Journal
    recorder: Recorder


class VersionHistory:
    """A history of a replica's versions in a folder: ``at`` returns one by instant or number, ``diff`` compares two.

    The history follows a replica and records each version before readers see it, in the same thread. So it has every
    version that any reader has seen, exactly once and in order; even if the process is killed, the history continues
    with the next version after the restart. A replica whose version numbers restart (because it is in memory) gets a
    new ``incarnation``, and continues the same history with the difference to the newest recorded version.

    Recording a version costs a look-up and a write for each of its keys; ``layout`` explains why it does not depend on
    the number of keys. The very first version, a version after a rebuild, and a version that does not follow the newest
    recorded one are compared with all keys. The folder takes as much space as the topic and all records that versions
    have replaced.

    All methods may be called from any thread.

    Args:
        path: the folder; created if it does not exist.
        keep_s: how long the past can be read, in seconds; None means no limit.
        keep_versions: the maximum number of versions that are kept; None means no limit.
        keep_bytes: how many bytes of keys and records the older versions may have in addition to the newest one; None
            means no limit. The limits are applied when a version is recorded, and by ``prune``.
        block_cache_bytes: memory for data that is read repeatedly.
        write_buffer_bytes: the size of a write buffer; there are up to two buffers.
        sync: whether recording a version waits until it is on disk. Without this, a killed process still loses nothing,
            but a power cut may lose the newest versions.

    Raises:
        MissingExtraError: the extra ``rocksdb`` is not installed.
        ConfigurationError: the folder holds other things, or a limit is impossible.
        StoreInUseError: another history uses the folder.
        StoreDamagedError: the history is damaged.
        StoreError: the history cannot be opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        keep_s: float | None = 30 * 86_400.0,
        keep_versions: int | None = None,
        keep_bytes: int | None = None,
        block_cache_bytes: int = 32 << 20,
        write_buffer_bytes: int = 16 << 20,
        sync: bool = False,
    ) -> None:
        retention = Retention(keep_s, keep_versions, keep_bytes)
        self._path = Path(path).absolute()
        self._unfollow: Callable[[], None] | None = None
        journal = open_journal(self._path, Tuning(block_cache_bytes, write_buffer_bytes, sync))
        self._instants = InstantAssigner(-1 if journal.newest is None else journal.newest.version.published_ms)
        self._now: _OpenHistory | None = _OpenHistory(journal, Recorder(journal, retention, self._instants))

    # --- recording ---

    def follow(self, replica: Replica) -> Self:
        """Record the versions of a replica from now on, beginning with its current one; return this history.

        Call this before the replica is started, so that its first version is recorded, too. A history follows one
        replica at a time: it stops following another one.

        Raises:
            UsageError: the replica has large values, or the history is closed.
            ReplicaClosedError: the replica was closed.
        """
        recorder = self._opened().recorder
        self._stop_following()
        recorder.reset()
        publisher = replica._publisher  # noqa: SLF001 - for this class only

        def record(change: Change, incarnation: str) -> None:
            recorder.record(change, incarnation, is_first=change.version == publisher.first_version)

        self._unfollow = replica.record_versions(record)
        return self

    def prune(self) -> None:
        """Remove the versions that the limits no longer allow, and the records that only they need.

        Recording does the same in small steps. Call this for a history whose limits were lowered, or that gets no new
        versions.

        Raises:
            StoreError: the records cannot be removed.
        """
        self._opened().recorder.prune()

    def close(self) -> None:
        """Stop following, and release the folder as soon as no snapshot is held. Idempotent."""
        self._stop_following()
        now, self._now = self._now, None  # the last references to the database, except for snapshots that are held
        if now is not None:
            now.recorder.close()
            now.journal.is_claimed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # --- reading ---

    def at(
        self,
        *,
        version: int | KeptVersion | None = None,
        instant: datetime | int | None = None,
        incarnation: str | None = None,
    ) -> HistorySnapshot:
        """Return the version with a number, or the last version that readers saw at an instant; by default, the newest.

        Finding it takes a few look-ups, whatever its age. The result for the same arguments never changes, until the
        version is removed.

        Args:
            version: the number of a version, or a version of ``versions``.
            instant: an instant with a time zone, or milliseconds since 1970-01-01 UTC.
            incarnation: the incarnation of the number; by default, that of the newest version.

        Raises:
            UsageError: the instant has no time zone, or another type.
            FutureVersionError: the version does not exist yet, or the instant is in the future.
            VersionNotKeptError: the version is too old or was not recorded; the message names what is kept.
            StoreError: the history cannot be read.
        """
        if version is not None and instant is not None:
            raise UsageError("name either a version or an instant, not both")
        now = self._opened()
        if instant is not None:
            return now.journal.snapshot(self._at_instant(now, _milliseconds(instant)))
        return now.journal.snapshot(_at_version(now, version, incarnation))

    def diff(
        self, before: int | KeptVersion, after: int | KeptVersion | None = None, *, incarnation: str | None = None
    ) -> Difference:
        """Return the difference between two versions, given like ``version`` of ``at``; by default up to the newest.

        The cost is proportional to the number of keys that the versions in between have changed. The difference
        contains the keys; the records are read from its two snapshots on demand.

        Raises:
            FutureVersionError: a version does not exist yet.
            VersionNotKeptError: a version is too old or was not recorded.
            StoreError: the history cannot be read.
        """
        journal = self._opened().journal
        was, now = (self.at(version=each, incarnation=incarnation) for each in (before, after))
        first, last = sorted((was.kept.sequence, now.kept.sequence))
        return difference(was, now, journal.touched_keys(first, last))

    def versions(self, start: int | None = None, limit: int = 100) -> list[KeptVersion]:
        """Return versions, the newest first.

        Args:
            start: the ``sequence`` to begin with, such as that of the last version of a page minus 1; by default, that
                of the newest version.
            limit: the maximum number of versions to return.

        Raises:
            StoreError: the history cannot be read.
        """
        return self._opened().journal.catalogue().newest_first(start, limit)

    @property
    def range(self) -> KeptRange | None:
        """The oldest and the newest version that are kept; None if there are none."""
        return self._opened().journal.catalogue().range()

    def stats(self) -> HistoryStats:
        """Return counts and sizes.

        Raises:
            StoreError: the history cannot be read.
        """
        journal, recorder = self._opened()
        failure = recorder.failure
        return HistoryStats.of(journal, recorder.failures, None if failure is None else failure.error)

    def __repr__(self) -> str:
        return f"<VersionHistory {str(self._path)!r}{', closed' if self._now is None else ''}>"

    # --- helpers ---

    def _at_instant(self, now: _OpenHistory, ms: int) -> KeptVersion:
        if ms > now_ms():
            raise FutureVersionError(f"{time_text(ms)} is in the future; use an instant in the past")
        self._instants.reserve_until(ms)
        failure, has_gap = now.recorder.failure, now.recorder.has_gap
        catalogue = now.journal.catalogue()
        found = catalogue.by_instant(ms)
        if found.sequence != catalogue.newest:
            return found
        if failure is not None and ms >= failure.since_ms:
            raise _not_recorded(f"the version of {time_text(ms)}", failure)
        if failure is None and has_gap and ms > found.published_ms:
            raise VersionNotKeptError(
                f"the version of {time_text(ms)} is not recorded: the versions after {found.summary()} could not be"
                " written"
            )
        return found

    def _stop_following(self) -> None:
        unfollow, self._unfollow = self._unfollow, None
        if unfollow is not None:
            unfollow()

    def _opened(self) -> _OpenHistory:
        now = self._now
        if now is None:
            raise UsageError(f"the history in {self._path} is closed; open it again")
        return now


def _at_version(now: _OpenHistory, version: int | KeptVersion | None, incarnation: str | None) -> KeptVersion:
    failure, catalogue = now.recorder.failure, now.journal.catalogue()
    if isinstance(version, KeptVersion):
        return catalogue.of(version)
    if version is None:
        return catalogue.present()
    try:
        return catalogue.by_number(version, incarnation)
    except FutureVersionError as error:
        raise error if failure is None else _not_recorded(f"version {version}", failure) from error


def _not_recorded(what: str, failure: Failure) -> VersionNotKeptError:
    return VersionNotKeptError(
        f"{what} is not recorded: since {time_text(failure.since_ms)} the history cannot be written: {failure.error}"
    )


def _milliseconds(instant: datetime | int) -> int:
    if isinstance(instant, datetime):
        if instant.tzinfo is None:
            raise UsageError(f"the instant {instant.isoformat()} has no time zone; add one, such as tzinfo=UTC")
        return int(instant.timestamp() * 1000 // 1)
    if not isinstance(instant, int):
        raise UsageError(
            f"instant={instant!r} is not an instant; give a datetime with a time zone, such as "
            "datetime(2026, 1, 31, tzinfo=UTC) or datetime.fromisoformat('2026-01-31T12:00:00+00:00')"
        )
    return instant
