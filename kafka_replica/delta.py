"""What one version changes: for each key touched, the last record of the log about it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from kafka_replica.records import Record


class Delta:
    """The net effect of a run of records: one record a key, the one with the highest offset.

    Compaction and every plain reader keep the highest offset of a key, so a delta does too: it may be
    built from any cutting of the log into pieces, in order, and ends the same.
    """

    __slots__ = ("changes", "record_count", "tombstone_count")

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self.changes: dict[bytes, Record] = {}
        self.record_count = 0
        self.tombstone_count = 0
        self.add(records)

    def add(self, records: Iterable[Record]) -> None:
        """Takes in records in log order."""
        changes = self.changes
        count = tombstones = 0
        for record in records:
            changes[record.key] = record
            count += 1
            if record.value is None:
                tombstones += 1
        self.record_count += count
        self.tombstone_count += tombstones

    def merge(self, newer: Delta) -> None:
        """Takes in a delta of records that come later in the log."""
        self.changes |= newer.changes
        self.record_count += newer.record_count
        self.tombstone_count += newer.tombstone_count

    def __len__(self) -> int:
        """The number of keys touched."""
        return len(self.changes)


class Applied(NamedTuple):
    """What a delta did to the version before it; keys in the order of the log."""

    changed: tuple[bytes, ...]
    """Keys that have a record now which they did not have before: new keys and new values."""
    deleted: tuple[bytes, ...]
    """Keys that were there before and are not now. A tombstone for an unknown key deletes nothing."""
