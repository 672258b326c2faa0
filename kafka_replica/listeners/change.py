"""What a listener is given."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kafka_replica.records import Position
from kafka_replica.stores import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One version, as a difference to the one that the listener knew before."""

    snapshot: Snapshot
    """The version itself: read from it, it never changes."""
    previous: Snapshot | None
    """What the listener knew before; None if this is the first it hears."""
    changed: Collection[bytes]
    """Keys with a new record: new keys, and keys written again, whether or not the value differs."""
    deleted: Collection[bytes]
    """Keys that were in the previous version and are not in this one."""
    conflated: int = 1
    """How many versions this one stands for; more than 1 when the listener was slow."""
    transactions: int | None = None
    """How many committed Kafka transactions it holds; None where nobody knows: always for the whole state."""
    source_transactions: tuple[str, ...] | None = ()
    """The source's transactions that it holds something of, such as ``structures/17``, as far as the records' headers
    tell; None if they are too many, because the listener was slow. Empty for the whole state."""

    def __repr__(self) -> str:
        merged = f", {self.conflated} versions in one" if self.conflated > 1 else ""
        if self.previous is None:
            return f"<Change to {self.snapshot.summary()}, the whole state{merged}>"
        counts = f"{len(self.changed):,} changed, {len(self.deleted):,} deleted"
        return f"<Change to version {self.version}: {counts}{merged}>"

    @property
    def version(self) -> int:
        """The number of the version."""
        return self.snapshot.version

    @property
    def position(self) -> Position:
        """The point of the log that the version stands for."""
        return self.snapshot.position

    @property
    def initial(self) -> bool:
        """Whether this is the whole state; ``changed`` are all its keys then."""
        return self.previous is None
