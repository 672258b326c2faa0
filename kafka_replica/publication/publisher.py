"""The publisher, which the follower writes and all others read: the version shown, the state and the counts.

One lock guards all of this and is held for short moments only. Threads that wait use its condition.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from kafka_replica.errors import BadRecordError, KafkaReplicaError
from kafka_replica.headers.transactions import TransactionHeaders
from kafka_replica.listeners import DEFAULT_RECENT_CHANGES, Mailbox, RecentChanges
from kafka_replica.listeners.version_diff import VersionDiff
from kafka_replica.listeners.waiters import Call, Callbacks, Waiters, run_callbacks
from kafka_replica.publication.history import History
from kafka_replica.publication.latency import Latencies
from kafka_replica.publication.status import Counts, Health, State, Status, lag
from kafka_replica.records import Partition, Position
from kafka_replica.stores import Snapshot
from kafka_replica.stores.delta import Applied
from kafka_replica.transactions import Ends

_BAD_RECORDS_KEPT = 1000


class Publisher:
    """The public state of a replica. The follower reports events; the replica and its users query the state."""

    def __init__(self, health: Health, recent_changes: int = DEFAULT_RECENT_CHANGES, history: int = 0) -> None:
        self.incarnation = secrets.token_hex(8)
        """The identifier of the incarnation: version numbers are valid within it only."""
        self.ready = False
        """True if the version shown has everything that was in the log when reading began; unchanged by stopping."""
        self._health = health
        self._waiters = Waiters()
        self._callbacks = Callbacks()
        self._snapshot: Snapshot | None = None
        self._error: KafkaReplicaError | None = None
        self._trouble: KafkaReplicaError | None = None
        self._rebuilt_for: KafkaReplicaError | None = None  # until the rebuild is complete
        self._stopped = False
        self._barrier = self._positions = self._stable = self._high = Position()
        self._behind_since_s: float | None = None
        self._boundaries: str | None = None
        self._held_records = 0
        self._settled = (0, 0)
        self._shown_position = Position()
        self._counts = Counts()
        self._latencies = Latencies()
        self._bad_records: dict[tuple[str, bytes | int], BadRecordError] = {}  # by key, else by offset
        self._mailboxes: list[Mailbox] = []
        self._recent = RecentChanges(recent_changes)
        self._history = History(history)

    # --- events, reported by the follower ---

    def started(self) -> None:
        """Note that reading begins."""
        with self._waiters:
            self._health.started(time.monotonic())

    def heard(self) -> None:
        """Note that the broker answered."""
        with self._waiters:
            self._trouble = None  # the problem is over
            self._health.heard(time.monotonic())

    def troubled(self, trouble: KafkaReplicaError) -> None:
        """Note a temporary problem."""
        with self._waiters:
            self._trouble = trouble

    def barrier_set(self, high_watermarks: Position, boundaries: str) -> None:
        """Set the barrier, and how transaction boundaries are detected."""
        with self._waiters:
            self._barrier = high_watermarks
            self._boundaries = boundaries

    def read(self, positions: Position) -> None:
        """Set the positions that reading has reached."""
        with self._waiters:
            self._positions = positions

    def counted(self, held_records: int, settled: tuple[int, int]) -> None:
        """Set the number of records held back, and the numbers of records and tombstones since the start."""
        with self._waiters:
            self._held_records = held_records
            self._settled = settled

    def set_aside(self, bad_records: list[BadRecordError]) -> None:
        """Add records that cannot be replicated."""
        with self._waiters:
            self._counts = replace(self._counts, bad_records=self._counts.bad_records + len(bad_records))
            self._list(bad_records)

    def cleared(self, keys: list[tuple[str, bytes]]) -> None:
        """Forget the bad records of keys that have a good record now, or are deleted."""
        with self._waiters:
            for topic_and_key in keys:
                self._bad_records.pop(topic_and_key, None)

    def ends(self, ends: Ends, *, waits: bool) -> None:
        """Set the ends of the partitions, and whether open transactions hold back committed records."""
        with self._waiters:
            self._stable, self._high = ends
            self._health.ends(ends.stable, ends.high, self._positions, time.monotonic(), waits=waits)
            self._note_lag()

    def forget_bad_records(self, starts: Mapping[Partition, int]) -> None:
        """Forget bad records below these offsets, which are no longer in the log."""
        with self._waiters:
            for place, bad in list(self._bad_records.items()):
                if bad.offset < starts.get(Partition(bad.topic, bad.partition), 0):
                    del self._bad_records[place]

    def set_aside_before(self, bad_records: Iterable[BadRecordError]) -> None:
        """Add records that were set aside before the restart."""
        with self._waiters:
            self._list(bad_records)

    def restored(self, snapshot: Snapshot, incarnation: str) -> None:
        """Show the saved version from before the restart until reading has reached the barrier."""
        with self._waiters:
            self.incarnation = incarnation or self.incarnation
            self._snapshot, self._shown_position = snapshot, snapshot.position
            self._history.add(snapshot)
            mailboxes = tuple(self._mailboxes)
            calls = self._told()
        run_callbacks(calls)
        for mailbox in mailboxes:
            mailbox.begin(snapshot)

    def outdated(self, reason: KafkaReplicaError) -> None:
        """Mark the version shown as outdated: the log was replaced or the store damaged, and a rebuild begins."""
        with self._waiters:
            self.ready = False
            self._rebuilt_for = reason
            self._bad_records.clear()
            self._positions = self._stable = self._high = Position()
            self._settled = (0, 0)
            self._counts = replace(self._counts, rebuilds=self._counts.rebuilds + 1)
            self._health.not_ready()

    def advanced(self, position: Position) -> None:
        """Advance the position of the version shown, because nothing has changed up to there."""
        with self._waiters:
            self._shown_position = position
            self.ready = True
            self._rebuilt_for = None
            self._health.ready()
            self._note_lag()
            calls = self._told()
        run_callbacks(calls)

    def published(
        self,
        snapshot: Snapshot,
        applied: Applied | None,
        transactions: int | None = None,
        origins: Sequence[TransactionHeaders] = (),
    ) -> None:
        """Show a new version to readers, and pass it to listeners.

        Args:
            snapshot: the version.
            applied: its changes; None if they are not known, so that listeners receive the whole state.
            transactions: the number of committed Kafka transactions in it; None if that is not known.
            origins: the transactions of a source that wrote its records, as far as headers name them.
        """
        with self._waiters:
            previous, self._snapshot = self._snapshot, snapshot
            self._shown_position = snapshot.position
            self._history.add(snapshot)
            self.ready = True
            self._rebuilt_for = None
            step = None
            if previous is not None and applied is not None:
                step = VersionDiff(
                    snapshot, previous, applied, transactions, tuple(each.transaction for each in origins)
                )
            if step is not None:
                self._recent.add(step)
            else:
                self._recent.clear()
            self._mailboxes = [mailbox for mailbox in self._mailboxes if not mailbox.closed]
            mailboxes = tuple(self._mailboxes)
            self._counts = replace(
                self._counts,
                versions=self._counts.versions + 1,
                transactions=self._counts.transactions + (transactions or 0),
            )
            self._note_latencies(origins)
            self._health.ready()
            self._note_lag()
            calls = self._told()
        # Without the lock: a thread that a closing signal handler interrupts in a mailbox holds the mailbox's lock.
        run_callbacks(calls)
        for mailbox in mailboxes:
            if step is None:
                mailbox.begin(snapshot)
            else:
                mailbox.put(step, snapshot)
        if step is not None:
            self._recent.settle()

    def failed(self, error: KafkaReplicaError) -> None:
        """Note that the replica failed with an error; wake all who wait, and close the mailboxes."""
        with self._waiters:
            # Without the traceback, which would keep all objects of the reading thread alive.
            self._error = error.with_traceback(None)
            self._health.failed()
            mailboxes, calls = self._dismissed(), self._told()
        _end(mailboxes, calls, error)

    def stopped(self) -> None:
        """Note that the replica was closed; wake all who wait, and close the mailboxes."""
        with self._waiters:
            self._stopped = True
            self._health.stopped()
            mailboxes, calls = self._dismissed(), self._told()
        _end(mailboxes, calls, None)

    @property
    def is_busy_here(self) -> bool:
        """Return whether the current thread holds one of the locks, as it does in a signal handler within a call."""
        return self._waiters.held_here() or any(mailbox.is_busy_here for mailbox in tuple(self._mailboxes))

    def listener_failed(self) -> None:
        """Count an exception of a listener."""
        with self._waiters:
            self._counts = replace(self._counts, listener_errors=self._counts.listener_errors + 1)

    # --- queries, from any thread ---

    @property
    def snapshot(self) -> Snapshot | None:
        """The version shown; read without the lock, because it is a single reference."""
        return self._snapshot

    @property
    def has_version(self) -> bool:
        """Return whether there is a version to show."""
        return self._snapshot is not None

    def at(self, version: int) -> Snapshot:
        """Return the version with a number.

        Raises:
            VersionGoneError: the version is not kept.
        """
        with self._waiters:
            return self._history.at(version, self._snapshot)

    def touched(self, since: int, until: int) -> set[bytes] | None:
        """Return the keys that versions after ``since`` have touched, up to ``until``; None if they are not known."""
        with self._waiters:
            snapshot = self._snapshot
            steps = None if snapshot is None else self._recent.after(since, snapshot.version)
        if steps is None:
            return None
        return {
            key for step in steps if step.now.version <= until for keys in (step.changed, step.deleted) for key in keys
        }

    @property
    def error(self) -> KafkaReplicaError | None:
        """The error with which the replica failed, or None."""
        return self._error

    @property
    def bad_records(self) -> list[BadRecordError]:
        """The newest records set aside, without those that a later good record has replaced."""
        with self._waiters:
            return list(self._bad_records.values())

    @property
    def state(self) -> State:
        """The current state."""
        with self._waiters:
            return self._health.state(time.monotonic())

    def wait_for(self, position: Mapping[Partition, int], timeout_s: float | None) -> bool:
        """Wait until the version shown has reached ``position`` (if that is empty, until the replica is ready).

        Returns:
            Whether it has; False after ``timeout_s``, or as soon as the replica has failed or stopped.
        """
        with self._waiters:
            self._waiters.wait_for(lambda: self._is_settled(position), timeout_s)
            return self._has_come_to(position)

    def call_when(self, position: Mapping[Partition, int], call: Call) -> Callable[[], None]:
        """Call a function once, when ``wait_for`` would return, perhaps now; return a function that cancels this."""
        with self._waiters:
            return self._callbacks.add(lambda: self._is_settled(position), call)

    def mailbox(self, max_pending: int, since: int | None = None) -> Mailbox:
        """Return a new mailbox with the current version, or the changes since a version; later versions follow."""
        mailbox = Mailbox(max_pending)
        with self._waiters:
            snapshot = self._snapshot
            if snapshot is not None:
                mailbox.begin(snapshot, None if since is None else self._recent.after(since, snapshot.version))
            self._mailboxes.append(mailbox)  # before the check: a signal handler may close the replica in between
            if self._error is not None or self._stopped:
                mailbox.close(self._error)
                self._mailboxes = []
        return mailbox

    def status(self) -> Status:
        """Return the full status at one moment."""
        now_s = time.monotonic()
        with self._waiters:
            snapshot = self._snapshot
            status = self._status(now_s)
        return replace(status, keys=len(snapshot)) if snapshot is not None else status  # counting may take a while

    # --- helpers, called with the lock held ---

    def _status(self, now_s: float) -> Status:
        snapshot, position = self._snapshot, self._shown_position
        blocking_transaction, heard_s = self._health.blocking_transaction, self._health.heard_s
        last_error = self._error or self._trouble or self._rebuilt_for
        return Status(
            state=self._health.state(now_s),
            ready=self.ready,
            stale=snapshot is not None and not self.ready,
            version=snapshot.version if snapshot is not None else 0,
            keys=0,
            position=position,
            read_position=self._positions,
            barrier=self._barrier,
            last_stable_offset=self._stable,
            high_watermark=self._high,
            lag_records=lag(position, self._high),
            lag_stable_records=lag(position, self._stable),
            lag_s=self._lag_s(now_s),
            pending_records=self._held_records,
            blocked_s=self._health.blocked_s(now_s),
            blocking_transaction="{}@{}".format(*blocking_transaction) if blocking_transaction is not None else None,
            open_transactions=len(position.open),
            boundaries=self._boundaries,
            last_contact_s=None if heard_s is None else now_s - heard_s,
            last_error=None if last_error is None else str(last_error),
            counts=replace(self._counts, records=self._settled[0], tombstones=self._settled[1]),
            latencies=self._latencies,
        )

    def _list(self, bad_records: Iterable[BadRecordError]) -> None:
        for bad in bad_records:
            place = bad.topic, bad.offset if bad.key is None else bad.key
            self._bad_records.pop(place, None)
            self._bad_records[place] = bad
        for oldest in list(self._bad_records)[: max(0, len(self._bad_records) - _BAD_RECORDS_KEPT)]:
            del self._bad_records[oldest]

    def _note_latencies(self, origins: Sequence[TransactionHeaders]) -> None:
        now_s = time.time()
        for origin in origins:
            self._latencies = self._latencies.plus(now_s - origin.time_ms / 1000)

    def _note_lag(self) -> None:
        if not lag(self._shown_position, self._high):
            self._behind_since_s = None
        elif self._behind_since_s is None:
            self._behind_since_s = time.monotonic()

    def _lag_s(self, now_s: float) -> float | None:
        heard_s = self._health.heard_s
        if not self._high or heard_s is None:
            return None
        if self._health.state(now_s) in {State.STALLED, State.FAILED}:
            return now_s - min(heard_s, self._behind_since_s or heard_s)
        return 0.0 if self._behind_since_s is None else now_s - self._behind_since_s

    def _has_come_to(self, position: Mapping[Partition, int]) -> bool:
        if self._snapshot is None or not (position or self.ready):
            return False
        return self._shown_position.includes(position)

    def _is_settled(self, position: Mapping[Partition, int]) -> bool:
        return self._has_come_to(position) or self._error is not None or self._stopped

    def _told(self) -> list[Call]:
        self._waiters.notify_all()
        return self._callbacks.due()

    def _dismissed(self) -> list[Mailbox]:
        mailboxes, self._mailboxes = self._mailboxes, []
        return mailboxes


def _end(mailboxes: list[Mailbox], calls: list[Call], error: KafkaReplicaError | None) -> None:
    """Close mailboxes and make calls, without the lock, as in ``Publisher.published``."""
    for mailbox in mailboxes:
        mailbox.close(error)
    run_callbacks(calls)
