"""What the follower writes and everybody else reads: the version shown, the state, the counts.

One lock guards all of it and is held for moments only. Who waits for something waits on it.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from threading import Condition

from kafka_replica.broker.topics import Ends
from kafka_replica.delta import Applied, tombstones_in
from kafka_replica.errors import BadRecordError, KafkaReplicaError
from kafka_replica.listeners import Change, Mailbox
from kafka_replica.records import Cut, Partition, Record
from kafka_replica.states import Counts, Health, State, Status, lag
from kafka_replica.stores import Snapshot

_BAD_RECORDS_KEPT = 1000


class _News(Condition):
    """A condition that knows whether its lock is held by who asks."""

    def held_here(self) -> bool:
        """Whether the present thread holds the lock."""
        return bool(self._is_owned())  # type: ignore[attr-defined] # Condition's own, for its subclasses


class Board:
    """The facts of one replica. The follower calls the verbs; the replica asks."""

    def __init__(self, health: Health) -> None:
        self._health = health
        self._news = _News()
        self._snapshot: Snapshot | None = None
        self._error: KafkaReplicaError | None = None
        self._trouble: KafkaReplicaError | None = None
        self._stopped = False
        self._barrier = self._positions = self._stable = self._high = Cut()
        self._heard_s: float | None = None
        self._behind_since_s: float | None = None
        self._pending_records = 0
        self._counts = Counts()
        self._bad_records: list[BadRecordError] = []
        self._mailboxes: list[Mailbox] = []

    # --- verbs of the follower ---

    def started(self) -> None:
        """Reading begins."""
        with self._news:
            self._heard_s = time.monotonic()
            self._health.started(self._heard_s)

    def heard(self) -> None:
        """The broker said something."""
        with self._news:
            self._heard_s = time.monotonic()
            self._health.heard(self._heard_s)

    def troubled(self, trouble: KafkaReplicaError) -> None:
        """Something went wrong that may pass."""
        with self._news:
            self._trouble = trouble

    def barrier_set(self, high_watermarks: Cut) -> None:
        """What has to be read to be ready."""
        with self._news:
            self._barrier = high_watermarks

    def read(self, records: list[Record], positions: Cut, pending_records: int) -> None:
        """Records were read, and how far reading has come."""
        tombstones = tombstones_in(records)
        with self._news:
            self._positions = positions
            self._pending_records = pending_records
            if records:
                self._counts = replace(
                    self._counts,
                    records=self._counts.records + len(records),
                    tombstones=self._counts.tombstones + tombstones,
                )

    def set_aside(self, bad_records: list[BadRecordError]) -> None:
        """Records were met that cannot be replicated."""
        with self._news:
            self._counts = replace(self._counts, bad_records=self._counts.bad_records + len(bad_records))
            self._bad_records = [*self._bad_records, *bad_records][-_BAD_RECORDS_KEPT:]

    def ends(self, ends: Ends) -> None:
        """Where the broker says the partitions end."""
        with self._news:
            self._stable, self._high = ends
            self._trouble = None  # it has passed
            self._health.ends(ends.stable, ends.high, self._positions, time.monotonic())
            self._note_lag()

    def published(self, snapshot: Snapshot, applied: Applied) -> None:
        """A version was made: readers see it from now on, and listeners are told."""
        with self._news:
            previous, self._snapshot = self._snapshot, snapshot
            if previous is None:
                change = Change.first(snapshot)
            else:
                change = Change(snapshot, previous, applied.changed, applied.deleted)
            self._mailboxes = [mailbox for mailbox in self._mailboxes if not mailbox.closed]
            for mailbox in self._mailboxes:
                mailbox.put(change)
            self._counts = replace(self._counts, versions=self._counts.versions + 1)
            self._health.ready()
            self._note_lag()
            self._news.notify_all()

    def failed(self, error: KafkaReplicaError) -> None:
        """It ended by an error."""
        with self._news:
            # Without the traceback, which would keep the whole reading alive.
            self._error = error.with_traceback(None)
            self._health.failed()
            self._close_mailboxes(error)

    def stopped(self) -> None:
        """It was closed."""
        with self._news:
            self._stopped = True
            self._health.stopped()
            self._close_mailboxes(None)

    def stopped_reading(self, *, closed: bool) -> None:
        """The follower's thread ends."""
        if closed:
            self.stopped()

    @property
    def is_busy_here(self) -> bool:
        """Whether the present thread is in the middle of a question: a signal handler that interrupted it."""
        return self._news.held_here()

    def listener_failed(self) -> None:
        """A listener raised."""
        with self._news:
            self._counts = replace(self._counts, listener_errors=self._counts.listener_errors + 1)

    # --- questions of everybody ---

    @property
    def snapshot(self) -> Snapshot | None:
        """The version shown; read without the lock, for it is one reference."""
        return self._snapshot

    @property
    def error(self) -> KafkaReplicaError | None:
        """What ended it."""
        return self._error

    @property
    def trouble(self) -> KafkaReplicaError | None:
        """The last thing that went wrong and may pass."""
        return self._trouble

    @property
    def bad_records(self) -> list[BadRecordError]:
        """The newest records set aside."""
        with self._news:
            return list(self._bad_records)

    @property
    def state(self) -> State:
        """The state now."""
        with self._news:
            return self._health.state(time.monotonic())

    def wait_settled(self, timeout_s: float | None) -> None:
        """Waits until there is a version, or there will never be one."""
        with self._news:
            self._news.wait_for(
                lambda: self._snapshot is not None or self._error is not None or self._stopped, timeout_s
            )

    def wait_for(self, cut: Mapping[Partition, int], timeout_s: float | None) -> bool:
        """Waits until the version shown has come as far as ``cut``; whether it has."""

        def there() -> bool:
            return self._snapshot is not None and self._snapshot.cut.dominates(cut)

        with self._news:
            self._news.wait_for(lambda: there() or self._error is not None or self._stopped, timeout_s)
            return there()

    def mailbox(self, max_pending: int) -> Mailbox:
        """A new mailbox: the present version is in it, every later one will be."""
        mailbox = Mailbox(max_pending)
        with self._news:
            if self._snapshot is not None:
                mailbox.put(Change.first(self._snapshot))
            if self._error is not None or self._stopped:
                mailbox.close(self._error)
            else:
                self._mailboxes.append(mailbox)
        return mailbox

    def status(self) -> Status:
        """Everything at one moment."""
        now_s = time.monotonic()
        with self._news:
            snapshot, cut = self._snapshot, self._cut()
            held_at = self._health.held_at
            last_error = self._error or self._trouble
            return Status(
                state=self._health.state(now_s),
                ready=snapshot is not None,
                version=snapshot.version if snapshot is not None else 0,
                keys=len(snapshot) if snapshot is not None else 0,
                cut=cut,
                positions=self._positions,
                barrier=self._barrier,
                stable=self._stable,
                high_watermark=self._high,
                lag_records=lag(cut, self._high),
                lag_stable_records=lag(cut, self._stable),
                lag_s=self._lag_s(now_s),
                pending_records=self._pending_records,
                blocked_s=self._health.blocked_s(now_s),
                held_at="{}@{}".format(*held_at) if held_at is not None else None,
                heard_s_ago=None if self._heard_s is None else now_s - self._heard_s,
                last_error=None if last_error is None else str(last_error),
                counts=self._counts,
            )

    # --- helpers; the lock is held ---

    def _cut(self) -> Cut:
        return self._snapshot.cut if self._snapshot is not None else Cut()

    def _note_lag(self) -> None:
        if not lag(self._cut(), self._high):
            self._behind_since_s = None
        elif self._behind_since_s is None:
            self._behind_since_s = time.monotonic()

    def _lag_s(self, now_s: float) -> float | None:
        if not self._high or self._heard_s is None:
            return None
        if self._health.state(now_s) in {State.STALLED, State.FAILED}:
            return now_s - min(self._heard_s, self._behind_since_s or self._heard_s)
        return 0.0 if self._behind_since_s is None else now_s - self._behind_since_s

    def _close_mailboxes(self, error: KafkaReplicaError | None) -> None:
        for mailbox in self._mailboxes:
            mailbox.close(error)
        self._mailboxes = []
        self._news.notify_all()
