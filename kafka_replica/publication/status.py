"""The status of a replica, and its state as a state machine without I/O or clock.

    catching up --barrier passed--> live <--> blocked
         ^ |                         | ^      (and back, when the log was replaced)
         | +--> blocked              v |
         +----------------------> stalled          any of them --> failed | stopped, for good

A replica is *blocked* while the last stable offset has not moved for ``blocked_after_s`` although there
are records behind it, everything below it has been read, and so no version can be made: a producer
holds a transaction open. It is *stalled* when the broker has not answered for
``stalled_after_s``. In both states it continues to serve its last version, if it has one.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from kafka_replica.common.wording import counted, quoted
from kafka_replica.publication.latency import Latencies
from kafka_replica.records import Partition, Position


class State(StrEnum):
    """The state of a replica."""

    NEW = "new"
    """The replica was not started yet."""
    CATCHING_UP = "catching up"
    """The replica reads what was in the log when it started."""
    LIVE = "live"
    """The replica is ready, and follows the log."""
    BLOCKED = "blocked"
    """The replica waits for a transaction that a producer holds open."""
    STALLED = "stalled"
    """The broker does not answer."""
    FAILED = "failed"
    """An error ended the replica; the last version is still served."""
    STOPPED = "stopped"
    """The replica was closed."""


class Health:
    """A state machine that derives the state from events. All times are seconds of one monotonic clock.

    ``started``, ``heard``, ``ends``, ``ready``, ``not_ready``, ``failed`` and ``stopped`` are events;
    ``state(now_s)`` returns the state.
    """

    def __init__(self, *, stalled_after_s: float, blocked_after_s: float) -> None:
        self.stalled_after_s = stalled_after_s
        self.blocked_after_s = blocked_after_s
        self._final: State | None = None
        self.is_ready = False
        """True if the barrier was passed, and the version shown is not outdated."""
        self.heard_s: float | None = None
        """The time of the last answer of a broker; None before the start."""
        self._held: tuple[Partition, int] | None = None
        self._held_since_s = 0.0
        self._waits = True

    def started(self, now_s: float) -> None:
        """Note that reading begins; the broker has ``stalled_after_s`` to answer."""
        self.heard_s = now_s

    def heard(self, now_s: float) -> None:
        """Note that the broker answered."""
        self.heard_s = now_s

    def ready(self) -> None:
        """Note that the barrier was passed."""
        self.is_ready = True

    def not_ready(self) -> None:
        """Note that the version shown is outdated."""
        self.is_ready = False
        self._held = None

    def failed(self) -> None:
        """Note that an error ended the replica."""
        self._final = self._final or State.FAILED

    def stopped(self) -> None:
        """Note that the replica was closed."""
        self._final = State.STOPPED

    def ends(self, stable: Position, high: Position, positions: Position, now_s: float, *, waits: bool = True) -> None:
        """Note the ends of the partitions as the broker reported them, and the positions read.

        ``waits`` is true if open transactions hold back committed records.
        """
        self._waits = waits
        held = next(
            (
                (partition, offset)
                for partition, offset in stable.items()
                if offset < high.get(partition, 0) and positions.get(partition, 0) >= offset
            ),
            None,
        )
        if held != self._held:
            self._held, self._held_since_s = held, now_s

    def blocked_s(self, now_s: float) -> float:
        """Return how long the same open transaction has held back records, in seconds; 0 without such a transaction."""
        return now_s - self._held_since_s if self._held is not None else 0.0

    @property
    def is_over(self) -> bool:
        """True if the replica has failed or was closed."""
        return self._final is not None

    @property
    def blocking_transaction(self) -> tuple[Partition, int] | None:
        """The partition and first offset of the open transaction that holds back records, or None."""
        return self._held

    def state(self, now_s: float) -> State:
        """Return the state at a time."""
        if self._final is not None:
            return self._final
        if self.heard_s is None:
            return State.NEW
        if now_s - self.heard_s >= self.stalled_after_s:
            return State.STALLED
        if self._held is not None and self._waits and self.blocked_s(now_s) >= self.blocked_after_s:
            return State.BLOCKED
        return State.LIVE if self.is_ready else State.CATCHING_UP


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a replica since it started."""

    records: int = 0
    """Records read, tombstones included."""
    tombstones: int = 0
    transactions: int = 0
    """Committed transactions shown, as far as the boundary detector can distinguish them."""
    versions: int = 0
    rebuilds: int = 0
    """Rebuilds of the store, because the log was replaced, or the store damaged."""
    bad_records: int = 0
    listener_errors: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a replica at one moment. Each offset is the next one, after the records that it includes.

    ``lag_records`` counts offsets from the version shown to the high watermark (markers and aborted
    records use offsets, too), ``lag_stable_records`` to the last stable offset. ``lag_s`` is the number of
    seconds for which the version shown has been behind the high watermark, as far as is known; if the broker
    does not answer, at least the time since its last answer.
    """

    state: State
    ready: bool
    version: int
    keys: int
    stale: bool = False
    """True if the version shown is from before a restart or a rebuild, and newer records are still being read."""
    position: Position = field(default_factory=Position)
    read_position: Position = field(default_factory=Position)
    """The position that reading has reached; ``position`` is that of the version shown."""
    barrier: Position = field(default_factory=Position)
    last_stable_offset: Position = field(default_factory=Position)
    high_watermark: Position = field(default_factory=Position)
    lag_records: int | None = None
    lag_stable_records: int | None = None
    lag_s: float | None = None
    pending_records: int = 0
    blocked_s: float = 0.0
    blocking_transaction: str | None = None
    open_transactions: int = 0
    boundaries: str | None = None
    parser: str | None = None
    """The parser of record batches: ``compiled`` or ``general``; None where none is used, as with quiescence."""
    deleting_topics: tuple[str, ...] = ()
    """The topics from which Kafka deletes old records, so that keys may be missing, if the replica may read their
    settings: it
    queries them some seconds after its start, and each minute, unless ``tombstones_kept_s`` is given."""
    last_contact_s: float | None = None
    last_error: str | None = None
    counts: Counts = field(default_factory=Counts)
    latencies: Latencies = field(default_factory=Latencies)
    """The times from recording in the source to the version, of transactions whose headers have a recording time."""

    def __repr__(self) -> str:
        lag_text = "not known" if self.lag_records is None else f"{self.lag_records:,}"
        error = "" if self.last_error is None else f", last error {quoted(self.last_error)}"
        return f"<Status {self.state}: version {self.version}, {counted(self.keys, 'key')}, lag {lag_text}{error}>"

    def as_json(self) -> dict[str, Any]:
        """Return the status as plain JSON values, with positions as ``{"topic-partition": offset}``."""
        plain = {
            name: value.as_json() if isinstance(value, Position | Latencies) else value
            for name in self.__slots__
            if name != "counts"
            for value in (getattr(self, name),)
        }
        return {**plain, "state": str(self.state), "counts": asdict(self.counts)}


def lag(behind: Position, ahead: Position) -> int | None:
    """Return the number of offsets between two positions over all partitions; None if ``ahead`` is not known."""
    if not ahead:
        return None
    return sum(max(0, offset - behind.get(partition, 0)) for partition, offset in ahead.items())
