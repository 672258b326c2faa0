"""The events that the relay's rules receive, and the decisions that they return. Plain values."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple, TypeAlias

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.producer.changes.fingerprint import Fingerprint

# --- events ---


class RelayStart(NamedTuple):
    """The relay has started."""


class WaitEnd(NamedTuple):
    """A wait is over."""


class LeaseGrant(NamedTuple):
    """This instance holds the lease."""

    acquisition: int = 0
    """The number of times that this instance has taken the lease. If it is unchanged, no other instance has held the
    lease.
    """


class StandingBy(NamedTuple):
    """Another instance holds the lease, or the lease was lost."""


class DatabaseState(NamedTuple):
    """The state of the database."""

    running: bool
    sent_tx_id: int
    """All transactions up to this number are marked as sent."""
    last_tx_id: int
    """The last assigned number."""
    next_ids: tuple[int, ...]
    """The first transactions after ``sent_tx_id``, limited in number; all are sent before the next query."""
    incarnation: str = ""
    """The incarnation of the producer's configuration; each has progress records of its own."""
    is_new: bool = False
    """True if, by the database, nothing was sent in this incarnation yet."""
    of_arrived: Fingerprint | None = None
    """The database's fingerprint of the last transaction that has arrived; None if it is missing or was not queried."""
    is_amended: bool = False
    """True if transactions that have not arrived are to be skipped or replaced, which is done while connecting."""


class KafkaSessionStart(NamedTuple):
    """This instance has acquired the transactional id, and no older producer has an open transaction."""

    progress: int | None
    """The number of the last transaction that has arrived; None if no transaction has arrived."""
    fingerprint: Fingerprint | None = None
    """The fingerprint of this transaction, from its progress record."""


class CommitAcknowledgement(NamedTuple):
    """Kafka has acknowledged the commit of a transaction."""

    tx_id: int
    fingerprint: Fingerprint | None = None
    is_last: bool = False
    """True if the connection cannot be used for another transaction, so that the id has to be initialized again."""


class StoredOutcome(NamedTuple):
    """The outcome of transactions is stored in the database."""


class KafkaFailure(NamedTuple):
    """Connecting or sending failed."""

    fault: Fault
    reason: str
    may_have_arrived: bool = False


class OpenTransaction(NamedTuple):
    """A transaction stays open in the topics, although all sent transactions are acknowledged; it may be our own."""


class DatabaseFailure(NamedTuple):
    """An operation of the database failed, and it is unknown whether it took effect."""


Event: TypeAlias = (
    RelayStart
    | WaitEnd
    | LeaseGrant
    | StandingBy
    | DatabaseState
    | KafkaSessionStart
    | CommitAcknowledgement
    | StoredOutcome
    | KafkaFailure
    | OpenTransaction
    | DatabaseFailure
)

# --- decisions ---


class Pause(Enum):
    """The reason for a wait."""

    STAND_BY = auto()
    """Wait for the lease."""
    WORK = auto()
    """Wait until something is recorded, or the producer is resumed."""
    RETRY = auto()
    """Wait before a retry; the pause increases each time."""
    DATABASE = auto()
    """Wait for the database to come back."""


class Acquire(NamedTuple):
    """Take the lease, or verify that this instance still has it."""


class Query(NamedTuple):
    """Query the database for the requested mode and the next transactions."""


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
    """Wait for some time, or until there is something to do."""

    pause: Pause
    attempt: int = 0


Decision: TypeAlias = Acquire | Query | Connect | Send | MarkSent | Suspend | Wait
