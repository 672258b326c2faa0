"""The loop that connects log reader, boundary detector, barrier and store.

Records flow in one direction::

    broker -> transactions (which transactions are complete?) -> delta builder (which record of a key is current?)
           -> barrier (may the version be shown?) -> store -> publisher
"""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Iterable
from contextlib import suppress
from threading import Event

from kafka_replica.broker.reading.contract import FetchResult, LogReader, StartOffsets
from kafka_replica.broker.reading.readers import make_reader
from kafka_replica.common.clock import Instant, now
from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.common.heap import GrowingHeap
from kafka_replica.errors import (
    BrokerUnavailableError,
    StoreDamagedError,
    TopicNotFoundError,
    WaitTimeoutError,
)
from kafka_replica.headers.transactions import origins_of
from kafka_replica.large_values.keys import is_chunk_key
from kafka_replica.publication.lifecycle import LifecycleLog
from kafka_replica.publication.publisher import Publisher
from kafka_replica.publication.status import State
from kafka_replica.records import Partition, Position
from kafka_replica.replication.answered import Answered
from kafka_replica.replication.bad_records import BadRecordHandler
from kafka_replica.replication.barrier_timeout import BarrierTimeout
from kafka_replica.replication.broker_retry import BrokerRetry, ClosedMeanwhileError
from kafka_replica.replication.deletion_check import DeletionCheck
from kafka_replica.replication.delta_builder import DeltaBuilder
from kafka_replica.replication.initial_records import UnreadDeletions, load_initial_records
from kafka_replica.replication.log_starts import LogStarts
from kafka_replica.replication.opening import MakeReader, open_log
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.replication.partition_growth import PartitionGrowth
from kafka_replica.replication.record_filter import RecordFilter
from kafka_replica.replication.service_retry import ServiceRetry
from kafka_replica.stores import Store
from kafka_replica.transactions import Batch, BoundaryDetector, CommittedRecords, ConsistentPoint, Decision, Ends
from kafka_replica.transactions.barrier import Barrier
from kafka_replica.transactions.resume_point import ResumePoint

_log = logging.getLogger("kafka_replica")

_READ_S = 0.1  # how long a read waits for records, and so how long closing may take to be noticed
_TOPIC_CHECK_INTERVAL_S = 1.0  # interval of checks for deleted topics and added partitions
_SAVE_INTERVAL_S = 30.0  # the interval at which to save that the version in the store is still the newest
_MAX_VERSIONS_PER_READ = 100  # up to this many transactions of a read get a version each; more become one version
_MAX_END_REQUESTS_PER_STEP = 3  # in a row: after a response, the detector may need another one immediately
_BATCHES_PER_PART = 16  # batches added between checks whether a part is full


class Follower:
    """A loop that follows a log into a store until ``closing`` is set, and reports to the publisher."""

    def __init__(
        self,
        options: ReplicaOptions,
        store: Store,
        publisher: Publisher,
        make_reader: MakeReader = make_reader,
        closing: Event | None = None,
        lifecycle: LifecycleLog | None = None,
        answered: Answered | None = None,
    ) -> None:
        self._lifecycle = lifecycle or LifecycleLog(options.name, publisher)
        self._closing = closing or Event()
        self._options = options
        self._selection = options.selection
        self._make_reader = make_reader
        self._store = store
        self._publisher = publisher
        ranks = {topic: rank for rank, topic in enumerate(options.topics)}
        answered = answered or Answered()
        services = ServiceRetry(
            options.name, publisher.health, self._closing, on_pause=self._lifecycle.note, answered=answered
        )
        record_filter = RecordFilter(options.key_filter, options.validator, options.header_stack, services)
        self._delta_builder = DeltaBuilder(
            store.newest,
            options.prefixes(),
            ranks,
            record_filter=record_filter,
            counts_bytes=store.part_bytes is not None,
        )
        self._bad_records = BadRecordHandler(
            publisher.bad_records,
            self._delta_builder,
            on_bad_record=options.on_bad_record,
            dead_letters=options.dead_letters,
        )
        self._retry = BrokerRetry(
            options.name,
            publisher.health,
            self._closing,
            waits_for_topics=options.wait_for_topic,
            on_pause=self._lifecycle.note,
            answered=answered,
        )
        self._deletions: DeletionCheck
        self._heap = GrowingHeap()
        self._log_starts = LogStarts()
        self._unread_deletions = UnreadDeletions(options.initial_records)
        self._point: ConsistentPoint | None = None  # the last point, if no records were committed after it
        self._barrier: Barrier
        self._growth: PartitionGrowth
        self._opened_at: Instant
        self._reader: LogReader
        self._detector: BoundaryDetector
        self._transactions: int | None = 0  # the number in points that are not shown yet
        self._resume_point: ResumePoint | None = None  # of the version in the store, if it belongs to this log
        self._timeout: BarrierTimeout
        self._checked_s = 0.0
        self._saved_s = time.monotonic()

    def follow(self, resume_point: ResumePoint | None = None) -> None:
        """Follow the log until ``closing`` is set.

        Args:
            resume_point: the resume point of the version in the store; None builds the version from scratch.

        Raises:
            LogReplacedError: the store can no longer follow the log, and must be rebuilt.
            StoreDamagedError: the store is damaged, and must be rebuilt.
            KafkaReplicaError: the follower cannot continue.
        """
        try:
            with suppress(ClosedMeanwhileError):
                self._reader, self._detector, start_offsets = open_log(
                    self._options, self._make_reader, self._retry, lambda reader: self._open(reader, resume_point)
                )
                if resume_point is None:
                    start_offsets = self._load_initial_records(start_offsets)
                self._barrier = Barrier(start_offsets.ends)
                self._deletions = DeletionCheck(
                    self._options.topics, self._options.tombstones_kept_s, self._reader, self._retry
                )
                self._begin(start_offsets, resume_point)
                # Begins only now: waiting for a broker or a topic, and loading initial records, is not limited.
                self._timeout = BarrierTimeout(self._options.barrier_timeout_s, time.monotonic())
                while not self._closing.is_set():
                    self._step()
                    self._lifecycle.note()
                    if not self._barrier.passed:
                        self._check_timeout()
            self._save_position()
        finally:
            if hasattr(self, "_reader"):
                self._reader.close()

    def _open(self, reader: LogReader, resume_point: ResumePoint | None) -> StartOffsets:
        self._opened_at = now()
        return reader.open(resume_point)

    def _load_initial_records(self, start_offsets: StartOffsets) -> StartOffsets:
        """Load the initial records, if there are any; return the state of the log with its ends after the load."""
        load = self._options.initial_records
        if load is None:
            return start_offsets
        self._unread_deletions.loading(start_offsets.ends)
        for record in load_initial_records(load, self._options.topics[0], self._options.key_filter):
            self._delta_builder.add_initial(record)
            self._stage_if_large()
        return start_offsets._replace(ends=self._retry.call(self._reader, self._reader.ends).high_watermarks)

    def _begin(self, start_offsets: StartOffsets, resume_point: ResumePoint | None = None) -> None:
        self._publisher.health.barrier_set(start_offsets.ends, self._detector.boundaries)
        known, lowest = Position(), dict(start_offsets.beginnings)
        self._growth = PartitionGrowth(
            self._reader,
            self._retry,
            self._detector,
            self._delta_builder,
            self._deletions,
            self._log_starts,
            self._unread_deletions,
        )
        nothing_is_missing = self._deletions.begin(self._opened_at, start_offsets, resume_point)
        if resume_point is not None:
            known, self._resume_point = resume_point.position, resume_point
            self._barrier.raise_to(known)
            lowest |= {**dict.fromkeys(known, 0), **resume_point.lowest_offsets}
            self._publisher.bad_records.restore(self._delta_builder.restore(resume_point.bad_records))
            if nothing_is_missing:
                self._show_saved()
            # Otherwise the saved version is shown if reading up to the barrier has found no missing offset.
        self._log_starts.add(lowest)
        self._growth.begin(start_offsets.beginnings, known)
        self._note_log_starts(start_offsets.log_starts)
        self._note_confirmation(start_offsets.unconfirmed)
        self._apply_decisions(self._detector.take_ends(Ends(start_offsets.ends, start_offsets.ends)))

    # --- one iteration of the loop ---

    def _step(self) -> None:
        try:
            fetch_result = self._reader.read(_READ_S)
        except BrokerUnavailableError as error:
            self._retry.unavailable(self._reader, error)
            self._retry.pause()
            return
        except TopicNotFoundError as error:
            self._retry.missing(error)
            self._retry.pause()
            return
        self._note_contact(fetch_result)
        self._unread_deletions.check(fetch_result.later_beginnings)
        self._note_log_starts(fetch_result.log_starts)
        self._deletions.take(fetch_result)
        self._publisher.health.read(fetch_result.reading.positions)
        if self._store.part_bytes is None:
            self._heap.grow(fetch_result.size_bytes)  # the store keeps nearly all of the memory
        with collector_paused():
            decisions = self._detector.take(fetch_result.reading, every_point=self._barrier.passed)
        self._apply_decisions(decisions)
        self._note_counts()
        self._publisher.health.ends(
            Ends(fetch_result.last_stable, fetch_result.reading.high_watermarks),
            waits=self._detector.waits_for_open_transactions,
        )
        if self._detector.needs_ends:
            self._request_ends()
        if self._log_starts.passed and self._point is not None:  # the next point may be a long time away
            self._publish_at(self._point, looked=False)
        if time.monotonic() - self._checked_s > _TOPIC_CHECK_INTERVAL_S:
            self._check_regularly()

    def _note_contact(self, fetch_result: FetchResult) -> None:
        if fetch_result.has_response:
            self._retry.well()
        if fetch_result.temporary_error is not None:
            self._retry.note_error(fetch_result.temporary_error)
        if fetch_result.gaps and self._reader.gaps_are_certain:
            self._barrier.note_gap()

    def _note_log_starts(self, log_starts: Position) -> None:
        if self._options.initial_records is not None:
            return  # with initial records, deleted records are kept
        # As with gaps: deleted records may have been written again, further on.
        if self._log_starts.move(log_starts):
            self._barrier.note_gap()

    def _check_timeout(self) -> None:
        """Fail a bootstrap that has made no progress for too long, although the broker answers.

        Raises:
            WaitTimeoutError: the timeout has passed; the message names what the replica waits for.
        """
        health = self._publisher.health
        is_stalled = health.state is State.STALLED
        if not self._timeout.is_over(health.read_position, time.monotonic(), is_stalled=is_stalled):
            return
        blocking = self._publisher.status().blocking_transaction
        holds = f"; a transaction is open at {blocking}" if blocking is not None else ""
        raise WaitTimeoutError(
            f"the replica of {self._options.name} has read nothing for {self._timeout.limit_s:g} s and is not ready: "
            f"read up to {health.read_position}, the barrier is at {self._barrier.least}{holds}"
        )

    def _apply_decisions(self, decisions: list[Decision]) -> None:
        """Carry out the decisions of the detector."""
        points = sum(isinstance(decision, ConsistentPoint) for decision in decisions)
        conflate = points > _MAX_VERSIONS_PER_READ
        looked, known = False, len(self._growth.partitions)
        for decision in decisions:
            if isinstance(decision, CommittedRecords):
                self._point = None
                self._add_committed(decision.batches)
                continue
            points -= 1
            self._count(decision.transactions)
            has_grown = len(self._growth.partitions) > known  # so the decision does not cover all partitions
            if has_grown or (conflate and points):
                continue
            self._point = decision
            looked = self._publish_at(decision, looked=looked or decision.has_checked_partitions)

    def _add_committed(self, batches: list[Batch]) -> None:
        """Add committed batches to the next version; if the store takes parts, pass the version to it in parts."""
        if self._store.part_bytes is None:
            self._bad_records.handle(self._delta_builder.add_committed(batches))
            return
        for at in range(0, len(batches), _BATCHES_PER_PART):
            self._bad_records.handle(self._delta_builder.add_committed(batches[at : at + _BATCHES_PER_PART]))
            self._stage_if_large()

    def _stage_if_large(self) -> None:
        """Pass what the next version has so far to a store that takes parts, if it is large enough for a part."""
        limit = self._store.part_bytes
        if limit is not None and self._delta_builder.size_bytes > limit:
            self._check_open()
            part = self._delta_builder.take_part()
            if part.changes:  # a store that holds a part notes no position, and outdated records make no version
                self._store.stage(part)

    def _publish_at(self, point: ConsistentPoint, *, looked: bool) -> bool:
        """Show the version at a point, if the barrier admits the point; return whether all partitions were listed."""
        if self._barrier.needs_ends and self._barrier.would_admit(point.position):
            self._check_gap()
        if not self._barrier.admits(point.position):
            return looked
        if self._log_starts.passed:
            self._expire(point.position)
        if self._delta_builder.is_empty and self._resume_point is not None:
            self._deletions.confirm()
            self._advance(point.position)
            return looked
        if not looked and not self._are_partitions_unchanged():
            return False
        self._deletions.confirm()
        self._show_saved()
        self._check_open()
        delta = self._delta_builder.take(point.position)
        transactions, self._transactions = self._transactions, 0
        # Latencies of records that existed before reading began would be meaningless.
        is_news = self._publisher.health.is_ready and delta.record_count
        origins = origins_of(delta.changes.values(), transactions, is_chunk_key) if is_news else ()
        resume_point = self._make_resume_point(point.position)
        applied = self._store.apply(delta, point.position, resume_point)
        self._resume_point = resume_point
        self._note_counts()  # before readers can see the version
        self._publisher.published(self._store.snapshot(), applied, transactions, origins)
        self._detector.mark_shown()
        return True

    def _check_open(self) -> None:
        """Check that the replica was not closed during a call of a validator, for example, which took long.

        Raises:
            ClosedMeanwhileError: it was closed, so that nothing may be written to its store.
        """
        if self._closing.is_set():
            raise ClosedMeanwhileError

    def _expire(self, position: Position) -> None:
        """Delete the records that Kafka has deleted at the start of the logs, in the version at a position."""
        starts = self._log_starts.passed
        count, lowest, states = self._delta_builder.expire(starts, self._store.offsets())
        self._log_starts.expire(lowest, position)
        self._bad_records.expire(starts, states)
        _log.info("records below %s were deleted by Kafka: %d keys are deleted with them", Position(starts), count)

    def _advance(self, position: Position) -> None:
        """Advance the version in the store to a later position, without changes of records."""
        self._show_saved()
        self._resume_point = self._make_resume_point(position)
        self._delta_builder.skip()
        self._transactions = 0  # those so far changed nothing, so that no version counts them
        self._note_counts()
        self._publisher.advanced(position)

    def _note_counts(self) -> None:
        self._publisher.health.counted(
            self._detector.held_records + self._delta_builder.record_count, self._delta_builder.totals
        )

    def _count(self, transactions: int | None) -> None:
        if transactions is None or self._transactions is None:
            self._transactions = None
        else:
            self._transactions += transactions

    # --- state that outlives the process ---

    def _make_resume_point(self, position: Position) -> ResumePoint:
        origin = self._reader.origin
        caught_up_ms, tombstones_kept_s = self._deletions.resume_values(position)
        return ResumePoint(
            position,
            origin.topic_ids,
            origin.leader_epochs,
            caught_up_ms,
            self._selection,
            self._publisher.incarnation,
            tuple(self._publisher.bad_records.newest()),
            self._delta_builder.has_keys_in_several_partitions,
            tombstones_kept_s,
            dict(self._log_starts.lowest),
            self._options.has_key_spaces,
        )

    def _show_saved(self) -> None:
        """Show the saved version of the store until there is a newer one; it belongs to this log."""
        if not self._publisher.has_version and self._resume_point is not None:
            self._publisher.restored(self._store.snapshot(), self._resume_point.incarnation)

    def _save_position(self) -> None:
        """Save the position and the time up to which the version in the store is known to be the newest."""
        self._saved_s = time.monotonic()
        if self._resume_point is not None and self._barrier.passed:
            position = self._resume_point.position
            self._resume_point = self._resume_point.with_position(position, *self._deletions.resume_values(position))
            self._store.save_resume_point(self._resume_point)

    # --- requests to the broker ---

    def _request_ends(self) -> None:
        for _ in range(_MAX_END_REQUESTS_PER_STEP):
            ends = self._retry.call(self._reader, self._reader.ends)
            if not self._apply_ends(ends):
                return
            self._barrier.take_ends(ends.high_watermarks)
            self._apply_decisions(self._detector.take_ends(ends))
            if not self._detector.needs_ends:
                return

    def _check_gap(self) -> None:
        ends = self._retry.call(self._reader, self._reader.ends)
        if self._apply_ends(ends):
            self._barrier.take_ends(ends.high_watermarks)

    def _apply_ends(self, ends: Ends) -> bool:
        """Store the confirmations; return whether the ends cover all partitions, that is, none was added meanwhile."""
        if self._add_partitions(ends.high_watermarks):
            return False
        self._note_confirmation(ends.unconfirmed)
        return True

    def _note_confirmation(self, unconfirmed: Collection[Partition]) -> None:
        if self._publisher.health.confirmed(unconfirmed) and unconfirmed:
            _log.warning(
                "%s: too few brokers have confirmed the leader of %s, so a newer leader may have records that are not "
                "known yet, and a transaction over several partitions could be shown in two steps; check the brokers, "
                "and set min.insync.replicas to 2 or more",
                ", ".join(self._options.topics),
                ", ".join(str(partition) for partition in sorted(unconfirmed)),
            )

    def _are_partitions_unchanged(self) -> bool:
        """Return whether topics and partitions are still the same, after reading and before the result is shown."""
        unread = self._retry.call(self._reader, self._reader.check_topics)
        return not self._add_partitions(unread)

    def _add_partitions(self, all_partitions: Iterable[Partition]) -> bool:
        """Start to read partitions that were added; return whether there are any."""
        has_grown = self._growth.add(all_partitions)
        if has_grown:
            self._point = None
        return has_grown

    def _check_regularly(self) -> None:
        """Check the store, the topics and their ends, at intervals, with or without new records."""
        self._checked_s = time.monotonic()
        if self._checked_s - self._saved_s > _SAVE_INTERVAL_S:
            self._save_position()
        if self._store.is_damaged:
            raise StoreDamagedError(f"a value read from {self._store!r} differs from the value written")
        self._deletions.update_retentions()
        self._publisher.health.deleting_topics = self._deletions.deleting_topics
        requested_at = now()
        try:
            ends = self._reader.ends()  # this also checks the topics
        except TopicNotFoundError as error:
            self._retry.missing(error)
        except BrokerUnavailableError as error:
            self._retry.unavailable(self._reader, error)
        else:
            self._retry.note_topics_exist()
            if self._apply_ends(ends):  # of quiet topics the ends are queried here only
                # No transaction so far has written to a partition that is not read, even if it made no version.
                self._detector.mark_shown()
                self._deletions.process_ends(requested_at, ends)
