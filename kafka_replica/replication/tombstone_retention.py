"""The rules, without I/O or clock, that decide whether Kafka may have removed a tombstone before it was read.

The log cleaner keeps a tombstone for ``delete.retention.ms`` after the first cleaning that included it, which also
removes the records that it deletes. So each broker keeps a tombstone for at least that time

* after the tombstone was written. A reader that has read a log to its end finds every later tombstone, if it reads each
  of them within that time after requesting the end;
* after a moment at which a record that the tombstone deletes still existed. A reader that began at the beginning finds
  the tombstones of all keys that it holds, if it reads them from the same broker within that time after it began.

A reader that takes longer has missed nothing if no offset is missing in the records that it reads. A gap may have held
a tombstone, and the key that it deleted would never disappear, so the log must be read again from its beginning.
``delete.retention.ms`` may change in the meantime, so the shortest value that was observed counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_replica.common.clock import Instant
from kafka_replica.records import Partition

DEFAULT_RETENTION_S = 86_400.0
"""Kafka's default of ``delete.retention.ms``."""


class LatePartition(NamedTuple):
    """A partition that was read too late."""

    partition: Partition
    age_s: float
    """The seconds for which tombstones had to be kept; infinite if the leader changed, or clocks were set back."""
    retention_s: float
    is_first: bool
    """True during a first read, whose age is measured from the beginning of reading."""
    has_moved: bool
    """True if another broker leads the partition than when reading began."""


class RetentionSpan:
    """The time since which tombstones above some offset of one partition have been kept."""

    __slots__ = ("has_moved", "is_first", "requested_end", "retention_s", "since")

    def __init__(self, since: Instant, retention_s: float | None, *, is_first: bool) -> None:
        self.since = since
        self.retention_s = retention_s  # the shortest retention that Kafka reported since then
        self.is_first = is_first
        self.has_moved = False  # whether the leader has changed
        # When the end of the partition was requested, and its offset.
        self.requested_end: tuple[Instant, int] | None = None

    def age_s(self, now: Instant) -> float:
        """Return how long tombstones must be kept, in seconds, for all of them to be found now."""
        return math.inf if self.is_first and self.has_moved else self.since.age_s(now)

    def set_retention(self, retention_s: float) -> None:
        """Lower the retention to the topic's current one, if that is shorter."""
        self.retention_s = retention_s if self.retention_s is None else min(self.retention_s, retention_s)


class RetentionCoverage:
    """The spans of all partitions, up to some offset in each."""

    def __init__(self) -> None:
        self.spans: dict[Partition, RetentionSpan] = {}

    def note_ends(self, at: Instant, ends: Mapping[Partition, int]) -> None:
        """Note where partitions ended at a time, or later."""
        for partition, end in ends.items():
            span = self.spans.get(partition)
            if span is not None and span.requested_end is None:
                span.requested_end = at, end

    def reach(self, offsets: Mapping[Partition, int], retentions_s: Mapping[str, float]) -> None:
        """Note that all records below these offsets were read; ``retentions_s`` has the last reported retentions."""
        for partition, span in self.spans.items():
            if span.requested_end is not None and offsets.get(partition, -1) >= span.requested_end[1]:
                self.spans[partition] = RetentionSpan(
                    span.requested_end[0], retentions_s.get(partition.topic), is_first=False
                )


class OffsetGap(NamedTuple):
    """Missing offsets in the records that were read."""

    age_s: float
    """The longest age of the span at a gap."""
    span: RetentionSpan


class TombstoneCheck:
    """Compares how long tombstones had to be kept with how long Kafka keeps them.

    Args:
        given_s: how long tombstones are kept, in seconds, as the user configured; None uses the topics' retention.
        least_s: the minimum that is assumed: the cleaner must process a log twice before a tombstone is removed.
    """

    def __init__(self, given_s: float | None, least_s: float) -> None:
        self._given_s = given_s
        self._least_s = least_s
        self._retentions_s: dict[str, float] = {}
        self._read_coverage = RetentionCoverage()
        self._shown_coverage = RetentionCoverage()
        self._gaps: dict[Partition, OffsetGap] = {}
        self._is_checked = True

    # --- events ---

    def begin(self, at: Instant, partitions: Iterable[Partition]) -> None:
        """Note that reading of partitions begins at a time, from their beginnings."""
        for partition in partitions:
            for coverage in (self._read_coverage, self._shown_coverage):
                coverage.spans[partition] = RetentionSpan(at, None, is_first=True)

    def resume(self, since: Instant, partitions: Iterable[Partition], retentions_s: Mapping[str, float]) -> None:
        """Note that reading continues from a version with everything that was in the partitions at a time."""
        for partition in partitions:
            for coverage in (self._read_coverage, self._shown_coverage):
                coverage.spans[partition] = RetentionSpan(since, retentions_s.get(partition.topic), is_first=False)

    def note_ends(self, at: Instant, ends: Mapping[Partition, int]) -> None:
        """Note where partitions ended when their ends were requested.

        Only the answer to such a request proves that there were no more records at some time: the end in a fetch
        response may date from before the broker stopped answering, or before this process was suspended.
        """
        self._read_coverage.note_ends(at, ends)
        self._shown_coverage.note_ends(at, ends)

    def read(self, positions: Mapping[Partition, int]) -> None:
        """Note the positions that reading has reached."""
        self._read_coverage.reach(positions, self._retentions_s)

    def show(self, position: Mapping[Partition, int]) -> None:
        """Note the position of the version shown."""
        self._shown_coverage.reach(position, self._retentions_s)

    def note_gap(self, partition: Partition, now: Instant) -> None:
        """Note that an offset is missing in the records read so far."""
        span = self._read_coverage.spans[partition]
        age_s = span.age_s(now)
        gap = self._gaps.get(partition)
        if gap is None or age_s > gap.age_s:
            self._gaps[partition] = OffsetGap(age_s, span)
        if age_s > self._least_s:
            self._is_checked = self._given_s is not None

    def move(self, partition: Partition) -> None:
        """Note that another broker now leads the partition; it has cleaned its log at different times."""
        span = self._read_coverage.spans.get(partition)
        if span is None:
            return  # a partition that was added, and is not read yet
        span.has_moved = True
        gap = self._gaps.get(partition)
        if gap is not None and gap.span.is_first:  # the gap may have been read from that broker already
            gap.span.has_moved = True
            self._gaps[partition] = OffsetGap(math.inf, gap.span)

    def set_retentions(self, retentions_s: Mapping[str, float]) -> None:
        """Note how long the topics keep tombstones now; topics whose settings the replica may not read are omitted."""
        self._retentions_s = dict(retentions_s)
        gaps = {partition: gap.span for partition, gap in self._gaps.items()}
        for spans in (self._read_coverage.spans, self._shown_coverage.spans, gaps):
            for partition, span in spans.items():
                span.set_retention(retentions_s.get(partition.topic, DEFAULT_RETENTION_S))
        self._is_checked = True

    def forgive(self) -> None:
        """Forget the gaps so far: they held no tombstone that is missing."""
        self._gaps.clear()

    # --- decisions ---

    @property
    def needs_retentions(self) -> bool:
        """True if a gap can be judged only after the topics' retention is queried again."""
        return not self._is_checked

    def late(self) -> LatePartition | None:
        """Return a partition in which, by the retentions reported so far, a tombstone may be missing."""
        for partition, gap in self._gaps.items():
            if gap.age_s > (retention_s := self._retention_s(gap.span)):
                return LatePartition(partition, gap.age_s, retention_s, gap.span.is_first, gap.span.has_moved)
        return None

    def is_stale(self, now: Instant) -> bool:
        """Return whether a gap would be too late now, in any partition."""
        return any(span.age_s(now) > self._retention_s(span) for span in self._read_coverage.spans.values())

    def resume_values(self) -> tuple[int, dict[str, float]]:
        """Return what a restart needs: since when tombstones above the version shown have been kept, and for how long.

        The first value is a wall clock time in milliseconds, 0 if nothing is certain yet; the second has the
        retention of each topic in seconds.
        """
        retentions_s: dict[str, float] = {}
        for partition, span in self._shown_coverage.spans.items():
            if span.retention_s is not None:
                retentions_s[partition.topic] = min(span.retention_s, retentions_s.get(partition.topic, math.inf))
        spans = self._shown_coverage.spans.values()
        return min((0 if span.is_first else span.since.wall_ms for span in spans), default=0), retentions_s

    def _retention_s(self, span: RetentionSpan) -> float:
        retentions_s = span.retention_s if self._given_s is None else self._given_s
        return max(DEFAULT_RETENTION_S if retentions_s is None else retentions_s, self._least_s)
