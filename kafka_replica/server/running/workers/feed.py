"""The main process's feed of versions: sends each version to all workers, and has it shown once all have it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from threading import Lock
from typing import Any, Final, NamedTuple

from kafka_replica.listeners import Change
from kafka_replica.records import NOWHERE, Partition, Record, Stored
from kafka_replica.server.running.workers.link import Link
from kafka_replica.server.running.workers.messages import (
    NextVersion,
    RecordsPart,
    ServingPermission,
    VersionsShown,
    WholeState,
)
from kafka_replica.server.running.workers.shown import SharedNumber
from kafka_replica.stores import Snapshot

_RECORDS_AT_ONCE: Final = 2000


class _Version(NamedTuple):
    """A version for the workers, with its change from the previous version."""

    sequence: int
    incarnation: str
    snapshot: Snapshot
    change: Change


@dataclass(slots=True)
class _Worker:
    """The progress of a worker; times are those of a monotonic clock, in seconds."""

    link: Link
    has: int = 0
    """The sequence of the newest version that the worker has."""
    is_counted: bool = False
    """True once the worker has the version that readers see; later versions are shown only when it has them, too."""
    since_s: float = field(default_factory=time.monotonic)
    """The time since which the worker has been missing a version without receiving one."""
    heard_s: float = field(default_factory=time.monotonic)
    """The time of the worker's last message."""


class VersionFeed:
    """Sends versions to workers. Thread-safe.

    A new worker also gets the earlier versions that the replica keeps, so that it answers the same pinned paths as the
    others.

    Args:
        shown: the sequence of the newest version that all workers have, in shared memory.
        kept: the number of earlier versions to keep for workers that start later.
    """

    def __init__(self, shown: SharedNumber, kept: int) -> None:
        self._shown = shown
        self._versions: deque[_Version] = deque(maxlen=kept + 1)
        self._workers: dict[Link, _Worker] = {}
        self._lock = Lock()
        self.sequence = 0
        """The number of versions so far, which is the sequence of the newest version."""

    @property
    def shown(self) -> int:
        """The sequence of the newest version that readers see."""
        return self._shown.value

    def record(self, change: Change, incarnation: str) -> None:
        """Send a new version to all workers; a ``VersionRecorder``, called in the thread that makes versions."""
        with self._lock:
            self.sequence += 1
            version = _Version(self.sequence, incarnation, change.snapshot, change)
            self._versions.append(version)
            for worker in self._workers.values():
                if worker.has == self.sequence - 1:
                    worker.since_s = time.monotonic()  # until now, it was missing no version
                worker.link.put_later(partial(_messages, version, is_whole=change.initial))
            self._show()

    def attach(self, link: Link) -> None:
        """Send the kept versions to a new worker, and from now on each new version."""
        with self._lock:
            self._workers[link] = _Worker(link)
            for number, version in enumerate(self._versions):
                is_whole = number == 0 or version.change.initial
                link.put_later(partial(_messages, version, is_whole=is_whole))

    def detach(self, link: Link) -> None:
        """Remove a worker; versions are shown without waiting for it."""
        with self._lock:
            self._workers.pop(link, None)
            self._show()

    def received(self, link: Link, sequence: int) -> None:
        """Record that a worker has all versions up to a sequence."""
        with self._lock:
            worker = self._workers.get(link)
            if worker is not None:
                worker.has, worker.since_s = sequence, time.monotonic()
                self._count(worker)
                self._show()

    def heard(self, link: Link) -> None:
        """Record the time of a message from a worker, which shows that the worker is alive."""
        with self._lock:
            if link in self._workers:
                self._workers[link].heard_s = time.monotonic()

    def late(self, silent_s: float, limit_s: float) -> list[Link]:
        """Return the links of workers that delay a version and seem to be stuck.

        Args:
            silent_s: the maximum time without any message, while a version is missing.
            limit_s: the maximum time to receive a version, which may be large.
        """
        now_s = time.monotonic()
        with self._lock:
            lacking = [each for each in self._workers.values() if each.is_counted and each.has < self.sequence]
        return [
            each.link
            for each in lacking
            if now_s - max(each.since_s, each.heard_s) > silent_s or now_s - each.since_s > limit_s
        ]

    # --- helpers; the caller holds the lock ---

    def _count(self, worker: _Worker) -> None:
        if not worker.is_counted and worker.has >= self._shown.value:
            worker.is_counted = True
            worker.link.put(ServingPermission())

    def _show(self) -> None:
        counted = [each.has for each in self._workers.values() if each.is_counted]
        newest = min(counted, default=self.sequence)
        if newest > self._shown.value:
            self._shown.value = newest
            for worker in self._workers.values():
                worker.link.put(VersionsShown())


def _messages(version: _Version, *, is_whole: bool) -> Iterator[Any]:
    """Yield the messages of a version; runs in the sending thread, because it reads the version's records."""
    snapshot, change = version.snapshot, version.change
    source = next(iter(snapshot.position)) if len(snapshot.position) == 1 else None
    records: list[Record] = []
    if is_whole:
        yield WholeState(snapshot.version)
        found = iter(snapshot.scan())
        while part := [each for _, each in islice(found, _RECORDS_AT_ONCE) if isinstance(each, Record)]:
            yield RecordsPart(_packed(part, source), source)
    else:
        records = [snapshot[key] for key in change.changed]
        records += [Record(key, None, -1, -1, (), NOWHERE) for key in change.deleted]
    yield NextVersion(
        version.sequence,
        version.incarnation,
        snapshot.version,
        snapshot.position,
        is_whole,
        _packed(records, source),
        source,
        () if is_whole else tuple(change.changed),
        () if is_whole else tuple(change.deleted),
        change.transactions,
        change.source_transactions,
        change.rebuilt,
    )


def _packed(records: Sequence[Record], source: Partition | None) -> Sequence[Stored]:
    """Return records as tuples without their partition, if there is only one, because these need less memory."""
    return (
        records
        if source is None
        else [(each.key, each.value, each.offset, each.timestamp_ms, each.headers) for each in records]
    )
