"""What one version changes: for each key touched, the last record of the log about it."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import NamedTuple

from kafka_replica.records import Record

_KEY_OF = itemgetter(Record._fields.index("key"))
_VALUE_OF = itemgetter(Record._fields.index("value"))


class Delta:
    """The net effect of a run of records: one record a key, the one with the highest offset.

    Compaction and every plain reader keep the highest offset of a key, so a delta does too: it may be
    built from any cutting of the log into pieces, in order, and ends the same.
    """

    __slots__ = ("changes", "record_count", "tombstone_count")

    def __init__(self, records: Sequence[Record] = ()) -> None:
        self.changes: dict[bytes, Record] = {}
        self.record_count = 0
        self.tombstone_count = 0
        self.add(records)

    def add(self, records: Sequence[Record]) -> None:
        """Takes in records in log order."""
        # A batch at a time, in C: this is where every record of a bootstrap passes.
        self.changes.update(zip(map(_KEY_OF, records), records, strict=True))
        self.record_count += len(records)
        self.tombstone_count += tombstones_in(records)

    def merge(self, newer: Delta) -> None:
        """Takes in a delta of records that come later in the log."""
        self.changes |= newer.changes
        self.record_count += newer.record_count
        self.tombstone_count += newer.tombstone_count

    def __len__(self) -> int:
        """The number of keys touched."""
        return len(self.changes)


def tombstones_in(records: Sequence[Record]) -> int:
    """How many of the records delete their key."""
    return list(map(_VALUE_OF, records)).count(None)


class Applied(NamedTuple):
    """What a delta did to the version before it; keys in the order in which the log first touched them."""

    changed: tuple[bytes, ...]
    """Keys that have a record now which they did not have before: new keys and new values."""
    deleted: tuple[bytes, ...]
    """Keys that were there before and are not now. A tombstone for an unknown key deletes nothing."""
