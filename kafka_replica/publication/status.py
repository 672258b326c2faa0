"""What a replica says of itself: its states as a state machine without I/O or clock, and its status.

    catching up --barrier passed--> live <--> blocked
         ^ |                         | ^      (and back, when the log was replaced)
         | +--> blocked              v |
         +----------------------> stalled          any of them --> failed | stopped, for good

A replica is *blocked* while the last stable offset has not moved for ``blocked_after_s`` though there
are records behind it, all of what lies below it has been read, and so no version can be made: somebody
holds a transaction open. It is *stalled* when nothing was heard from the broker for
``stalled_after_s``. In both it keeps serving its last version, if it has one.
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
    """Not started yet."""
    CATCHING_UP = "catching up"
    """Reading what was there when it started."""
    LIVE = "live"
    """Ready, and following."""
    BLOCKED = "blocked"
    """Waiting for a transaction that somebody holds open."""
    STALLED = "stalled"
    """Hears nothing from the broker."""
    FAILED = "failed"
    """Ended by an error; the last version is still served."""
    STOPPED = "stopped"
    """Closed."""


class Health:
    """Decides the state from what was seen. All times are seconds of one monotonic clock.

    ``started``, ``heard``, ``ends``, ``ready``, ``failed`` and ``stopped`` are events;
    ``state(now_s)`` is the decision.
    """

    def __init__(self, *, stalled_after_s: float, blocked_after_s: float) -> None:
        self.stalled_after_s = stalled_after_s
        self.blocked_after_s = blocked_after_s
        self._final: State | None = None
        self._ready = False
        self.heard_s: float | None = None
        """When the broker last said something; None before the start."""
        self._held: tuple[Partition, int] | None = None
        self._held_since_s = 0.0
        self._waits = True

    def started(self, now_s: float) -> None:
        """Reading begins; the broker has ``stalled_after_s`` to say something."""
        self.heard_s = now_s

    def heard(self, now_s: float) -> None:
        """The broker said something."""
        self.heard_s = now_s

    def ready(self) -> None:
        """The barrier was passed."""
        self._ready = True

    def not_ready(self) -> None:
        """What is shown is not of the log any more."""
        self._ready = False
        self._held = None

    def failed(self) -> None:
        """An error ended it."""
        self._final = self._final or State.FAILED

    def stopped(self) -> None:
        """It was closed."""
        self._final = State.STOPPED

    def ends(self, stable: Position, high: Position, positions: Position, now_s: float, *, waits: bool = True) -> None:
        """The ends of the partitions as the broker gave them, and how far we have read.

        ``waits`` says whether what is committed is held back by what is open.
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
        """For how long the same open transaction has been in the way, in seconds; 0 if none is."""
        return now_s - self._held_since_s if self._held is not None else 0.0

    @property
    def blocking_transaction(self) -> tuple[Partition, int] | None:
        """Where the open transaction begins that is in the way, if one is."""
        return self._held

    def state(self, now_s: float) -> State:
        """The state at that time."""
        if self._final is not None:
            return self._final
        if self.heard_s is None:
            return State.NEW
        if now_s - self.heard_s >= self.stalled_after_s:
            return State.STALLED
        if self._held is not None and self._waits and self.blocked_s(now_s) >= self.blocked_after_s:
            return State.BLOCKED
        return State.LIVE if self._ready else State.CATCHING_UP


@dataclass(frozen=True, slots=True)
class Counts:
    """What a replica has done since it started."""

    records: int = 0
    """Records read, tombstones included."""
    tombstones: int = 0
    transactions: int = 0
    """Committed transactions shown, as far as the evidence tells them apart."""
    versions: int = 0
    rebuilds: int = 0
    """How often it was built anew: the log was replaced, or the store damaged."""
    bad_records: int = 0
    listener_errors: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """A replica at one moment. Offsets are next offsets: what is below them is meant.

    ``lag_records`` counts offsets from the version shown to the high watermark (markers and aborted
    records use up offsets too), ``lag_stable_records`` to the last stable offset. ``lag_s`` says for how many
    seconds the version shown has been behind the high watermark, as far as is known; where nothing is heard
    any more, for how long that has been so at least.
    """

    state: State
    ready: bool
    version: int
    keys: int
    stale: bool = False
    """Whether the version shown is one from before, while what is newer is still being read."""
    position: Position = field(default_factory=Position)
    read_position: Position = field(default_factory=Position)
    """Where reading is; ``position`` is that of the version shown."""
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
    last_contact_s: float | None = None
    last_error: str | None = None
    counts: Counts = field(default_factory=Counts)
    latencies: Latencies = field(default_factory=Latencies)
    """From the source's recording to the version, of transactions whose headers say when they were recorded."""

    def __repr__(self) -> str:
        lag_text = "not known" if self.lag_records is None else f"{self.lag_records:,}"
        error = "" if self.last_error is None else f", last error {quoted(self.last_error)}"
        return f"<Status {self.state}: version {self.version}, {counted(self.keys, 'key')}, lag {lag_text}{error}>"

    def as_json(self) -> dict[str, Any]:
        """Plain values, cuts as ``{"topic-partition": offset}``."""
        plain = {
            name: value.as_json() if isinstance(value, Position | Latencies) else value
            for name in self.__slots__
            if name != "counts"
            for value in (getattr(self, name),)
        }
        return {**plain, "state": str(self.state), "counts": asdict(self.counts)}


def lag(behind: Position, ahead: Position) -> int | None:
    """Offsets from one cut to another, over all partitions; None while the other is not known."""
    if not ahead:
        return None
    return sum(max(0, offset - behind.get(partition, 0)) for partition, offset in ahead.items())
