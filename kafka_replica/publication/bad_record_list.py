"""The list of records that were set aside and are the current records of their keys, which are therefore absent.

A record that is hidden by a record of another partition is kept, too, because it is listed again if the other one is
deleted.

Its size is bounded, because it is in memory and, as a part of the resume point, on disk: long reasons are abridged, and
large records are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Condition
from typing import Final, NamedTuple, TypeAlias

from kafka_replica.common.wording import abridged
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Partition, Record

_KEPT = 1000
_REASON_CHARACTERS = 500
_RECORD_BYTES = 16_000

KeyInPartition: TypeAlias = tuple[str, int, bytes]
"""Topic, partition and key."""

_Name: TypeAlias = tuple[str, int, bytes | int]  # topic, partition and key; without a key, its offset


class BadState(NamedTuple):
    """The state of a key in a partition."""

    offset: int | None
    """The offset of the newest record of the key in the partition, if that is bad."""
    is_current: bool
    """True if no record of another partition ranks higher."""


_NO_STATES: Final[Mapping[KeyInPartition, BadState]] = {}


class BadRecordList:
    """The newest bad records, and the total number. The follower changes the list; any thread may read it.

    Args:
        lock: the lock of the publisher.
    """

    def __init__(self, lock: Condition) -> None:
        self._lock = lock
        self._kept: dict[_Name, BadRecordError] = {}
        self._hidden: set[_Name] = set()  # those that a record of another partition hides
        self.count = 0
        """The number of records set aside since the start."""

    def add(
        self, bad_records: list[BadRecordError], states: Mapping[KeyInPartition, BadState] = _NO_STATES
    ) -> list[BadRecordError]:
        """Add records that cannot be replicated, and then update the states of keys.

        Returns:
            The records for which there is no room any more: hidden ones first, then the oldest.
        """
        with self._lock:
            self.count += len(bad_records)
            self._list(bad_records)
            self._update(states)
            excess = len(self._kept) - _KEPT
            if excess <= 0:
                return []
            names = sorted(self._kept, key=lambda name: name not in self._hidden)[:excess]
            self._hidden.difference_update(names)
            return [self._kept.pop(name) for name in names]

    def restore(self, bad_records: Iterable[BadRecordError]) -> None:
        """Add records that were set aside before the restart; they are not counted again."""
        with self._lock:
            self._list(bad_records)

    def update(self, states: Mapping[KeyInPartition, BadState]) -> None:
        """Remove the records that their partitions have replaced; hide or list those that remain."""
        with self._lock:
            self._update(states)

    def expire(self, starts: Mapping[Partition, int]) -> list[BadRecordError]:
        """Remove the records below these offsets, which are no longer in the log; return them."""
        with self._lock:
            expired = {
                name: bad
                for name, bad in self._kept.items()
                if bad.offset < starts.get(Partition(bad.topic, bad.partition), 0)
            }
            for name in expired:
                del self._kept[name]
            self._hidden.intersection_update(self._kept)
        return list(expired.values())

    def clear(self) -> None:
        """Remove all records, because a rebuild reads them again."""
        with self._lock:
            self._kept.clear()
            self._hidden.clear()

    def newest(self) -> list[BadRecordError]:
        """Return up to 1,000 of the newest records."""
        with self._lock:
            if self._hidden:
                return [bad for name, bad in self._kept.items() if name not in self._hidden]
            return list(self._kept.values())

    def _update(self, states: Mapping[KeyInPartition, BadState]) -> None:
        for name, state in states.items():
            listed = self._kept.get(name)
            if listed is not None and listed.offset != state.offset:
                del self._kept[name]
            if name not in self._kept or state.is_current:
                self._hidden.discard(name)
            else:
                self._hidden.add(name)

    def _list(self, bad_records: Iterable[BadRecordError]) -> None:
        for bad in bad_records:
            name: _Name = (bad.topic, bad.partition, bad.offset if bad.key is None else bad.key)
            listed = self._kept.get(name)
            if listed is not None and listed.offset > bad.offset:
                continue  # it was committed late
            self._kept.pop(name, None)
            self._kept[name] = _bounded(bad)


def _bounded(bad: BadRecordError) -> BadRecordError:
    """Return a bad record as it is listed: the same object if it is small."""
    reason, record = abridged(bad.reason, _REASON_CHARACTERS), bad.record
    if isinstance(record, Record) and _size_of(record) > _RECORD_BYTES:
        record = None
    if reason == bad.reason and record is bad.record:
        return bad
    bounded = BadRecordError(bad.topic, bad.partition, bad.offset, reason, bad.advice, bad.key, bad.timestamp_ms)
    bounded.record = record
    return bounded


def _size_of(record: Record) -> int:
    return len(record.value or b"") + sum(len(name) + len(value or b"") for name, value in record.headers)
