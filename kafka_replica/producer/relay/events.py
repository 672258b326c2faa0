"""The events that the relay's rules receive, and the decisions that they return. Plain values."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.producer.fingerprint import Fingerprint

# --- events: what happened ---


class Started(NamedTuple):
    """The relay has started."""


class Waited(NamedTuple):
    """A wait is over."""


class Leased(NamedTuple):
    """This instance holds the lease."""

    term: int = 0
    """The term is raised whenever an instance takes the lease; if it is unchanged, no other instance has held the
    lease.
    """


class StandingBy(NamedTuple):
    """Another instance holds the lease, or the lease was lost."""


class Queried(NamedTuple):
    """The state of the database."""

    running: bool
    sent: int
    """All transactions up to this number are marked as sent."""
    recorded: int
    """The last number assigned."""
    next_ids: tuple[int, ...]
    """The first transactions after ``sent``, limited in number; they are sent before the database is queried again."""
    incarnation: str = ""
    """The incarnation of the producer's configuration; Kafka's progress starts from scratch in each."""
    is_new: bool = False
    """True if nothing was sent in this incarnation yet, as far as the database knows."""
    of_arrived: Fingerprint | None = None
    """The database's fingerprint of the transaction that has arrived last; None if missing there, or not queried."""


class Connected(NamedTuple):
    """The transactional id is ours, and no older producer has an open transaction; the event has what has arrived."""

    progress: int | None
    fingerprint: Fingerprint | None = None
    """The fingerprint of the transaction that has arrived last, as it was sent."""


class Committed(NamedTuple):
    """Kafka has acknowledged the commit of a transaction."""

    tx_id: int
    fingerprint: Fingerprint | None = None


class Marked(NamedTuple):
    """The outcome of transactions is stored in the database."""


class KafkaFailed(NamedTuple):
    """Connecting or sending failed."""

    fault: Fault
    reason: str
    may_have_arrived: bool = False


class LeftOpen(NamedTuple):
    """A transaction stays open in the topics though everything sent is acknowledged; it may be one of ours."""


class DatabaseFailed(NamedTuple):
    """An operation of the database failed; whether it took effect is unknown."""


Event: TypeAlias = (
    Started
    | Waited
    | Leased
    | StandingBy
    | Queried
    | Connected
    | Committed
    | Marked
    | KafkaFailed
    | LeftOpen
    | DatabaseFailed
)

# --- decisions: what to do next ---


class Pause(Enum):
    """The reason for a wait."""

    STAND_BY = auto()
    """Wait for the lease."""
    WORK = auto()
    """Wait until something is recorded, or the producer is resumed."""
    RETRY = auto()
    """Wait for a failure to pass; the pause grows each time."""
    DATABASE = auto()
    """Wait for the database to come back."""


class Acquire(NamedTuple):
    """Take the lease, or verify that it is still ours."""


class Query(NamedTuple):
    """Query the database for what there is to do."""


class Connect(NamedTuple):
    """Initialize the transactional id with a new producer, and read what has arrived."""


class Send(NamedTuple):
    """Send a transaction together with its progress record, and commit."""

    tx_id: int


class MarkSent(NamedTuple):
    """Mark all transactions up to this number as sent, unless the database has another transaction of this number."""

    up_to: int
    fingerprint: Fingerprint | None = None


class Suspend(NamedTuple):
    """Suspend the producer and store the reason; ``tx_id`` is the transaction that caused the failure, if any."""

    tx_id: int | None
    fault: Fault
    reason: str
    may_have_arrived: bool


class Wait(NamedTuple):
    """Wait for some time, or until woken."""

    pause: Pause
    attempt: int = 0


Decision: TypeAlias = Acquire | Query | Connect | Send | MarkSent | Suspend | Wait
