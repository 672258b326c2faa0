"""The list of records that were set aside, without those that a later good record has replaced.

Its size is bounded, because it is in memory and, as a part of the resume point, on disk: long reasons are abridged, and
large records are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from threading import Condition

from kafka_replica.common.wording import abridged
from kafka_replica.errors import BadRecordError
from kafka_replica.records import Partition, Record

_KEPT = 1000
_REASON_CHARACTERS = 500
_RECORD_BYTES = 16_000


class BadRecordList:
    """The newest bad records, and the total number. The follower changes the list; any thread may read it.

    Args:
        lock: the lock of the publisher.
    """

    def __init__(self, lock: Condition) -> None:
        self._lock = lock
        # by topic and key; without a key, by topic, partition and offset
        self._kept: dict[tuple[str, bytes] | tuple[str, int, int], BadRecordError] = {}
        self.count = 0
        """The number of records set aside since the start."""

    def add(self, bad_records: list[BadRecordError]) -> list[BadRecordError]:
        """Add records that cannot be replicated; return the oldest ones, for which there is no room any more."""
        with self._lock:
            self.count += len(bad_records)
            return self._list(bad_records)

    def restore(self, bad_records: Iterable[BadRecordError]) -> None:
        """Add records that were set aside before the restart; they are not counted again."""
        with self._lock:
            self._list(bad_records)

    def remove(self, keys: list[tuple[str, bytes]]) -> None:
        """Remove the records of keys (with their topics) that now have a good record or are deleted."""
        with self._lock:
            for topic_and_key in keys:
                self._kept.pop(topic_and_key, None)

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
        return list(expired.values())

    def clear(self) -> None:
        """Remove all records, because a rebuild reads them again."""
        with self._lock:
            self._kept.clear()

    def newest(self) -> list[BadRecordError]:
        """Return up to 1,000 of the newest records."""
        with self._lock:
            return list(self._kept.values())

    def _list(self, bad_records: Iterable[BadRecordError]) -> list[BadRecordError]:
        for bad in bad_records:
            name = (bad.topic, bad.partition, bad.offset) if bad.key is None else (bad.topic, bad.key)
            listed = self._kept.get(name)
            if listed is not None and listed.partition == bad.partition and listed.offset > bad.offset:
                continue  # it was committed late
            self._kept.pop(name, None)
            self._kept[name] = _bounded(bad)
        oldest = list(self._kept)[: max(0, len(self._kept) - _KEPT)]
        return [self._kept.pop(name) for name in oldest]


def _bounded(bad: BadRecordError) -> BadRecordError:
    """Return a bad record as it is listed: the same object if it is small."""
    reason, record = abridged(bad.reason, _REASON_CHARACTERS), bad.record
    if isinstance(record, Record) and _size_of(record) > _RECORD_BYTES:
        record = None
    if reason == bad.reason and record is bad.record:
        return bad
    bounded = BadRecordError(bad.topic, bad.partition, bad.offset, reason, bad.advice, bad.key)
    bounded.record = record
    return bounded


def _size_of(record: Record) -> int:
    return len(record.value or b"") + sum(len(name) + len(value or b"") for name, value in record.headers)
