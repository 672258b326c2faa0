"""What the relay's rules are told, and what they answer. Values alone."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from kafka_replica.broker.writing.errors import Fault
from kafka_replica.producer.fingerprint import Fingerprint

# --- events: what happened ---


class Started(NamedTuple):
    """The relay begins."""


class Waited(NamedTuple):
    """A wait is over."""


class Leased(NamedTuple):
    """The lease is ours."""

    term: int = 0
    """Raised whenever an instance takes the lease: unchanged, nobody else has had it since."""


class StandingBy(NamedTuple):
    """The lease is somebody else's, or was lost."""


class Looked(NamedTuple):
    """What the database says."""

    running: bool
    sent: int
    """Marked as sent, all up to this one."""
    recorded: int
    """The last number given."""
    next_ids: tuple[int, ...]
    """The first transactions after ``sent``, some of them; they are sent before the database is asked again."""
    incarnation: str = ""
    """Of the producer's configuration; Kafka counts anew in each."""
    is_new: bool = False
    """Whether nothing was sent in this incarnation yet, as far as the database knows."""
    of_arrived: Fingerprint | None = None
    """The database's transaction of the number that is known to have arrived last; None: not there, or not asked."""


class Connected(NamedTuple):
    """The transactional id is ours: nothing of an older producer is open any more. What Kafka says has arrived."""

    progress: int | None
    fingerprint: Fingerprint | None = None
    """Of the transaction that has arrived last, as it was sent."""


class Committed(NamedTuple):
    """Kafka has acknowledged the commit of a transaction."""

    tx_id: int
    fingerprint: Fingerprint | None = None


class Marked(NamedTuple):
    """The database holds what became of transactions."""


class KafkaFailed(NamedTuple):
    """Connecting or sending failed."""

    fault: Fault
    reason: str
    may_have_arrived: bool = False


class LeftOpen(NamedTuple):
    """Some transaction stays open in the topics though all that was sent is acknowledged: it may be one of ours."""


class DatabaseFailed(NamedTuple):
    """The database did not do what was asked; whether it did is not known."""


Event: TypeAlias = (
    Started
    | Waited
    | Leased
    | StandingBy
    | Looked
    | Connected
    | Committed
    | Marked
    | KafkaFailed
    | LeftOpen
    | DatabaseFailed
)

# --- decisions: what to do next ---


class Pause(Enum):
    """What is waited for."""

    STAND_BY = auto()
    """The lease."""
    WORK = auto()
    """Something recorded, or being resumed."""
    RETRY = auto()
    """What went wrong to pass; longer each time."""
    DATABASE = auto()
    """The database to come back."""


class Acquire(NamedTuple):
    """Take the lease, or make sure of it."""


class Look(NamedTuple):
    """Ask the database what there is to do."""


class Connect(NamedTuple):
    """Take up the transactional id with a new producer, and read what has arrived."""


class Send(NamedTuple):
    """Send a transaction together with its progress record, and commit."""

    tx_id: int


class MarkSent(NamedTuple):
    """Note that all up to this one have arrived; nothing, if the database has another transaction of its number."""

    up_to: int
    fingerprint: Fingerprint | None = None


class Suspend(NamedTuple):
    """Note why nothing more can be sent; ``tx_id`` is the transaction that is to blame, if one is."""

    tx_id: int | None
    fault: Fault
    reason: str
    may_have_arrived: bool


class Wait(NamedTuple):
    """Wait, some time or until told."""

    pause: Pause
    attempt: int = 0


Decision: TypeAlias = Acquire | Look | Connect | Send | MarkSent | Suspend | Wait
