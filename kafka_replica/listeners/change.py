"""The change that a listener receives."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from kafka_replica.records import Position
from kafka_replica.stores import Snapshot


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """A version, as a difference to the version that the listener received before."""

    snapshot: Snapshot
    """The version itself; it is immutable."""
    previous: Snapshot | None
    """The version that the listener received before; None for the first change."""
    changed: Collection[bytes]
    """Keys with a new record: new keys, and keys written again, whether or not the value differs."""
    deleted: Collection[bytes]
    """Keys that were in the previous version and are no longer in this one."""
    conflated: int = 1
    """The number of versions merged into this change; more than 1 if the listener was slow."""
    transactions: int | None = None
    """The number of committed Kafka transactions in the change; None if unknown, and always for the complete state."""
    source_transactions: tuple[str, ...] | None = ()
    """The transactions of the source that wrote records of the change, such as ``structures/17``, as far as the
    records' headers name them; None if there are too many, because the listener was slow. Empty for the complete
    state."""
    rebuilt: bool = False
    """True if the log was replaced and read again for this change: records that are not listed, because they have not
    changed, may have different offsets, partitions and timestamps."""

    def __repr__(self) -> str:
        merged = f", {self.conflated} versions in one" if self.conflated > 1 else ""
        if self.previous is None:
            return f"<Change to {self.snapshot.summary()}, the whole state{merged}>"
        counts = f"{len(self.changed):,} changed, {len(self.deleted):,} deleted"
        return f"<Change to version {self.version}: {counts}{merged}>"

    @property
    def version(self) -> int:
        """The version number."""
        return self.snapshot.version

    @property
    def position(self) -> Position:
        """The position of the version in the log."""
        return self.snapshot.position

    @property
    def initial(self) -> bool:
        """True if the change is the complete state; ``changed`` then has all keys."""
        return self.previous is None
