"""The publisher: the version shown, the versions kept before it, and the waiting readers. Only the follower changes it.

One lock guards this state, together with the health and the bad records. It is only held briefly. Waiting threads use
its condition.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from kafka_replica.errors import KafkaReplicaError, StoreError
from kafka_replica.headers.transactions import TransactionHeaders
from kafka_replica.listeners import DEFAULT_RECENT_CHANGES, Change, Mailbox, RecentChanges
from kafka_replica.listeners.version_diff import VersionDiff
from kafka_replica.listeners.waiters import Call, Callbacks, Waiters, run_callbacks
from kafka_replica.publication.bad_record_list import BadRecordList
from kafka_replica.publication.health import Health
from kafka_replica.publication.health_tracker import HealthTracker
from kafka_replica.publication.kept_versions import KeptVersions
from kafka_replica.publication.recorders import Recorders, VersionRecorder
from kafka_replica.publication.status import State, Status
from kafka_replica.records import Partition, Position
from kafka_replica.stores import Snapshot
from kafka_replica.stores.delta import AppliedChanges

_log = logging.getLogger("kafka_replica")


class Publisher:
    """The public view of a replica. The follower publishes versions; the replica and its users query them."""

    def __init__(self, health: Health, recent_changes: int = DEFAULT_RECENT_CHANGES, kept_versions: int = 0) -> None:
        self.incarnation = secrets.token_hex(8)
        """The identifier of the incarnation; version numbers are valid only within it."""
        self.first_version: int | None = None
        """The number of the first version that was shown: not 1 if it continues a saved one."""
        self._waiters = Waiters()
        self.health = HealthTracker(self._waiters, health)
        self.bad_records = BadRecordList(self._waiters)
        self._callbacks = Callbacks()
        self._snapshot: Snapshot | None = None
        self._mailboxes: list[Mailbox] = []
        self._recent = RecentChanges(recent_changes)
        self._kept = KeptVersions(kept_versions)
        self._is_outdated = False
        self._recorders = Recorders()

    # --- events, reported by the follower ---

    def restored(self, snapshot: Snapshot, incarnation: str) -> None:
        """Show the saved version from before the restart until reading has reached the barrier."""
        with self._recorders:
            if self.health.is_closed:  # while a broker that was slow to answer was waited for
                return
            self.incarnation = incarnation or self.incarnation
            self.first_version = snapshot.version
            self._recorders.record(_change(snapshot), self.incarnation)
            with self._waiters:
                self._snapshot = snapshot
                self.health.restored(snapshot.position)
                self._kept.add(snapshot)
                mailboxes = tuple(self._mailboxes)
                calls = self._wake()
        run_callbacks(calls)
        for mailbox in mailboxes:
            mailbox.begin(snapshot)

    def outdated(self, reason: KafkaReplicaError) -> None:
        """Mark the version shown as outdated: the log was replaced or the store damaged, and a rebuild begins."""
        with self._waiters:
            self.bad_records.clear()
            self.health.outdated(reason)
            self._is_outdated = True

    def advanced(self, position: Position) -> None:
        """Advance the position of the version shown, up to which nothing has changed."""
        with self._waiters:
            self.health.advanced(position)
            calls = self._wake()
        run_callbacks(calls)

    def published(
        self,
        snapshot: Snapshot,
        applied: AppliedChanges | None,
        transactions: int | None = None,
        origins: Sequence[TransactionHeaders] = (),
    ) -> None:
        """Show a new version to readers, and pass it to listeners.

        Args:
            snapshot: the version.
            applied: its changes; None if they are unknown, so that listeners receive the complete state.
            transactions: the number of committed Kafka transactions in it; None if unknown.
            origins: the transactions of a source that wrote its records, as far as headers name them.
        """
        diff, previous = None, self._snapshot  # only this thread replaces the version
        if previous is not None and applied is not None:
            names = tuple(each.transaction for each in origins)
            diff = VersionDiff(snapshot, previous, applied, transactions, names, rebuilt=self._is_outdated)
        self._show(snapshot, diff, transactions, origins)

    def replayed(self, snapshot: Snapshot, diff: VersionDiff | None) -> None:
        """Show a version that another process has published, with its difference to the previous version, if known."""
        self._show(snapshot, diff, None if diff is None else diff.transactions, ())

    def _show(
        self,
        snapshot: Snapshot,
        diff: VersionDiff | None,
        transactions: int | None,
        origins: Sequence[TransactionHeaders],
    ) -> None:
        previous = self._snapshot
        with self._recorders:
            if self.health.is_closed:  # during a write that took long: another replica may record by now
                return
            if previous is None:
                self.first_version = snapshot.version
            if self._recorders:
                self._recorders.record(_change(snapshot, previous, diff), self.incarnation)
            with self._waiters:
                self._snapshot = snapshot
                self._is_outdated = False
                self._kept.add(snapshot)
                if diff is not None:
                    self._recent.add(diff)
                else:
                    self._recent.clear()
                self._mailboxes = [mailbox for mailbox in self._mailboxes if not mailbox.closed]
                mailboxes = tuple(self._mailboxes)
                self.health.published(snapshot.position, transactions, origins)
                calls = self._wake()
        # Without the lock: a thread that a closing signal handler interrupts in a mailbox holds the mailbox's lock.
        run_callbacks(calls)
        if diff is not None:
            self._pass_on(diff, snapshot, mailboxes)
            return
        for mailbox in mailboxes:
            mailbox.begin(snapshot)

    def _pass_on(self, diff: VersionDiff, snapshot: Snapshot, mailboxes: Sequence[Mailbox]) -> None:
        """Pass a version to listeners; one that lags receives the complete state if replaced records are unreadable.

        Raises:
            StoreError: replaced records cannot be read; all listeners have the version.
        """
        is_readable = True
        for mailbox in mailboxes:
            try:
                mailbox.put(diff, snapshot)
            except StoreError as error:  # of this version, or of an earlier one that the listener has not taken
                _log.error("a listener receives the complete state: %s", error)
                is_readable = False
                mailbox.begin(snapshot)
        try:
            self._recent.release_previous()
            if not is_readable:
                diff.release_previous()
        except StoreError:
            with self._waiters:
                self._recent.clear()
            raise
        with self._waiters:
            self._recent.shrink()

    def failed(self, error: KafkaReplicaError) -> None:
        """Note that the replica failed with an error; wake all waiting readers, and close the mailboxes."""
        with self._waiters:
            # The traceback is removed, because it would keep all objects of the reading thread alive.
            self.health.failed(error.with_traceback(None))
            mailboxes, calls = self._take_mailboxes(), self._wake()
        _finish(mailboxes, calls, error)

    def stopped(self) -> None:
        """Note that the replica was closed; wake all waiting readers, and close the mailboxes."""
        with self._waiters:
            self.health.stopped()
            mailboxes, calls = self._take_mailboxes(), self._wake()
        _finish(mailboxes, calls, None)

    @property
    def is_busy_here(self) -> bool:
        """True if the current thread holds one of the locks, as it does in a signal handler within a call."""
        locks = self._waiters, self._recorders
        return any(lock.held_here() for lock in locks) or any(box.is_busy_here for box in tuple(self._mailboxes))

    # --- queries, from any thread ---

    @property
    def snapshot(self) -> Snapshot | None:
        """The version shown; reading it needs no lock, because it is a single reference."""
        return self._snapshot

    @property
    def has_version(self) -> bool:
        """True if there is a version to show."""
        return self._snapshot is not None

    def at(self, version: int) -> Snapshot:
        """Return the version with a number.

        Raises:
            VersionGoneError: the version is not kept.
        """
        with self._waiters:
            return self._kept.at(version, self._snapshot)

    def touched(self, since: int, until: int) -> set[bytes] | None:
        """Return the keys touched by versions after ``since``, up to ``until``; None if they are unknown."""
        with self._waiters:
            snapshot = self._snapshot
            diffs = None if snapshot is None else self._recent.after(since, snapshot.version)
        if diffs is None:
            return None
        return {
            key for diff in diffs if diff.now.version <= until for keys in (diff.changed, diff.deleted) for key in keys
        }

    @property
    def state(self) -> State:
        """The current state."""
        return self.health.state

    def wait_for(self, position: Mapping[Partition, int], timeout_s: float | None) -> bool:
        """Wait until the version shown has reached ``position``; if that is empty, until the replica is ready.

        Returns:
            Whether this is the case; False after ``timeout_s``, or as soon as the replica has failed or stopped.
        """
        with self._waiters:
            self._waiters.wait_for(lambda: self._is_wait_over(position), timeout_s)
            return self._has_reached(position)

    def call_when(self, position: Mapping[Partition, int], call: Call) -> Callable[[], None]:
        """Call a function once, when ``wait_for`` would return, perhaps now; return a function that cancels it."""
        with self._waiters:
            return self._callbacks.add(lambda: self._is_wait_over(position), call)

    def mailbox(self, max_pending: int, since: int | None = None) -> Mailbox:
        """Return a new mailbox with the current version, or the changes since a version; later versions follow."""
        mailbox = Mailbox(max_pending)
        with self._waiters:
            snapshot = self._snapshot
            if snapshot is not None:
                mailbox.begin(snapshot, None if since is None else self._recent.after(since, snapshot.version))
            self._mailboxes = [other for other in self._mailboxes if not other.closed]
            self._mailboxes.append(mailbox)  # before the check: a signal handler may close the replica in between
            if self.health.is_over:
                mailbox.close(self.health.error)
                self._mailboxes = []
        return mailbox

    def record(self, recorder: VersionRecorder) -> Callable[[], None]:
        """Call a recorder with the current version, then with each one before it is shown; return a cancel function."""
        with self._recorders:
            if self._snapshot is not None:
                recorder(_change(self._snapshot), self.incarnation)
            self._recorders.add(recorder)
        return lambda: self._recorders.remove(recorder)

    def status(self) -> Status:
        """Return the complete status at one moment."""
        with self._waiters:
            snapshot = self._snapshot
            status = self.health.status(self.bad_records.count)
        if snapshot is None:
            return status
        keys = len(snapshot)  # without the lock: counting may take a while
        return replace(status, version=snapshot.version, keys=keys, stale=not status.ready)

    # --- helpers, called with the lock held ---

    def _has_reached(self, position: Mapping[Partition, int]) -> bool:
        if self._snapshot is None or not (position or self.health.is_ready) or self.health.is_of_other_log:
            return False
        return self.health.position.includes(position)

    def _is_wait_over(self, position: Mapping[Partition, int]) -> bool:
        return self._has_reached(position) or self.health.is_over

    def _wake(self) -> list[Call]:
        self._waiters.notify_all()
        return self._callbacks.due()

    def _take_mailboxes(self) -> list[Mailbox]:
        mailboxes, self._mailboxes = self._mailboxes, []
        return mailboxes


def _change(snapshot: Snapshot, previous: Snapshot | None = None, diff: VersionDiff | None = None) -> Change:
    """Return a version as a change of the previous one; without a difference, as the complete state."""
    if diff is None:
        return Change(snapshot, None, snapshot.keys(), ())
    return Change(
        snapshot, previous, diff.changed, diff.deleted, 1, diff.transactions, diff.origins, rebuilt=diff.rebuilt
    )


def _finish(mailboxes: list[Mailbox], calls: list[Call], error: KafkaReplicaError | None) -> None:
    """Close mailboxes and make calls, without the lock, as in ``Publisher.published``."""
    for mailbox in mailboxes:
        mailbox.close(error)
    run_callbacks(calls)
