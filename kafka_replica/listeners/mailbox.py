"""The mailbox of a listener."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from kafka_replica.common.error_causes import copy_of
from kafka_replica.errors import KafkaReplicaError, WaitTimeoutError
from kafka_replica.listeners.change import Change
from kafka_replica.listeners.older_version import PastSnapshot
from kafka_replica.listeners.version_diff import FullState, MergedDiff, VersionDiff
from kafka_replica.listeners.waiters import Call, Callbacks, Waiters, run_callbacks
from kafka_replica.stores import Snapshot

DEFAULT_PENDING_CHANGES = 100
"""The number of changes that wait for a slow listener before they are merged."""


class Mailbox:
    """The changes that wait for a listener: bounded, conflating, closable.

    One thread puts changes; any thread may take them. The mailbox holds only two versions: the newest one, and the one
    that was taken last. Versions in between are reconstructed from the waiting differences when they are taken.
    """

    def __init__(self, max_pending: int) -> None:
        self._pending: deque[FullState | VersionDiff | MergedDiff] = deque()
        self._max_pending = max(1, max_pending)
        self._missed = 0  # pending changes of ``since``, which do not count as pending
        self._known: Snapshot | None = None
        self._newest: Snapshot | None = None
        self._closed = False
        self._error: KafkaReplicaError | None = None
        self._waiters = Waiters()
        self._callbacks = Callbacks()

    def summary(self) -> str:
        """Return how many changes wait, and whether the mailbox is closed, without waiting for a lock."""
        return f"{len(self._pending):,} waiting{', closed' if self._closed else ''}"

    @property
    def closed(self) -> bool:
        """True if the mailbox accepts no more changes."""
        return self._closed

    @property
    def ready(self) -> bool:
        """True if ``take`` would return or raise without waiting."""
        return bool(self._pending) or self._closed

    @property
    def is_busy_here(self) -> bool:
        """True if the current thread holds the lock, as it does in a signal handler within a call."""
        return self._waiters.held_here()

    def begin(self, newest: Snapshot, missed: Sequence[VersionDiff] | None = None) -> None:
        """Put in the complete newest version, which replaces all pending changes; or the missed differences to it."""
        with self._waiters:
            if self._closed:
                return
            self._newest = newest
            if missed is None:
                self._replace_by(FullState(newest))
            else:
                self._pending.extend(missed)
                self._missed = len(missed)
                self._known = PastSnapshot(missed[0].was, tuple(missed), newest) if missed else newest
            calls = self._wake()
        run_callbacks(calls)

    def put(self, diff: VersionDiff, newest: Snapshot) -> None:
        """Add a version without blocking, or merge it into the last one if the mailbox is full."""
        self._release_versions(diff)
        with self._waiters:
            if self._closed:
                return
            self._newest = newest
            if not self._is_full():
                self._pending.append(diff)
            else:
                last = self._pending[-1]
                if isinstance(last, VersionDiff):
                    last = self._pending[-1] = MergedDiff(last)
                last.add(diff)
            calls = self._wake()
        run_callbacks(calls)

    def close(self, error: KafkaReplicaError | None = None) -> None:
        """Close the mailbox: it accepts no more changes; pending changes can still be taken."""
        with self._waiters:
            if not self._closed:
                self._closed, self._error = True, error
            calls = self._wake()
        run_callbacks(calls)

    def take(self, timeout_s: float | None = None) -> Change | None:
        """Return the next change; None if the mailbox is closed and empty.

        Raises:
            WaitTimeoutError: there was no change within the timeout.
            KafkaReplicaError: the replica failed, and all earlier changes were taken.
        """
        with self._waiters:
            if not self._waiters.wait_for(lambda: self.ready, timeout_s):
                raise WaitTimeoutError(f"no new version in {timeout_s} s; check the state of the replica")
            if self._pending and self._newest is not None:
                return self._next(self._newest)
            if self._error is not None:
                raise copy_of(self._error)
            return None

    def call_when_ready(self, call: Call) -> Callable[[], None]:
        """Call a function once, when ``ready`` is true; see ``Callbacks.add``."""
        with self._waiters:
            return self._callbacks.add(lambda: self.ready, call)

    def _next(self, newest: Snapshot) -> Change:
        diff, previous = self._pending.popleft(), self._known
        self._missed = max(0, self._missed - 1)
        snapshot = self._known = PastSnapshot(diff.now, self._diffs(), newest) if self._pending else newest
        if isinstance(diff, FullState):
            return Change(snapshot, None, snapshot.keys(), (), diff.versions)
        return Change(
            snapshot, previous, diff.changed, diff.deleted, diff.versions, diff.transactions, diff.origins, diff.rebuilt
        )

    def _replace_by(self, state: FullState) -> None:
        """Make a complete state the only pending change, and drop the differences before it."""
        state.versions += sum(pending.versions for pending in self._pending)
        self._pending.clear()
        self._pending.append(state)
        self._missed = 0

    def _diffs(self) -> tuple[VersionDiff | MergedDiff, ...]:
        return tuple(
            diff for diff in self._pending if not isinstance(diff, FullState)
        )  # only the first item can be a FullState

    def _release_versions(self, diff: VersionDiff) -> None:
        """Release the versions that pending differences hold, if the listener lags.

        This runs without the lock, because it reads the store: a thread that a signal handler interrupts there holds
        other locks.
        """
        with self._waiters:
            last = self._pending[-1] if self._pending else None
            is_full = self._is_full()
        if isinstance(last, VersionDiff):
            last.release_previous()
        if is_full:
            diff.release_previous()

    def _is_full(self) -> bool:
        return len(self._pending) - self._missed >= self._max_pending

    def _wake(self) -> list[Call]:
        self._waiters.notify_all()
        return self._callbacks.due()
