"""The check that no deletion was missed. It queries the topics' retention; ``tombstone_retention`` has the rules."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence

from kafka_replica.broker.reading.contract import FetchResult, LogReader, Retention, StartOffsets
from kafka_replica.common.clock import Instant, now
from kafka_replica.errors import BrokerError, LogReplacedError
from kafka_replica.records import Partition, Position
from kafka_replica.replication.broker_retry import BrokerRetry
from kafka_replica.replication.tombstone_retention import LatePartition, TombstoneCheck
from kafka_replica.transactions import Ends
from kafka_replica.transactions.resume_point import ResumePoint

_log = logging.getLogger("kafka_replica")

_LEAST_S = 1.0  # the time for which a tombstone is assumed to be kept in any case
_LEAST_UNCERTAIN_S = 3.0  # the same for readers that see each marker as a gap, so that every transaction has one
_ASK_FIRST_S, _ASK_EVERY_S = 5.0, 60.0


class DeletionCheck:
    """A check that reading some topics has missed no deletion. Only the reading thread may use it.

    Args:
        topics: the names of the topics.
        given_s: how long tombstones are kept, in seconds, as the user configured; None queries the topics.
        reader: the reader of the topics.
        retry: repeats requests to the reader until they are answered.
    """

    def __init__(self, topics: Sequence[str], given_s: float | None, reader: LogReader, retry: BrokerRetry) -> None:
        least_s = _LEAST_S if reader.gaps_are_certain else _LEAST_UNCERTAIN_S
        self._rule = TombstoneCheck(given_s, least_s)
        self._topics = topics
        self._is_given = given_s is not None
        self._reader = reader
        self._retry = retry
        self._positions = Position()
        self._ends = Position()
        self._leaders: dict[Partition, int] = {}
        self._ask_at_s = time.monotonic() + _ASK_FIRST_S
        self._may_ask = True
        self._has_warned = False
        self.deleting_topics: tuple[str, ...] = ()
        """The topics from which Kafka deletes old records, as far as known."""

    # --- events ---

    def begin(self, requested_at: Instant, start_offsets: StartOffsets, resume_point: ResumePoint | None) -> bool:
        """Start to read, or continue at a resume point.

        Args:
            requested_at: the time at which the ends in ``start_offsets`` were requested.
            start_offsets: the offsets at which the log was opened.
            resume_point: the resume point; None if reading starts at the beginning.

        Returns:
            Whether all deletions since the resume point are certainly still in the log.
        """
        self._ends = start_offsets.ends
        known = Position() if resume_point is None else resume_point.position
        self.add(requested_at, [partition for partition in start_offsets.beginnings if partition not in known])
        if resume_point is not None:
            self._rule.resume(Instant(resume_point.caught_up_ms), known, resume_point.tombstones_kept_s)
        if self._reader.gaps_are_certain:  # otherwise an open transaction may prevent reading from reaching the ends
            self._rule.note_ends(requested_at, start_offsets.ends)
        if resume_point is None:
            return False
        self._query_retention()
        return not self._rule.is_stale(now())

    def add(self, at: Instant, partitions: Iterable[Partition]) -> None:
        """Note that reading of partitions begins at a time."""
        self._rule.begin(at, list(partitions))
        self._note_leader_changes()

    def take(self, fetch_result: FetchResult) -> None:
        """Process the batches that were read.

        Raises:
            LogReplacedError: a deletion may have been missed.
        """
        self._note_leader_changes()
        if fetch_result.gaps:
            read_at = now()
            for partition in fetch_result.gaps:
                self._rule.note_gap(partition, read_at)
            if self._rule.late() is not None:
                self.confirm()
        self._positions = fetch_result.reading.positions
        self._rule.read(self._positions)

    def process_ends(self, requested_at: Instant, ends: Ends) -> None:
        """Process the ends of the partitions, which were requested at a time."""
        # Kafka does not compact beyond the last stable offset, and a reader of committed records reads no further.
        self._ends = ends.high_watermarks if self._reader.gaps_are_certain else ends.last_stable
        self._rule.note_ends(requested_at, self._ends)
        self._rule.read(self._positions)

    def resume_values(self, position: Mapping[Partition, int]) -> tuple[int, Mapping[str, float]]:
        """Return ``caught_up_ms`` and ``tombstones_kept_s`` of the resume point of a version at a position."""
        self._rule.show(position)
        return self._rule.resume_values()

    # --- queries ---

    def confirm(self) -> None:
        """Check that nothing read so far lacks a deletion.

        Raises:
            LogReplacedError: a deletion may have been missed.
        """
        self._note_leader_changes()
        if self._rule.needs_retentions:
            self._query_retention()
        late = self._rule.late()
        if late is not None:
            raise self._too_late(late)
        self._rule.forgive()

    def update_retentions(self) -> None:
        """Query the retention of the topics if the interval has passed, so that changes are noticed."""
        if self._is_given or not self._may_ask or time.monotonic() < self._ask_at_s:
            return
        self._ask_at_s = time.monotonic() + _ASK_EVERY_S
        try:
            self._take(self._reader.retentions(), is_needed=False)
        except BrokerError as error:  # if the problem persists, more important requests report it, too
            _log.debug("reading delete.retention.ms of %s: %s", ", ".join(self._topics), error)

    def _query_retention(self) -> None:
        """Query the retention of the topics until the broker answers."""
        if not self._is_given:
            self._take(self._retry.call(self._reader, self._reader.retentions), is_needed=True)

    def _take(self, retentions: Mapping[str, Retention], *, is_needed: bool) -> None:
        refused = [topic for topic in self._topics if topic not in retentions]
        self._may_ask = not refused
        if refused and is_needed and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "the replica may not read delete.retention.ms of %s (permission DescribeConfigs on the topic): it "
                "uses Kafka's default, a day; set tombstones_kept_s if it differs",
                ", ".join(refused),
            )
        self._rule.set_retentions({topic: retention.tombstones_kept_s for topic, retention in retentions.items()})
        self._note_deleting(tuple(topic for topic, retention in retentions.items() if retention.deletes_old_records))

    def _note_deleting(self, topics: tuple[str, ...]) -> None:
        new = [topic for topic in topics if topic not in self.deleting_topics]
        self.deleting_topics = topics
        if new:
            _log.warning(
                "Kafka deletes old records of %s, also those that are the newest of their keys (cleanup.policy and "
                "retention): keys that were not written for that time are missing, unless initial_records= has them; "
                "set cleanup.policy=compact if this is not intended",
                ", ".join(new),
            )

    # --- helpers ---

    def _note_leader_changes(self) -> None:
        leaders = self._reader.leaders
        if leaders == self._leaders:
            return
        for partition, leader in leaders.items():
            if leader >= 0:
                if self._leaders.get(partition, leader) != leader:
                    self._rule.move(partition)
                self._leaders[partition] = leader

    def _too_late(self, late: LatePartition) -> LogReplacedError:
        partition = late.partition
        end, at = self._ends.get(partition, 0), self._positions.get(partition, 0)
        advice = ""
        if late.is_first and late.has_moved:
            since = f"the leader of {partition} has changed since reading began, and the new one may have removed more"
        elif late.is_first:
            since = f"reading {partition} began {late.age_s:.1f} s ago, and has come to offset {at} of {end}"
            advice = (
                "; all of a topic has to be read within that time: raise delete.retention.ms well above the time that "
                "takes here"
            )
        elif math.isinf(late.age_s):
            since = f"the wall clock was set back since {partition} was read last"
        else:
            since = f"{partition} was read to its end {late.age_s:.1f} s ago"
        return LogReplacedError(
            f"reading {partition}: offsets are missing, and {since}, but Kafka keeps tombstones for "
            f"{late.retention_s:g} s only (delete.retention.ms), so that deletions may be missing{advice}"
        )
