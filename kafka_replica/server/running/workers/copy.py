"""The replica of a worker: a copy of the main process's versions, with the same numbers and incarnation.

A received version is held back until all workers have it. Then the main process increases a number in shared memory,
which each request reads first. So a client that has seen a version never gets an older version from another worker, and
no request waits.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from threading import Event, RLock
from typing import Any, Final, NamedTuple

from kafka_replica.errors import BadRecordError, KafkaReplicaError, NotReadyError
from kafka_replica.listeners import DEFAULT_PENDING_CHANGES, Changes
from kafka_replica.listeners.version_diff import VersionDiff
from kafka_replica.publication.publisher import Publisher
from kafka_replica.publication.status import State, Status
from kafka_replica.replica import Replica
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.replication.supervisor import Supervision
from kafka_replica.server.running.workers.link import Link
from kafka_replica.server.running.workers.messages import (
    NextVersion,
    PresentBadRecords,
    PresentStatus,
    RecordsPart,
    ReplicaEnd,
    ServiceDescription,
    ServingPermission,
    VersionsShown,
    WholeState,
    WorkerVersion,
)
from kafka_replica.server.running.workers.shown import SharedNumber
from kafka_replica.stores import MemoryStore, Snapshot
from kafka_replica.stores.delta import AppliedChanges, Delta

_SILENT_S: Final = 10.0  # without a status for this time, the main process is assumed to be stuck
_FINAL: Final = frozenset({State.NEW, State.FAILED, State.STOPPED})


class _PendingVersion(NamedTuple):
    """A received version that is not shown yet."""

    snapshot: Snapshot
    message: NextVersion


class CopyFeed:
    """Receives versions from the main process, and shows them once all workers have them. Thread-safe.

    Args:
        link: the link to the main process.
        shown: the sequence of the newest version that may be shown, in shared memory.
        store: the store that applies the versions.
        publisher: publishes the versions to readers.
        on_end: called when the main process has ended.
    """

    def __init__(
        self, link: Link, shown: SharedNumber, store: MemoryStore, publisher: Publisher, on_end: Callable[[], object]
    ) -> None:
        self.closing = Event()
        self.may_serve = Event()
        """Set when the worker has the version that readers see, or there is none yet; also set at the end."""
        self._link = link
        self._shown = shown
        self._store = store
        self._publisher = publisher
        self._on_end = on_end
        self._waiting: deque[_PendingVersion] = deque()
        self._lock = RLock()
        self._status = Status(State.NEW, ready=False, version=0, keys=0)
        self.bad_records: tuple[BadRecordError, ...] = ()
        """The records that the main process's replica has set aside."""
        self._heard_s = time.monotonic()

    def run(self) -> None:
        """Receive messages until the main process ends."""
        self._link.put(WorkerVersion(0))  # the worker has started
        try:
            for message in self._link.received(self.closing):
                self._take(message)
        finally:
            self._publisher.stopped()
            self.may_serve.set()
            self._on_end()

    def show_due(self) -> None:
        """Show the versions that all workers have."""
        with self._lock:
            while self._waiting and self._waiting[0].message.sequence <= self._shown.value:
                self._show(self._waiting.popleft())

    def status(self) -> Status:
        """Return the last status of the main process's replica; stalled if the main process has become silent."""
        age_s = time.monotonic() - self._heard_s
        status = self._status
        if age_s < _SILENT_S or status.state in _FINAL:
            return status
        contact_s, lag_s = status.last_contact_s or 0.0, status.lag_s or 0.0
        return replace(status, state=State.STALLED, last_contact_s=contact_s + age_s, lag_s=lag_s + age_s)

    def _take(self, message: Any) -> None:
        match message:
            case NextVersion():
                self._receive(message)
            case VersionsShown():
                self.show_due()
            case WholeState():
                if self._store.snapshot().version:
                    self._store.rebuild()
                else:
                    self._store.begin_at(message.version)
            case RecordsPart():
                self._store.stage(Delta(message.records, message.source))
            case PresentStatus():
                self._status, self._heard_s = message.status, time.monotonic()
            case PresentBadRecords():
                self.bad_records = message.bad_records
            case ReplicaEnd():
                self._end(message.error)
            case ServingPermission():
                self.show_due()
                self.may_serve.set()

    def _receive(self, message: NextVersion) -> None:
        self._store.apply(Delta(message.records, message.source), message.position)
        snapshot = self._store.snapshot()
        if snapshot.version != message.version:
            raise KafkaReplicaError(f"version {message.version} arrived as {snapshot.version}; please report this")
        with self._lock:
            self._waiting.append(_PendingVersion(snapshot, message._replace(records=())))
        self._link.put(WorkerVersion(message.sequence))
        self.show_due()

    def _show(self, waiting: _PendingVersion) -> None:
        snapshot, message = waiting
        previous = self._publisher.snapshot
        if previous is None:
            self._publisher.restored(snapshot, message.incarnation)
            return
        diff = None
        if not message.is_whole:
            applied = AppliedChanges(message.changed, message.deleted)
            diff = VersionDiff(
                snapshot, previous, applied, message.transactions, message.source_transactions, rebuilt=message.rebuilt
            )
        self._publisher.replayed(snapshot, diff)

    def _end(self, error: str | None) -> None:
        if error is None:
            self._publisher.stopped()
        else:
            self._publisher.failed(KafkaReplicaError(error))


class ReplicaCopy(Replica):
    """A replica that receives its versions from the main process.

    Args:
        begin: the description of the service and of the replica in the main process.
        link: the link to the main process; messages are received once the replica is started.
        shown: as for ``CopyFeed``.
        on_end: as for ``CopyFeed``.
    """

    def __init__(
        self, begin: ServiceDescription, link: Link, shown: SharedNumber, on_end: Callable[[], object]
    ) -> None:
        self._parts = link, shown, on_end
        self.feed: CopyFeed
        super().__init__(
            {"bootstrap.servers": "main-process:0"},  # required, but never used
            topics=begin.topics,
            one_key_space=len(begin.topics) > 1 and not begin.has_key_spaces,
            kept_versions=begin.kept_versions,
            recent_changes=begin.recent_changes,
            large_values=begin.has_large_values,
        )

    def _make_supervisor(self, options: ReplicaOptions) -> Supervision:
        del options
        link, shown, on_end = self._parts
        assert isinstance(self._store, MemoryStore)  # noqa: S101 - the default store
        self.feed = CopyFeed(link, shown, self._store, self._publisher, on_end)
        return self.feed

    def snapshot(self) -> Snapshot:
        """Return the newest version that all workers have; see ``Replica.snapshot``."""
        self.feed.show_due()
        return super().snapshot()

    def at(self, version: int) -> Snapshot:
        """Return the version with a number; see ``Replica.at``."""
        self.feed.show_due()
        return super().at(version)

    def changes(
        self,
        *,
        since: int | None = None,
        incarnation: str | None = None,
        timeout_s: float | None = None,
        max_pending: int = DEFAULT_PENDING_CHANGES,
    ) -> Changes:
        """Return an iterator of changes; see ``Replica.changes``."""
        self.feed.show_due()
        return super().changes(since=since, incarnation=incarnation, timeout_s=timeout_s, max_pending=max_pending)

    @property
    def state(self) -> State:
        """The state of the replica in the main process."""
        return self.feed.status().state

    @property
    def ready(self) -> bool:
        """True if the replica in the main process is ready, and this copy has a version."""
        return self.feed.status().ready and self._publisher.has_version

    @property
    def bad_records(self) -> list[BadRecordError]:
        """The records that the replica in the main process has set aside; see ``Replica.bad_records``."""
        return list(self.feed.bad_records)

    def status(self) -> Status:
        """Return the status of the replica in the main process, with the version of this copy."""
        status = self.feed.status()
        try:
            snapshot = self.snapshot()
        except (NotReadyError, KafkaReplicaError):
            return replace(status, ready=False, version=0, keys=0, stale=False)
        return replace(status, version=snapshot.version, keys=len(snapshot), stale=not status.ready)
