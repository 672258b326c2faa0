"""Versions as differences, from which an older version can be seen without having been held.

A step knows its keys and the records that they had *before* it. A version is then a newer version, and the
steps between the two taken back (``past``). A step that waits or is kept costs one record for each of its keys,
however many versions are made meanwhile; a snapshot that is held costs one for every key written since.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple, TypeAlias

from kafka_replica.records import Position, Record
from kafka_replica.stores import Snapshot
from kafka_replica.stores.delta import Applied

_ORIGINS_KEPT = 1000  # names of transactions that a listener who lags is told

Before: TypeAlias = dict[bytes, Record | None]


class VersionInfo(NamedTuple):
    """What can be said of a version without holding it."""

    version: int
    position: Position
    keys: int | None
    """How many; None where nobody has counted them."""

    @staticmethod
    def of(snapshot: Snapshot) -> VersionInfo:
        """The face of a version."""
        return VersionInfo(snapshot.version, snapshot.position, snapshot.known_length)


class VersionDiff:
    """One version as the difference to the one before it. Any threads."""

    __slots__ = ("_before", "changed", "deleted", "now", "origins", "size", "transactions", "versions", "was")

    def __init__(
        self,
        snapshot: Snapshot,
        previous: Snapshot,
        applied: Applied,
        transactions: int | None,
        origins: tuple[str, ...] | None = (),
    ) -> None:
        self.was, self.now = VersionInfo.of(previous), VersionInfo.of(snapshot)
        self.changed: Collection[bytes] = applied.changed
        self.deleted: Collection[bytes] = applied.deleted
        self.versions = 1
        self.transactions = transactions
        self.origins = origins
        self.size = 0
        """About how many bytes of keys and values are in ``before``; 0 until it is settled."""
        # The version before it, until somebody asks, if the store has not told.
        self._before: Before | Snapshot = previous if applied.before is None else applied.before

    @property
    def before(self) -> Before:
        """What its keys had before it, None for those that were not there; read from the version before at first."""
        before = self._before
        if not isinstance(before, dict):
            self._before = before = {key: before.get(key) for keys in (self.changed, self.deleted) for key in keys}
        return before

    def settle(self) -> None:
        """Lets go of the version before it: what it replaced is read. Any number of times."""
        if not self.size:
            found = self.before.items()
            self.size = 1 + sum(len(key) + len(record.value or b"") for key, record in found if record is not None)

    @property
    def key_count(self) -> int:
        """How many keys it touches."""
        return len(self.changed) + len(self.deleted)


class MergedStep:
    """Several steps as one. One thread adds; adding costs the keys of what is added."""

    __slots__ = ("_changed", "_deleted", "_origins", "before", "now", "transactions", "versions", "was")

    def __init__(self, first: VersionDiff) -> None:
        self.was, self.now = first.was, first.now
        self.versions = first.versions
        self.transactions = first.transactions
        self._origins = None if first.origins is None else dict.fromkeys(first.origins)
        self.before: Before = dict(first.before)
        self._changed = dict.fromkeys(first.changed)
        self._deleted = dict.fromkeys(first.deleted)

    def add(self, newer: VersionDiff) -> None:
        """Takes in the step that comes next."""
        for key, record in newer.before.items():
            self.before.setdefault(key, record)  # the oldest counts
        self._changed.update(dict.fromkeys(newer.changed))
        if self._deleted:
            for key in newer.changed:
                self._deleted.pop(key, None)
        for key in newer.deleted:
            self._changed.pop(key, None)
            if self.before[key] is not None:  # it came and went unseen otherwise
                self._deleted[key] = None
        self.now = newer.now
        self.versions += newer.versions
        self.transactions = plus(self.transactions, newer.transactions)
        self._take_origins(newer)

    @property
    def changed(self) -> Collection[bytes]:
        """Keys that have another record after it than before it."""
        return tuple(self._changed)

    @property
    def deleted(self) -> Collection[bytes]:
        """Keys that were there before it and are not after it."""
        return tuple(self._deleted)

    @property
    def origins(self) -> tuple[str, ...] | None:
        """The source's transactions that it holds something of; None where they are too many to be kept."""
        return None if self._origins is None else tuple(self._origins)

    def _take_origins(self, newer: VersionDiff) -> None:
        if self._origins is not None and newer.origins is not None:
            self._origins.update(dict.fromkeys(newer.origins))
        if newer.origins is None or len(self._origins or ()) > _ORIGINS_KEPT:
            self._origins = None


class FullState:
    """A whole version: what a listener hears first."""

    __slots__ = ("now", "versions")

    def __init__(self, snapshot: Snapshot) -> None:
        self.now = VersionInfo.of(snapshot)
        self.versions = 1

    def add(self, newer: VersionDiff) -> None:
        """Takes in the step that comes next: the whole is of a later version then."""
        self.now = newer.now
        self.versions += newer.versions


def plus(one: int | None, other: int | None) -> int | None:
    """The sum; not known where one of them is not."""
    return None if one is None or other is None else one + other
