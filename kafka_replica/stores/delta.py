"""The changes of a version: the last record in the log of each key touched."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from kafka_replica.common.compiled import PARSER
from kafka_replica.records import Partition, Record, Stored

_KEY_OF = itemgetter(0)
_VALUE_OF = itemgetter(1)


class Delta:
    """The net effect of a sequence of records: one record per key.

    ``source`` is the partition of the records that do not contain one.
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
        """True if keys may be deleted."""
        return bool(self.tombstone_count or self.expired_count)

    def add(self, records: Sequence[Stored]) -> None:
        """Add records, each newer than all before it."""
        # C code adds a whole batch at a time, because every record of an initial read is added here.
        if PARSER is not None:
            self.record_count += len(records)
            self.tombstone_count += PARSER.add(self.changes, records)
            return
        self.changes.update(zip(map(_KEY_OF, records), records, strict=True))
        self.count(records)

    def add_new(self, batches: list[list[Stored]]) -> bool:
        """Add the records of batches, if all of them have keys of their own, which are not here yet.

        Returns:
            False if nothing was added.
        """
        if PARSER is not None:
            counts = PARSER.add_new(self.changes, batches)
            if counts is None:
                return False
            self.record_count += counts[0]
            self.tombstone_count += counts[1]
            return True
        added = Delta(list(chain.from_iterable(batches)))
        if (
            len(added) < added.record_count
            or None in added.changes
            or not self.changes.keys().isdisjoint(added.changes)
        ):
            return False
        self.merge(added)
        return True

    def count(self, records: Sequence[Stored]) -> None:
        """Count records that were added individually."""
        self.record_count += len(records)
        self.tombstone_count += list(map(_VALUE_OF, records)).count(None)

    def expire(self, key: bytes, record: Stored) -> None:
        """Replace the record of a key that Kafka has deleted without a tombstone."""
        self.changes[key] = record
        self.expired_count += 1

    def merge(self, newer: Delta) -> None:
        """Merge the next delta, of the same source."""
        self.source = newer.source or self.source
        self.changes.update(newer.changes)
        self.record_count += newer.record_count
        self.tombstone_count += newer.tombstone_count
        self.expired_count += newer.expired_count

    def __len__(self) -> int:
        """Return the number of keys touched."""
        return len(self.changes)


class AppliedChanges(NamedTuple):
    """The changes between two versions; keys are in unspecified order."""

    changed: Collection[bytes]
    """Keys whose record differs from the previous one: new keys and new values."""
    deleted: Collection[bytes]
    """Keys that existed before and no longer exist. A tombstone for an unknown key deletes nothing."""
    before: dict[bytes, Record | None] | None = None
    """The previous records of these keys, None for new keys; set only if the store has read them anyway."""
