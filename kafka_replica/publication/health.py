"""The state of a replica, as a state machine without I/O or clock.

    catching up --barrier passed--> live <--> blocked
         ^ |                         | ^      (and back, when the log was replaced)
         | +--> blocked              v |
         +----------------------> stalled          any of them --> failed | stopped, for good

A replica is *blocked* when a producer holds a transaction open: the last stable offset has not moved for
``blocked_after_s`` although there are records beyond it, and everything below it has been read, so that no version can
be made. It is *stalled* when the broker has not answered for ``stalled_after_s``, not counting pauses in which the
replica asks nothing; it is not asked either while a service that a header stack needs does not answer. In both states
it continues to serve its last version, if it has one.
"""

from __future__ import annotations

from kafka_replica.publication.status import State
from kafka_replica.records import Partition, Position


class Health:
    """A state machine that derives the state from events. All times are seconds of one monotonic clock.

    ``started``, ``not_started``, ``heard``, ``paused``, ``ends``, ``ready``, ``not_ready``, ``failed`` and ``stopped``
    are events; ``state(now_s)`` returns the state. It may be called by any thread while another one notes events;
    if several come meanwhile, it may combine values from before and after them.
    """

    def __init__(self, *, stalled_after_s: float, blocked_after_s: float) -> None:
        self.stalled_after_s = stalled_after_s
        self.blocked_after_s = blocked_after_s
        self._final: State | None = None
        self.is_ready = False
        """True if the barrier has been passed, and the version shown is not outdated."""
        self.heard_s: float | None = None
        """The time of a broker's last answer; None before the start."""
        self._paused_until_s: float | None = None
        # The first offset of the open transaction in each partition where one holds back records, and since when.
        self._held: dict[tuple[Partition, int], float] = {}
        self._blocking = self._held  # empty if none of them holds back committed records

    def started(self, now_s: float) -> None:
        """Note that reading starts; the broker has ``stalled_after_s`` to answer."""
        self.heard_s = now_s

    def not_started(self) -> None:
        """Note that reading could not begin after all."""
        self.heard_s = None

    def heard(self, now_s: float) -> None:
        """Note that the broker answered."""
        self.heard_s = now_s

    def paused(self, now_s: float, until_s: float) -> None:
        """Note that the replica sends no request until a time; then the broker has ``stalled_after_s`` to answer.

        A replica that is stalled already stays so.
        """
        if not self._is_stalled(self.heard_s, now_s):
            self._paused_until_s = until_s

    def ready(self) -> None:
        """Note that the barrier was passed."""
        self.is_ready = True

    def not_ready(self) -> None:
        """Note that the version shown is outdated."""
        self.is_ready = False
        self._held = self._blocking = {}

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
        self._held = {
            held: self._held.get(held, now_s)
            for held in stable.items()
            if held[1] < high.get(held[0], 0) and positions.get(held[0], 0) >= held[1]
        }
        self._blocking = self._held if waits else {}

    def blocked_s(self, now_s: float) -> float:
        """Return how long the oldest open transaction has held back records, in seconds; 0 if there is none."""
        return now_s - min(self._held.values(), default=now_s)

    @property
    def is_closed(self) -> bool:
        """True if the replica was closed."""
        return self._final is State.STOPPED

    @property
    def is_over(self) -> bool:
        """True if the replica has failed or was closed."""
        return self._final is not None

    @property
    def blocking_transaction(self) -> tuple[Partition, int] | None:
        """The partition and first offset of the oldest open transaction that holds back records, or None."""
        return min(self._held, key=self._held.__getitem__, default=None)

    def state(self, now_s: float) -> State:
        """Return the state at the given time."""
        final, heard_s = self._final, self.heard_s
        if final is not None:
            return final
        if heard_s is None:
            return State.NEW
        if self._is_stalled(heard_s, now_s):
            return State.STALLED
        blocking = self._blocking
        if blocking and now_s - min(blocking.values()) >= self.blocked_after_s:
            return State.BLOCKED
        return State.LIVE if self.is_ready else State.CATCHING_UP

    def _is_stalled(self, heard_s: float | None, now_s: float) -> bool:
        if heard_s is None:
            return False
        paused_until_s = self._paused_until_s
        waits_since_s = heard_s if paused_until_s is None else max(heard_s, paused_until_s)
        return now_s - waits_since_s >= self.stalled_after_s
