"""What a producer tells its observers: for metrics, for mail, for tests. Values alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias


class DatabaseAwaited(NamedTuple):
    """The database cannot be reached, so the producer cannot begin; told each time before it is tried again."""

    reason: str


class Takeover(NamedTuple):
    """This instance publishes from now on."""


class StandBy(NamedTuple):
    """Another instance publishes; this one waits."""


class Sending(NamedTuple):
    """A transaction is being sent."""

    tx_id: int


class Acknowledged(NamedTuple):
    """Kafka has acknowledged a transaction."""

    tx_id: int
    size: int
    """Bytes of keys and values before compression, of one topic."""
    messages: int
    not_carried: int
    """Records that the format could not carry."""


class Arrived(NamedTuple):
    """All transactions up to this one have arrived, and are marked as sent."""

    tx_id: int


class Retrying(NamedTuple):
    """Something failed that may pass; it is tried again."""

    attempt: int
    fault: str
    reason: str


class Suspension(NamedTuple):
    """The producer suspended itself: nothing is sent until somebody resumes it."""

    tx_id: int | None
    """The transaction that could not be sent."""
    status: int
    """``tx_status`` of that: 2 it never left, 3 refused by Kafka, 4 unexpected."""
    reason: str


class TakenIn(NamedTuple):
    """A source was read; how it differed is recorded."""

    tx_ids: tuple[int, ...]
    """None where nothing had changed."""
    unreadable: tuple[str, ...] = ()
    """Artefacts that cannot be read, each with the reason; their keys keep the content that was recorded before."""


class SourceFailed(NamedTuple):
    """A source cannot be read, or not all of it: nothing of it is taken in until it can. Told once for each reason."""

    reason: str


Notice: TypeAlias = (
    DatabaseAwaited
    | Takeover
    | StandBy
    | Sending
    | Acknowledged
    | Arrived
    | Retrying
    | Suspension
    | TakenIn
    | SourceFailed
)
Notify: TypeAlias = Callable[[Notice], None]
