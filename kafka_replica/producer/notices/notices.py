"""Notices that a producer sends to its observers, for metrics, mail and tests. Plain values."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class DatabaseWait(NamedTuple):
    """The database cannot be reached, so the producer cannot start; sent before each retry."""

    reason: str


class Takeover(NamedTuple):
    """This instance publishes from now on."""


class StandBy(NamedTuple):
    """Another instance publishes; this one waits."""


class SendStart(NamedTuple):
    """A transaction is being sent."""

    tx_id: int


class Acknowledgement(NamedTuple):
    """Kafka has acknowledged a transaction."""

    tx_id: int
    size: int
    """Bytes of keys and values before compression, in one topic."""
    messages: int
    not_carried: int
    """Records that the format cannot represent."""


class Arrival(NamedTuple):
    """All transactions up to this number have arrived, and are marked as sent."""

    tx_id: int


class Retry(NamedTuple):
    """A failure that may be temporary; the operation is tried again."""

    attempt: int
    fault: str
    reason: str


class Suspension(NamedTuple):
    """The producer suspended itself: nothing is sent until it is resumed."""

    tx_id: int | None
    """The number of the transaction that could not be sent."""
    status: int
    """The ``tx_status`` of this transaction: 2 it was never sent, 3 refused by Kafka, 4 unexpected."""
    reason: str


class SourceRead(NamedTuple):
    """A source was read, and its differences were recorded."""

    tx_ids: tuple[int, ...]
    """The numbers of the recorded transactions; empty if nothing has changed."""
    unreadable: tuple[str, ...] = ()
    """Artefacts that cannot be read, each with the reason; their keys keep the content recorded before."""


class SourceFailure(NamedTuple):
    """A source cannot be read completely, so nothing is recorded from it until it can. Sent once per reason."""

    reason: str


class TableComparison(NamedTuple):
    """A table was compared with its topic, and the differences were written."""

    reason: str
    changed: int
    """The keys that the topic lacked, or had with another value."""
    deleted: int
    """The keys that only the topic had."""


Notice: TypeAlias = (
    DatabaseWait
    | Takeover
    | StandBy
    | SendStart
    | Acknowledgement
    | Arrival
    | Retry
    | Suspension
    | SourceRead
    | SourceFailure
    | TableComparison
)
Notify: TypeAlias = Callable[[Notice], None]
