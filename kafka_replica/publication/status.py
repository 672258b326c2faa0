"""The states of a replica, its status, and the counts in it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from kafka_replica.common.wording import counted, quoted
from kafka_replica.publication.latency import Latencies
from kafka_replica.records import Position


class State(StrEnum):
    """The state of a replica."""

    NEW = "new"
    """The replica has not been started yet."""
    CATCHING_UP = "catching up"
    """The replica is reading the records that were in the log when it started."""
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


@dataclass(frozen=True, slots=True)
class Counts:
    """The counts of a replica since it started."""

    records: int = 0
    """Records read, including tombstones."""
    tombstones: int = 0
    transactions: int = 0
    """Committed transactions in the versions shown, as far as the boundary detector can distinguish them."""
    versions: int = 0
    rebuilds: int = 0
    """Rebuilds of the store after the log was replaced or the store was damaged."""
    bad_records: int = 0
    listener_errors: int = 0
    unconfirmed_ends: int = 0
    """Queries of the end offsets that left a partition in ``Status.unconfirmed_partitions``."""


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a replica at one moment. Each offset is the next one after the records included.

    ``lag_records`` counts offsets from the version shown to the high watermark (markers and aborted
    records use offsets, too), ``lag_stable_records`` to the last stable offset. ``lag_s`` is the number of
    seconds for which the version shown has been behind the high watermark, as far as is known; if the broker
    does not answer, at least the time since its last answer. While a replaced log is read, or a damaged store is
    rebuilt, all offsets count, and ``lag_s`` is at least the time since then.
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
    """The parser of record batches: ``compiled`` or ``general``; None if no parser is used, as with quiescence."""
    deleting_topics: tuple[str, ...] = ()
    """The topics from which Kafka deletes old records, so that keys may be missing, if the replica may read their
    settings: it queries them some seconds after its start, and each minute, unless ``tombstones_kept_s`` is given."""
    last_contact_s: float | None = None
    """The time since the last answer of a broker; before the first one, since the replica started."""
    last_error: str | None = None
    last_error_type: str | None = None
    """The name of the class of ``last_error``, such as ``BrokerUnavailableError``."""
    counts: Counts = field(default_factory=Counts)
    latencies: Latencies = field(default_factory=Latencies)
    """The times from recording in the source to the version, for transactions whose headers have a recording time."""
    unconfirmed_partitions: tuple[str, ...] = ()
    """The partitions whose newest end offset could not be confirmed, as ``topic-partition``: so few of the brokers with
    a copy answered that a newer leader cannot be excluded, and a transaction over several partitions could be shown in
    two steps."""

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
    """Return the number of offsets between two positions over all partitions; None if ``ahead`` is unknown."""
    if not ahead:
        return None
    return sum(max(0, offset - behind.get(partition, 0)) for partition, offset in ahead.items())
