"""The log of a partition of a fake topic: records and markers by offset, with compaction."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from operator import attrgetter
from typing import NamedTuple

from kafka_replica.records import Headers, Partition, RawRecord, lacks_key


class LoggedTransaction:
    """A transaction in the log; ``is_committed`` is None while it is open."""

    __slots__ = ("epoch", "is_committed", "marker_epoch", "producer_id")

    def __init__(self, producer_id: int, epoch: int) -> None:
        self.producer_id = producer_id
        self.epoch = self.marker_epoch = epoch
        self.is_committed: bool | None = None


class Entry(NamedTuple):
    """The entry at an offset."""

    offset: int
    record: RawRecord | None
    """The record; None for a marker. The key of a record without a key is None."""
    writing: LoggedTransaction | None
    """The transaction; None for a record that was written outside of transactions."""

    @property
    def is_committed(self) -> bool:
        """True if this is a committed record."""
        return self.record is not None and (self.writing is None or self.writing.is_committed is True)


class FakeLog:
    """The log of a partition. Callers must hold the lock of its ``FakeKafka``."""

    def __init__(self, partition: Partition) -> None:
        self.partition = partition
        self.start = 0  # the log start offset
        self.end = 0  # the high watermark
        self.decided_end = 0  # the offset after the last marker, or after the last record outside of transactions
        self._entries: list[Entry] = []
        self._open: dict[LoggedTransaction, int] = {}  # the first offset of each open transaction
        self._last: dict[int, LoggedTransaction] = {}  # the last transaction of each producer
        self._lost: list[int] = []  # the end of the log after each truncation

    @property
    def last_stable_offset(self) -> int:
        """The last stable offset: the first offset of the oldest open transaction, otherwise the end."""
        return max(self.start, min(self._open.values(), default=self.end))

    def append(
        self,
        key: bytes | None,
        value: bytes | None,
        timestamp_ms: int,
        headers: Headers,
        writing: LoggedTransaction | None,
    ) -> int:
        """Write a record; return its offset."""
        offset = self.end
        # A missing key is None, as readers of a real log return it.
        record: RawRecord = (key, value, offset, timestamp_ms, headers)  # type: ignore[assignment]
        self._add(Entry(offset, record, writing))
        if writing is None:
            self.decided_end = self.end
        else:
            self._open.setdefault(writing, offset)
            self._last[writing.producer_id] = writing
        return offset

    def write_marker(self, writing: LoggedTransaction) -> None:
        """Write the marker of a transaction; it also ends those of the same producer that have lost their markers."""
        self._add(Entry(self.end, None, writing))
        for other in self._close_all(writing.producer_id, before=self.end):
            other.is_committed = writing.is_committed
        self.decided_end = self.end

    def entries_between(self, offset: int, end: int | None = None) -> list[Entry]:
        """Return the entries from ``offset`` to ``end``, which is excluded; None means the end of the log."""
        first = bisect_left(self._entries, offset, key=_OFFSET_OF)
        last = None if end is None else bisect_left(self._entries, end, key=_OFFSET_OF)
        return self._entries[first:last]

    def committed(self, offset: int = 0) -> Iterator[RawRecord]:
        """Yield the committed records from an offset on, up to the last stable offset."""
        for entry in self.entries_between(offset, self.last_stable_offset):
            if entry.is_committed and entry.record is not None:
                yield entry.record

    def compact(self, *, keep_tombstones: bool, keep_last: bool) -> None:
        """Remove everything that Kafka's log cleaner may remove; see ``FakeTopic.compact``."""
        limit = min(self.last_stable_offset, self.end - 1 if keep_last else self.end)
        below, above = self.entries_between(0, limit), self.entries_between(limit)
        newest = {entry.record[0]: entry.offset for entry in below if entry.is_committed and entry.record is not None}
        kept = [
            entry for entry in below if entry.record is None or _stays(entry, newest, keep_tombstones=keep_tombstones)
        ]
        if not keep_tombstones:
            kept = list(_without_idle_markers(kept, self._last.values()))
        self._entries = [*kept, *above]

    def delete_before(self, start: int) -> None:
        """Delete all entries below an offset, like retention by age or DeleteRecords."""
        self.start = max(start, self.start)
        self._entries = self.entries_between(self.start)

    @property
    def epoch(self) -> int:
        """The leader epoch, incremented by each truncation."""
        return len(self._lost)

    def has_lost(self, offset: int, epoch: int) -> bool:
        """Return whether the log has been truncated below an offset since a leader epoch."""
        return any(end < offset for end in self._lost[epoch:])

    def truncate(self, end: int) -> None:
        """Remove the entries at an offset and above."""
        self._entries = self.entries_between(0, end)
        self._open = {writing: first for writing, first in self._open.items() if first < end}
        for entry in self._entries:  # a transaction whose marker was removed is open again
            if entry.writing is not None and entry.record is not None:
                self._open.setdefault(entry.writing, entry.offset)
        for entry in self._entries:
            if entry.record is None and entry.writing is not None:
                self._close_all(entry.writing.producer_id, before=entry.offset)
        self.end = end
        is_final = (entry.offset + 1 for entry in reversed(self._entries) if entry.record is None or not entry.writing)
        self.decided_end = next(is_final, min(self.decided_end, self.start))
        self._lost.append(end)

    def _close_all(self, producer_id: int, before: int) -> list[LoggedTransaction]:
        """Mark the open transactions of a producer that began before an offset as ended; return them."""
        ended = [each for each, first in self._open.items() if each.producer_id == producer_id and first < before]
        for writing in ended:
            del self._open[writing]
        return ended

    def _add(self, entry: Entry) -> None:
        self._entries.append(entry)
        self.end = entry.offset + 1


_OFFSET_OF = attrgetter("offset")


def _stays(entry: Entry, newest: dict[bytes, int], *, keep_tombstones: bool) -> bool:
    """Return whether the cleaner keeps a record: it must be committed, have a key, and be the newest of its key."""
    if not entry.is_committed or entry.record is None or lacks_key(entry.record):
        return False
    return newest[entry.record[0]] == entry.offset and (keep_tombstones or entry.record[1] is not None)


def _without_idle_markers(entries: Iterable[Entry], last: Iterable[LoggedTransaction]) -> Iterator[Entry]:
    """Skip markers of transactions without remaining records, except the last marker of each producer.

    Kafka keeps the emptied batch of the last marker, to recognise the producer, until the producer's id expires.
    """
    needed = set(last)
    for entry in entries:
        if entry.record is not None and entry.writing is not None:
            needed.add(entry.writing)
        if entry.record is not None or entry.writing in needed:
            yield entry
