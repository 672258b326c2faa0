"""The rule that decides whether Kafka may have removed a deletion before it was read. No I/O, no clock.

The log cleaner keeps a tombstone for ``delete.retention.ms`` after the first cleaning that it was part of, which is
the cleaning that removes the records it deletes. So each broker keeps a tombstone for at least that time

* after it was written. A reader that has read a log to its end finds every later tombstone, if it reads each of them
  within that time after it asked for the end;
* after a record that it deletes was still there. A reader that has begun at the beginning finds the tombstones of all
  that it holds, if it reads them from the same broker within that time after it began.

A reader that is later has still missed nothing if no offset is missing in what it reads. Where there is a gap, a
tombstone may have been in it, and the key that it deleted would stay for ever: the log has to be read again from its
beginning. ``delete.retention.ms`` may change meanwhile, so the shortest value counts that it is known to have had.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_replica.common.clock import Instant
from kafka_replica.records import Partition

DEFAULT_RETENTION_S = 86_400.0
"""Kafka's default of ``delete.retention.ms``."""


class Late(NamedTuple):
    """A partition that was read too late."""

    partition: Partition
    age_s: float
    """For how long tombstones had to be kept; infinite where the leader has changed, or clocks were set back."""
    retention_s: float
    is_first: bool
    """True in a first read, where the age counts from when reading began."""
    has_moved: bool
    """True where another broker leads the partition than when reading began."""


class Span:
    """The time since which tombstones above some offset of one partition have been kept."""

    __slots__ = ("asked", "has_moved", "is_first", "retention_s", "since")

    def __init__(self, since: Instant, retention_s: float | None, *, is_first: bool) -> None:
        self.since = since
        self.retention_s = retention_s  # the shortest that was told since then
        self.is_first = is_first
        self.has_moved = False  # to another leader
        self.asked: tuple[Instant, int] | None = None  # when its end was asked for, and where it was

    def age_s(self, now: Instant) -> float:
        """Return for how long tombstones have to be kept so that all of them are found now."""
        return math.inf if self.is_first and self.has_moved else self.since.age_s(now)

    def tell(self, retention_s: float) -> None:
        """Take in for how long the topic keeps tombstones."""
        self.retention_s = retention_s if self.retention_s is None else min(self.retention_s, retention_s)


class Coverage:
    """The spans of all partitions, up to some offset in each."""

    def __init__(self) -> None:
        self.spans: dict[Partition, Span] = {}

    def ask(self, at: Instant, ends: Mapping[Partition, int]) -> None:
        """Take in where partitions ended at that instant, or later."""
        for partition, end in ends.items():
            span = self.spans.get(partition)
            if span is not None and span.asked is None:
                span.asked = at, end

    def reach(self, offsets: Mapping[Partition, int], told_s: Mapping[str, float]) -> None:
        """Everything below these offsets is known; ``told_s`` is what the topics told last."""
        for partition, span in self.spans.items():
            if span.asked is not None and offsets.get(partition, -1) >= span.asked[1]:
                self.spans[partition] = Span(span.asked[0], told_s.get(partition.topic), is_first=False)


class Gap(NamedTuple):
    """Offsets were missing in what was read."""

    age_s: float
    """The longest age that the span had when a gap was seen."""
    span: Span


class Tombstones:
    """For how long tombstones had to be kept, against for how long they were.

    Args:
        given_s: for how long they are kept, in seconds, as the user says; None: as the topics tell.
        least_s: the least that is taken for granted: before a tombstone is gone, the cleaner goes over a log twice.
    """

    def __init__(self, given_s: float | None, least_s: float) -> None:
        self._given_s = given_s
        self._least_s = least_s
        self._told_s: dict[str, float] = {}
        self._read = Coverage()
        self._shown = Coverage()
        self._gaps: dict[Partition, Gap] = {}
        self._is_checked = True

    # --- events ---

    def begin(self, at: Instant, partitions: Iterable[Partition]) -> None:
        """Reading of these partitions begins at that instant, from their beginnings."""
        for partition in partitions:
            for coverage in (self._read, self._shown):
                coverage.spans[partition] = Span(at, None, is_first=True)

    def resume(self, since: Instant, partitions: Iterable[Partition], told_s: Mapping[str, float]) -> None:
        """Reading goes on from a version that has everything which was in these partitions at an instant."""
        for partition in partitions:
            for coverage in (self._read, self._shown):
                coverage.spans[partition] = Span(since, told_s.get(partition.topic), is_first=False)

    def ask(self, at: Instant, ends: Mapping[Partition, int]) -> None:
        """Take in where partitions ended when that was asked at an instant.

        Only an answer to a question tells that there was no more at some time: what a fetch says of the end may be
        from before the broker fell silent, or this process was suspended.
        """
        self._read.ask(at, ends)
        self._shown.ask(at, ends)

    def read(self, positions: Mapping[Partition, int]) -> None:
        """Reading has come that far."""
        self._read.reach(positions, self._told_s)

    def show(self, position: Mapping[Partition, int]) -> None:
        """The version shown stands for that cut."""
        self._shown.reach(position, self._told_s)

    def gap(self, partition: Partition, now: Instant) -> None:
        """An offset is missing in what was read until now."""
        span = self._read.spans[partition]
        age_s = span.age_s(now)
        known = self._gaps.get(partition)
        if known is None or age_s > known.age_s:
            self._gaps[partition] = Gap(age_s, span)
        if age_s > self._least_s:
            self._is_checked = self._given_s is not None

    def move(self, partition: Partition) -> None:
        """Another broker leads the partition, which has cleaned the log at times of its own."""
        self._read.spans[partition].has_moved = True
        gap = self._gaps.get(partition)
        if gap is not None and gap.span.is_first:  # it may have been read from that broker already
            gap.span.has_moved = True
            self._gaps[partition] = Gap(math.inf, gap.span)

    def tell(self, told_s: Mapping[str, float]) -> None:
        """Take in for how long the topics keep tombstones now; those that may not be asked are left out."""
        self._told_s = dict(told_s)
        gaps = {partition: gap.span for partition, gap in self._gaps.items()}
        for spans in (self._read.spans, self._shown.spans, gaps):
            for partition, span in spans.items():
                span.tell(told_s.get(partition.topic, DEFAULT_RETENTION_S))
        self._is_checked = True

    def forgive(self) -> None:
        """Forget the gaps until now: no tombstone was in them."""
        self._gaps.clear()

    # --- decisions ---

    @property
    def wants_to_be_told(self) -> bool:
        """Return whether a gap can be judged only after the topics have been asked once more."""
        return not self._is_checked

    def late(self) -> Late | None:
        """Return where a tombstone may be missing, as far as the topics have told by now."""
        for partition, gap in self._gaps.items():
            if gap.age_s > (retention_s := self._retention_s(gap.span)):
                return Late(partition, gap.age_s, retention_s, gap.span.is_first, gap.span.has_moved)
        return None

    def is_stale(self, now: Instant) -> bool:
        """Return whether a gap would be too late now, in any partition."""
        return any(span.age_s(now) > self._retention_s(span) for span in self._read.spans.values())

    def saved(self) -> tuple[int, dict[str, float]]:
        """Return what a restart needs: since when tombstones above the cut shown have been kept, and for how long.

        The first is a time of the wall clock in milliseconds, 0 where nothing is certain yet; the second has the
        seconds of each topic.
        """
        told_s: dict[str, float] = {}
        for partition, span in self._shown.spans.items():
            if span.retention_s is not None:
                told_s[partition.topic] = min(span.retention_s, told_s.get(partition.topic, math.inf))
        spans = self._shown.spans.values()
        return min((0 if span.is_first else span.since.wall_ms for span in spans), default=0), told_s

    def _retention_s(self, span: Span) -> float:
        told_s = span.retention_s if self._given_s is None else self._given_s
        return max(DEFAULT_RETENTION_S if told_s is None else told_s, self._least_s)
