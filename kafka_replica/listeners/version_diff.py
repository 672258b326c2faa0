"""Differences between versions, from which an older version can be reconstructed without holding it.

A difference contains the changed keys, and the records that they had *before* the change. An older version is a newer
version with the differences between the two reverted (see ``older_version``). A difference that is kept costs one
record for each of its keys, regardless of how many versions follow; a snapshot that is held costs one record for every
key written since.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import chain, starmap
from math import inf
from typing import NamedTuple, TypeAlias

from kafka_replica.records import Position, Record
from kafka_replica.stores import Snapshot
from kafka_replica.stores.delta import AppliedChanges

_ORIGINS_KEPT = 1000  # the most transaction names that a merged difference keeps for a lagging listener

Before: TypeAlias = dict[bytes, Record | None]


class VersionInfo(NamedTuple):
    """The metadata of a version, which is known without holding the version."""

    version: int
    position: Position
    keys: int | None
    """The number of keys; None if they were not counted."""

    @staticmethod
    def of(snapshot: Snapshot) -> VersionInfo:
        """Return the metadata of a version."""
        return VersionInfo(snapshot.version, snapshot.position, snapshot.known_length)


class VersionDiff:
    """A version as the difference to the previous one. It may be used by any thread."""

    __slots__ = (
        "_before",
        "changed",
        "deleted",
        "now",
        "origins",
        "rebuilt",
        "size",
        "transactions",
        "versions",
        "was",
    )

    def __init__(
        self,
        snapshot: Snapshot,
        previous: Snapshot,
        applied: AppliedChanges,
        transactions: int | None,
        origins: tuple[str, ...] | None = (),
        *,
        rebuilt: bool = False,
    ) -> None:
        self.was, self.now = VersionInfo.of(previous), VersionInfo.of(snapshot)
        self.changed: Collection[bytes] = applied.changed
        self.deleted: Collection[bytes] = applied.deleted
        self.versions = 1
        self.transactions = transactions
        self.origins = origins
        self.rebuilt = rebuilt
        self.size = 0
        """The approximate size of keys and values in ``before``, in bytes; 0 until ``release_previous`` is called."""
        # If the store has not reported the replaced records: the previous version, until they are needed.
        self._before: Before | Snapshot = previous if applied.before is None else applied.before

    @property
    def before(self) -> Before:
        """The previous records of the keys, None for new keys; read from the previous version at the first access."""
        before = self._before
        if not isinstance(before, dict):
            self._before = before = {key: before.get(key) for keys in (self.changed, self.deleted) for key in keys}
        return before

    def release_previous(self, max_bytes: float = inf) -> None:
        """Read the replaced records and release the previous version, or stop if they are larger than ``max_bytes``.

        In the latter case the previous version is not released, and ``size`` is that of the records that were read.
        The method is idempotent.

        Raises:
            StoreError: a record cannot be read; nothing has changed.
        """
        before = self._before
        if isinstance(before, dict):
            self.size = self.size or 1 + sum(starmap(_size_of, before.items()))
            return
        found: Before = {}
        size = 1
        for key in chain(self.changed, self.deleted):
            record = found[key] = before.get(key)
            size += _size_of(key, record)
            if size > max_bytes:
                self.size = size
                return
        self._before, self.size = found, size

    @property
    def key_count(self) -> int:
        """The number of keys in the difference."""
        return len(self.changed) + len(self.deleted)


class MergedDiff:
    """Several differences merged into one. One thread adds; the cost is proportional to the keys added."""

    __slots__ = ("_changed", "_deleted", "_origins", "before", "now", "rebuilt", "transactions", "versions", "was")

    def __init__(self, first: VersionDiff) -> None:
        self.was, self.now = first.was, first.now
        self.versions = first.versions
        self.transactions = first.transactions
        self.rebuilt = first.rebuilt
        self._origins = None if first.origins is None else dict.fromkeys(first.origins)
        self.before: Before = dict(first.before)
        self._changed = dict.fromkeys(first.changed)
        self._deleted = dict.fromkeys(first.deleted)

    def add(self, newer: VersionDiff) -> None:
        """Merge the next difference into this one."""
        for key, record in newer.before.items():
            self.before.setdefault(key, record)  # the oldest record has precedence
        self._changed.update(dict.fromkeys(newer.changed))
        if self._deleted:
            for key in newer.changed:
                self._deleted.pop(key, None)
        for key in newer.deleted:
            self._changed.pop(key, None)
            if self.before[key] is not None:  # otherwise the key was added and deleted unseen
                self._deleted[key] = None
        self.now = newer.now
        self.versions += newer.versions
        self.transactions = plus(self.transactions, newer.transactions)
        self.rebuilt |= newer.rebuilt
        self._take_origins(newer)

    @property
    def changed(self) -> Collection[bytes]:
        """The keys with a new record after the merged versions."""
        return tuple(self._changed)

    @property
    def deleted(self) -> Collection[bytes]:
        """The keys that existed before the merged versions and do not exist after them."""
        return tuple(self._deleted)

    @property
    def origins(self) -> tuple[str, ...] | None:
        """The transactions of the source that wrote the records; None if there are too many to keep."""
        return None if self._origins is None else tuple(self._origins)

    def _take_origins(self, newer: VersionDiff) -> None:
        if self._origins is not None and newer.origins is not None:
            self._origins.update(dict.fromkeys(newer.origins))
        if newer.origins is None or len(self._origins or ()) > _ORIGINS_KEPT:
            self._origins = None


class FullState:
    """A complete version, which a listener receives first."""

    __slots__ = ("now", "versions")

    def __init__(self, snapshot: Snapshot) -> None:
        self.now = VersionInfo.of(snapshot)
        self.versions = 1

    def add(self, newer: VersionDiff) -> None:
        """Add the next difference, so that the state becomes that of a later version."""
        self.now = newer.now
        self.versions += newer.versions


def _size_of(key: bytes, record: Record | None) -> int:
    return 0 if record is None else len(key) + len(record.value or b"")


def plus(number: int | None, other: int | None) -> int | None:
    """Return the sum of two numbers; None if one of them is not known."""
    return None if number is None or other is None else number + other
