"""Look-ups that follow a replica and process only the changes of each version."""

from __future__ import annotations

from collections.abc import Iterable
from threading import RLock
from types import TracebackType
from typing import Final, NamedTuple, Self, cast

from kafka_replica.errors import KafkaReplicaError, UsageError
from kafka_replica.records import keys_of_topic
from kafka_replica.sdmx.lookups.cache import CacheStats, DecodeCache, decode_cache
from kafka_replica.sdmx.lookups.decoding import Snapshot
from kafka_replica.sdmx.lookups.problem_log import ProblemLog
from kafka_replica.sdmx.lookups.replica_protocol import FollowedReplica, OfTopics
from kafka_replica.sdmx.lookups.structures import Structures

_PUBLISHING_S: Final = 5.0  # the replica shows a version shortly before it sends a notification


class LiveStats(NamedTuple):
    """Counts of the newest version, for metrics."""

    version: int
    artefacts: int
    """Artefacts that have a record of their own."""
    dangling: int | None
    """Dangling references; None before ``prepare()``, or the first query for references."""
    unreadable: int | None
    """Records that cannot be read; None in the same cases."""
    cache: CacheStats


class LiveStructures:
    """Look-ups in the newest version of a replica, in time that does not depend on the size of the replica.

    ::

        live = LiveStructures(replica)
        structures = live.structures()  # of one version; call again for a newer one

    Each call of :meth:`structures` processes the changes since the previous call; nothing happens in between, and there
    is no thread. The backlog is bounded, as for any listener: one record per key that was written. Thread-safe.

    Args:
        replica: a ``Replica``, started or not; ``async_replica.replica`` with asyncio.
        cache: the cache of decoded messages; ``decode_cache``, shared by the process, by default.
        companions: as for ``Structures``.
        topic: the topic that holds structures, if the replica has several topics that are not one key space.
    """

    def __init__(
        self,
        replica: FollowedReplica,
        *,
        cache: DecodeCache | None = None,
        companions: bool = True,
        topic: str | None = None,
    ) -> None:
        self._replica = replica
        self._cache = decode_cache if cache is None else cache
        self._companions = companions
        self._topic = topic
        self._changes = replica.changes(timeout_s=_PUBLISHING_S)
        self._lock = RLock()
        self._version = -1
        self._now: Structures | None = None
        self._closed = False
        self._problems = ProblemLog()

    def __repr__(self) -> str:
        if self._closed:
            return "<LiveStructures, closed>"
        now = self._now
        state = "not queried yet" if now is None else f"last queried in version {now.version}"
        return f"<LiveStructures of {self._replica!r}, {state}>"

    @property
    def cache(self) -> DecodeCache:
        """The cache of decoded messages."""
        return self._cache

    def structures(self, snapshot: Snapshot | None = None) -> Structures:
        """Return look-ups in the newest version, or in another version of the same replica.

        Args:
            snapshot: a version that is held, such as ``replica.at(41)``, or one of the replica's ``VersionHistory``. If
                it is not the newest, all its keys are scanned once; decoded messages are shared.

        Raises:
            NotReadyError: there is no version yet.
            KafkaReplicaError: the replica failed before there was a version.
            UsageError: this object was closed.
        """
        with self._lock:
            if self._closed:
                raise UsageError("these live look-ups are closed; create new ones: LiveStructures(replica)")
            now = self._caught_up(self._replica.snapshot())
        if snapshot is None or (snapshot.version == now.version and self._has_own_number(snapshot)):
            return now
        return now.moved_to(self._of_topic(snapshot))

    def prepare(self) -> Structures:
        """Build all indexes now, which decodes everything once; from then on they are kept, and counted in metrics.

        Raises the errors of :meth:`structures`. Unreadable records do not fail the call.
        """
        found = self.structures()
        found.count_references()
        return found

    def stats(self) -> LiveStats:
        """Return counts of the newest version. Raises the errors of :meth:`structures`.

        The log names dangling references and unreadable records, each once, if they are counted.
        """
        found = self.structures()
        references = found.reference_stats
        if references is not None:
            self._problems.note(found)
        dangling, unreadable = (None, None) if references is None else references
        return LiveStats(found.version, len(found), dangling, unreadable, self._cache.stats)

    def close(self) -> None:
        """Stop following the replica; ``Structures`` that were returned before keep working. Idempotent."""
        with self._lock:
            self._closed = True
            self._now = None
        self._changes.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _has_own_number(self, snapshot: Snapshot) -> bool:
        """Return whether the number of a version was given by this incarnation of the replica, and not by another.

        A history keeps versions of earlier incarnations, whose numbers began at 1, too.
        """
        kept = getattr(snapshot, "kept", None)  # an attribute of HistorySnapshot
        incarnation: str | None = getattr(kept, "incarnation", None)
        return incarnation is None or incarnation == getattr(self._replica, "incarnation", None)

    # --- helpers; the lock is held ---

    def _caught_up(self, shown: Snapshot) -> Structures:
        """Process the pending changes, at least up to the version that the replica shows."""
        last: Snapshot | None = None
        touched: set[bytes] | None = set()
        try:
            while self._changes.ready or self._version < shown.version:
                change = next(self._changes)
                last, self._version = change.snapshot, change.snapshot.version
                touched = None if change.initial or touched is None else {*touched, *change.changed, *change.deleted}
        except (StopIteration, KafkaReplicaError):
            # The replica has ended without a notification for the version it shows.
            if self._version < shown.version:
                last, touched, self._version = shown, None, shown.version
        if last is not None:
            self._move(last, touched)
        if self._now is None:
            raise UsageError("the replica did not announce its version; create new live look-ups")
        return self._now

    def _move(self, snapshot: Snapshot, touched: Iterable[bytes] | None) -> None:
        snapshot = self._of_topic(snapshot)
        if self._now is None:
            self._now = Structures(snapshot, cache=self._cache, companions=self._companions)
        else:
            self._now = self._now.moved_to(snapshot, None if touched is None else self._keys_of_topic(touched))

    def _of_topic(self, snapshot: Snapshot) -> Snapshot:
        return snapshot if self._topic is None else cast("OfTopics", snapshot).of(self._topic)

    def _keys_of_topic(self, keys: Iterable[bytes]) -> Iterable[bytes]:
        return keys if self._topic is None else keys_of_topic(self._topic, keys)
