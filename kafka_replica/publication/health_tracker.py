"""The health of a replica: how far it has read, how far it is behind, its counts, and its state.

The tracker shares the publisher's lock, so that a status is consistent; the state alone is read without it. The
follower reports the progress of reading, and the publisher reports the version that it shows. All values are immutable
or plain numbers.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from threading import Condition

from kafka_replica.common.compiled import parser_name
from kafka_replica.errors import KafkaReplicaError, LogReplacedError
from kafka_replica.headers.transactions import TransactionHeaders
from kafka_replica.publication.health import Health
from kafka_replica.publication.latency import Latencies
from kafka_replica.publication.status import Counts, State, Status, lag
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends


class HealthTracker:
    """The offsets, lag, counts and state of a replica.

    Args:
        lock: the lock of the publisher.
        machine: decides the state.
    """

    def __init__(self, lock: Condition, machine: Health) -> None:
        self._lock = lock
        self._machine = machine
        self.position = Position()
        """The position of the version shown."""
        self.barrier = Position()
        """The high watermarks that must be read before the replica is ready."""
        self.error: KafkaReplicaError | None = None
        """The error with which the replica failed, or None."""
        self._trouble: KafkaReplicaError | None = None
        self._rebuilt_for: KafkaReplicaError | None = None  # set until the rebuild is complete
        self.deleting_topics: tuple[str, ...] = ()
        """The topics from which Kafka deletes old records, as far as known."""
        self.read_position = Position()
        """The position that reading has reached."""
        self._stable = self._high = Position()
        self._behind_since_s: float | None = None
        self._boundaries: str | None = None
        self._held_records = 0
        self._is_replaced = False  # the position is no longer read on from
        self._is_of_other_log = False
        self._totals = (0, 0)  # of the current reading
        self._earlier_totals = (0, 0)  # of the readings that rebuilds ended
        self._versions = self._transactions = self._rebuilds = self._listener_errors = 0
        self._unconfirmed_partitions: tuple[str, ...] = ()
        self._unconfirmed_ends = 0
        self._latencies = Latencies()

    # --- events, reported by the follower ---

    def started(self) -> None:
        """Note that reading starts."""
        with self._lock:
            self._machine.started(time.monotonic())

    def not_started(self) -> None:
        """Note that reading could not begin."""
        with self._lock:
            self._machine.not_started()

    def heard(self) -> None:
        """Note that the broker answered."""
        with self._lock:
            self._trouble = None  # the problem is over
            self._machine.heard(time.monotonic())

    def paused(self, pause_s: float) -> None:
        """Note that the replica does not read for this time, between two rebuilds."""
        with self._lock:
            now_s = time.monotonic()
            self._machine.paused(now_s, now_s + pause_s)

    def troubled(self, trouble: KafkaReplicaError) -> None:
        """Note a temporary problem."""
        with self._lock:
            self._trouble = trouble

    def barrier_set(self, high_watermarks: Position, boundaries: str) -> None:
        """Set the barrier, and how transaction boundaries are detected."""
        with self._lock:
            self.barrier = high_watermarks
            self._boundaries = boundaries

    def read(self, positions: Position) -> None:
        """Set the positions that reading has reached."""
        with self._lock:
            self.read_position = positions

    def counted(self, held_records: int, totals: tuple[int, int]) -> None:
        """Set the number of records held back, and the numbers of records and tombstones since the last rebuild."""
        with self._lock:
            self._held_records = held_records
            self._totals = totals

    def ends(self, ends: Ends, *, waits: bool) -> None:
        """Set the ends of the partitions, and whether open transactions hold back committed records."""
        with self._lock:
            self._stable, self._high = ends.last_stable, ends.high_watermarks
            self._machine.ends(self._stable, self._high, self.read_position, time.monotonic(), waits=waits)
            self._note_lag()

    def confirmed(self, unconfirmed: Collection[Partition]) -> bool:
        """Note the partitions whose end offsets are unconfirmed; return whether these have changed."""
        partitions = tuple(str(partition) for partition in sorted(unconfirmed))
        with self._lock:
            has_changed = self._unconfirmed_partitions != partitions
            self._unconfirmed_partitions = partitions
            self._unconfirmed_ends += bool(partitions)
        return has_changed

    def listener_failed(self) -> None:
        """Count an exception of a listener; called by the listener's thread."""
        with self._lock:
            self._listener_errors += 1

    # --- events, reported by the publisher, which holds the lock ---

    def restored(self, position: Position) -> None:
        """Set the position of a version from before the restart."""
        self.position = position

    def advanced(self, position: Position) -> None:
        """Set the position of a version that has reached the barrier."""
        self.position = position
        self._is_replaced = self._is_of_other_log = False
        self._rebuilt_for = None
        self._machine.ready()
        self._note_lag()

    def published(self, position: Position, transactions: int | None, origins: Sequence[TransactionHeaders]) -> None:
        """Count a new version at a position, and measure how long its transactions took."""
        self._versions += 1
        self._transactions += transactions or 0
        if origins:
            now_s = time.time()
            for origin in origins:
                self._latencies = self._latencies.plus(now_s - origin.time_ms / 1000)
        self.advanced(position)

    def outdated(self, reason: KafkaReplicaError) -> None:
        """Forget the offsets of a log that was replaced, or of a damaged store; the version shown lags from now on."""
        self._rebuilt_for = reason
        self.read_position = self._stable = self._high = Position()
        self._is_replaced = True
        self._is_of_other_log |= isinstance(reason, LogReplacedError)
        self._behind_since_s = self._behind_since_s or time.monotonic()  # an earlier lag continues
        self._earlier_totals, self._totals = self._counted_records(), (0, 0)
        self._rebuilds += 1
        self._machine.not_ready()

    def failed(self, error: KafkaReplicaError) -> None:
        """Note that the replica failed with an error."""
        self.error = error
        self._machine.failed()

    def stopped(self) -> None:
        """Note that the replica was closed."""
        self._machine.stopped()

    # --- queries ---

    @property
    def is_ready(self) -> bool:
        """True if the version shown has everything that was in the log when reading began, even after stopping."""
        return self._machine.is_ready

    @property
    def is_of_other_log(self) -> bool:
        """True if the position is one of a log that is no longer read: it says nothing about offsets of the new log."""
        return self._is_of_other_log

    @property
    def is_closed(self) -> bool:
        """True if the replica was closed."""
        return self._machine.is_closed

    @property
    def is_over(self) -> bool:
        """True if the replica has failed or was closed."""
        return self._machine.is_over

    @property
    def state(self) -> State:
        """The current state; reading it needs no lock."""
        return self._machine.state(time.monotonic())

    def status(self, bad_records: int) -> Status:
        """Return the status, except for the version and its keys; the caller must hold the lock.

        Args:
            bad_records: the number of records set aside.
        """
        now_s, machine = time.monotonic(), self._machine
        error = self.error or self._trouble or self._rebuilt_for
        blocking, heard_s = machine.blocking_transaction, machine.heard_s
        return Status(
            state=machine.state(now_s),
            ready=machine.is_ready,
            version=0,
            keys=0,
            position=self.position,
            read_position=self.read_position,
            barrier=self.barrier,
            last_stable_offset=self._stable,
            high_watermark=self._high,
            lag_records=self._lag(self._high),
            lag_stable_records=self._lag(self._stable),
            lag_s=self._lag_s(now_s),
            pending_records=self._held_records,
            blocked_s=machine.blocked_s(now_s),
            blocking_transaction="{}@{}".format(*blocking) if blocking is not None else None,
            open_transactions=len(self.position.open),
            boundaries=self._boundaries,
            parser=parser_name() if self._boundaries == "markers" else None,
            deleting_topics=self.deleting_topics,
            unconfirmed_partitions=self._unconfirmed_partitions,
            last_contact_s=None if heard_s is None else now_s - heard_s,
            last_error=None if error is None else str(error),
            last_error_type=None if error is None else type(error).__name__,
            counts=self._counts(bad_records),
            latencies=self._latencies,
        )

    # --- helpers ---

    def _counts(self, bad_records: int) -> Counts:
        records, tombstones = self._counted_records()
        return Counts(
            records=records,
            tombstones=tombstones,
            transactions=self._transactions,
            versions=self._versions,
            rebuilds=self._rebuilds,
            bad_records=bad_records,
            listener_errors=self._listener_errors,
            unconfirmed_ends=self._unconfirmed_ends,
        )

    def _counted_records(self) -> tuple[int, int]:
        """Return the numbers of records and tombstones read since the start."""
        (records, tombstones), (earlier_records, earlier_tombstones) = self._totals, self._earlier_totals
        return earlier_records + records, earlier_tombstones + tombstones

    def _lag(self, ahead: Position) -> int | None:
        """Return the number of offsets that are not in the version shown: all of them if its log was replaced."""
        return lag(Position() if self._is_replaced else self.position, ahead)

    def _note_lag(self) -> None:
        if not self._is_replaced and not self._lag(self._high):
            self._behind_since_s = None
        elif self._behind_since_s is None:
            self._behind_since_s = time.monotonic()

    def _lag_s(self, now_s: float) -> float | None:
        heard_s = self._machine.heard_s
        if not self._high or heard_s is None:
            return None
        if self._machine.state(now_s) in {State.STALLED, State.FAILED}:
            return now_s - min(heard_s, self._behind_since_s or heard_s)
        return 0.0 if self._behind_since_s is None else now_s - self._behind_since_s
