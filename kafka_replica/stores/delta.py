"""What one version changes: for each key touched, the last record of the log about it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import NamedTuple

from kafka_replica.records import Partition, Record, Stored

_KEY_OF = itemgetter(0)
_VALUE_OF = itemgetter(1)


class Delta:
    """The net effect of a run of records: one record a key.

    ``source`` is where records that do not say it themselves come from.
    """

    __slots__ = ("changes", "expired_count", "record_count", "source", "tombstone_count")

    def __init__(self, records: Sequence[Stored] = (), source: Partition | None = None) -> None:
        self.changes: dict[bytes, Stored] = {}
        self.source = source
        self.record_count = 0
        self.tombstone_count = 0
        self.expired_count = 0
        self.add(records)

    @property
    def has_deletions(self) -> bool:
        """Return whether keys may be deleted."""
        return bool(self.tombstone_count or self.expired_count)

    def add(self, records: Sequence[Stored]) -> None:
        """Takes in records of which each is newer than all before it."""
        # A batch at a time, in C: this is where every record of a bootstrap passes.
        self.changes.update(zip(map(_KEY_OF, records), records, strict=True))
        self.count(records)

    def count(self, records: Sequence[Stored]) -> None:
        """Counts records that were taken in one by one."""
        self.record_count += len(records)
        self.tombstone_count += list(map(_VALUE_OF, records)).count(None)

    def expire(self, key: bytes, record: Stored) -> None:
        """Kafka has deleted the record of a key, without a tombstone; this one takes its place."""
        self.changes[key] = record
        self.expired_count += 1

    def merge(self, newer: Delta) -> None:
        """Takes in the delta that comes next, of the same source."""
        self.source = newer.source or self.source
        self.changes.update(newer.changes)
        self.record_count += newer.record_count
        self.tombstone_count += newer.tombstone_count
        self.expired_count += newer.expired_count

    def __len__(self) -> int:
        """The number of keys touched."""
        return len(self.changes)


class Applied(NamedTuple):
    """What a delta did to the version before it; keys in no promised order."""

    changed: Collection[bytes]
    """Keys that have a record now which they did not have before: new keys and new values."""
    deleted: Collection[bytes]
    """Keys that were there before and are not now. A tombstone for an unknown key deletes nothing."""
    before: dict[bytes, Record | None] | None = None
    """What these keys had, None for new ones, where the store has read it anyway."""
