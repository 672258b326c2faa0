"""Read topics by the log's own batches, which contain every transaction, its producer and its marker.

A fetch is always pending at each broker that leads a partition; the next fetch is sent before the previous response is
processed. Queries (end offsets, topic ids) use a second connection, because a broker answers the requests of a
connection in order, and a fetch waits for data.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from confluent_kafka import KafkaError

from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.broker.connection.security.properties import Properties
from kafka_replica.broker.connection.settings import common_settings
from kafka_replica.broker.errors import check_code, is_missing_topic, may_pass_in_answer, translate_error
from kafka_replica.broker.reading.batches import scan_batches
from kafka_replica.broker.reading.contract import RETENTION_SETTINGS, FetchResult, LogIdentity, Retention, StartOffsets
from kafka_replica.broker.reading.decompression_ahead import Decompressor
from kafka_replica.broker.reading.fetch_position import FetchPosition
from kafka_replica.broker.reading.fetch_positions import FetchPositions
from kafka_replica.broker.reading.fetches import Fetch, Fetches
from kafka_replica.broker.reading.log_checks import check_ends, truncated
from kafka_replica.broker.reading.spill_buffer import SpillBuffer
from kafka_replica.broker.wire.cluster import Cluster
from kafka_replica.broker.wire.fetch_limits import fetch_limits
from kafka_replica.broker.wire.messages import FetchedPartition, read_fetch, throttle_ms
from kafka_replica.broker.wire.waiting import AnswerWaiter
from kafka_replica.common.garbage_collector import collector_paused
from kafka_replica.errors import (
    AuthenticationError,
    BrokerError,
    BrokerUnavailableError,
    ConfigurationError,
    LogReplacedError,
    TopicNotFoundError,
)
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Batch, Ends, Reading
from kafka_replica.transactions.resume_point import ResumePoint

T = TypeVar("T")

_ANSWER_S = 5.0  # how long the broker may take to answer a query
_INCONSISTENT_TOPIC_ID = 103  # Kafka's code, which librdkafka does not name


class MarkerReader:
    """A reader of topics by their batches; see ``LogReader``. Not thread-safe; runs an event loop in its thread.

    Args:
        config: librdkafka's or Java's properties, unchanged.
        topics: the topics to read.

    Raises:
        ConfigurationError: this reader does not support a property.
    """

    def __init__(self, config: Mapping[str, Any], topics: Iterable[str]) -> None:
        properties = common_settings(config)
        connection, limits = connection_settings(properties), fetch_limits(properties)
        self._spill_buffer = SpillBuffer(check_crcs=Properties(properties).flag("check.crcs", default=False))
        self._cluster = Cluster(connection, _ANSWER_S, connection.given_query_timeout_s)
        self._fetch_positions = FetchPositions(self._cluster, topics)
        self._loop = asyncio.new_event_loop()
        self._waiter = AnswerWaiter(self._loop)
        self._fetches = Fetches(self._cluster, self._waiter, self._fetch_positions, limits)
        self._last: Fetch | None = None  # the last fetch that was answered, if it was the only one
        self._decompressor = Decompressor()
        self._temporary_error: BrokerError | None = None
        self._refusal: BrokerError | ConfigurationError | None = None
        # Batches that were read but not returned yet. The positions are past them, so that an exception must not lose
        # them.
        self._batches: list[Batch] = []
        self._size_bytes = 0
        self._gaps: set[Partition] = set()
        self._later_beginnings: dict[Partition, int] = {}

    # --- the LogReader protocol ---

    gaps_are_certain = True

    def open(self, resume_point: ResumePoint | None = None) -> StartOffsets:
        """Find the topics, and start to read all their partitions, from the resume point if there is one."""
        return self._run(self._open(resume_point))

    @property
    def origin(self) -> LogIdentity:
        """The identity of the logs that are read."""
        return self._fetch_positions.origin

    @property
    def leaders(self) -> Mapping[Partition, int]:
        """The leader of each partition."""
        return {each.partition: each.leader for each in self._fetch_positions}

    def retentions(self) -> Mapping[str, Retention]:
        """Return how long each topic keeps its records and tombstones."""
        found = self._run(self._fetch_positions.settings([*RETENTION_SETTINGS, "min.insync.replicas"]))
        self._fetch_positions.confirmation.note_settings(found)  # min.insync.replicas may have changed since the start
        return {topic: Retention.of(settings) for topic, settings in found.items()}

    def read(self, timeout_s: float) -> FetchResult:
        """Return the batches that have arrived, waiting at most that long for the first."""
        with self._refusals():
            return self._read(timeout_s)

    def check_topics(self) -> list[Partition]:
        """Check that the topics are still the same; return the partitions that are not read yet."""
        unread = self._listed_after_fetch()
        return self._run(self._fetch_positions.check_topics()) if unread is None else unread

    def add(self, partitions: list[Partition]) -> Position:
        """Start to read these partitions too."""
        return self._run(self._fetch_positions.add(partitions))

    def ends(self) -> Ends:
        """Return the current end offsets of all partitions that are read."""
        return self._run(self._fetch_positions.ends(self._listed_after_fetch()))

    def refusal(self) -> BrokerError | ConfigurationError | None:
        """Return the refusal of our credentials or settings by which the last query failed, if any."""
        return self._refusal

    def close(self) -> None:
        """Close all connections."""
        if self._loop.is_closed():
            return
        self._decompressor.close()
        self._cluster.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        with self._refusals():
            return self._waiter.run(coroutine)

    @contextmanager
    def _refusals(self) -> Iterator[None]:
        self._refusal = None
        try:
            yield
        except (AuthenticationError, ConfigurationError) as error:
            self._refusal = error
            raise BrokerUnavailableError(str(error)) from error

    # --- implementation ---

    async def _open(self, resume_point: ResumePoint | None) -> StartOffsets:
        beginnings = await self._fetch_positions.open(resume_point)
        await self._fetch_positions.find_min_insync()
        ends = await self._fetch_positions.ends()
        if resume_point is not None:
            check_ends(ends.high_watermarks, resume_point.position)
        return StartOffsets(beginnings, ends.high_watermarks, self._fetch_positions.log_starts, ends.unconfirmed)

    def _read(self, timeout_s: float) -> FetchResult:
        if self._fetch_positions.are_leaders_due:
            try:
                self._waiter.run(self._fetch_positions.find_leaders())
            except (BrokerUnavailableError, TopicNotFoundError) as error:
                self._temporary_error = error  # check_topics() decides whether a topic is gone
        self._send()
        self._last = None
        for fetch in self._fetches.answered(timeout_s):
            self._last = fetch
            for answered in self._take(fetch):
                fetch_position = self._fetch_positions.get(answered.topic_id, answered.number)
                if fetch_position is None or not self._is_good(fetch_position, answered):
                    continue
                fetch_position.has_responded = True
                self._take_batches(fetch_position, answered, alone=fetch.alone)
        self._send()  # before the caller processes the batches
        return self._fetched(has_response=self._have_all_answered())

    def _have_all_answered(self) -> bool:
        """Return whether the leaders of all partitions have answered since this was last so.

        One leader that answers does not prove that the others do, whose partitions may have new records.
        """
        if not all(each.has_responded for each in self._fetch_positions):
            return False
        for each in self._fetch_positions:
            each.has_responded = False
        return True

    def _listed_after_fetch(self) -> list[Partition] | None:
        """Return the partitions that are not read yet, by the metadata query after the last fetch; None without one."""
        fetch, self._last = self._last, None
        if fetch is None or fetch.afterwards is None:
            return None
        # A broker that throttles us answers the fetch immediately, and the next one only after the throttle time.
        is_throttled = fetch.answer.exception() is None and throttle_ms(fetch.answer.result()) > 0
        self._waiter.wait({fetch.afterwards: fetch.link}, 0 if is_throttled else _ANSWER_S)
        if not fetch.afterwards.done() or fetch.afterwards.exception() is not None:
            return None
        with self._refusals():
            return self._fetch_positions.unread_in(fetch.afterwards.result())

    def _send(self) -> None:
        temporary_error = self._fetches.send() or self._fetches.temporary_error()
        if temporary_error is not None:
            self._note_temporary(temporary_error)

    def _note_temporary(self, temporary_error: BrokerError) -> None:
        """Store an error that may be temporary; query the leaders, because one may have changed."""
        self._temporary_error = temporary_error
        self._fetch_positions.find_leaders_soon()

    def _take(self, fetch: Fetch) -> list[FetchedPartition]:
        try:
            error, partitions = read_fetch(fetch.answer.result())
            check_code(error, "fetching")
        except BrokerUnavailableError as unavailable:
            self._note_temporary(unavailable)
            self._fetches.pause(fetch.node)
            return []
        return partitions

    def _is_good(self, fetch_position: FetchPosition, answered: FetchedPartition) -> bool:
        """Return whether an answer contains data and not an error; store a temporary error.

        Raises:
            BrokerError: the error is final.
        """
        if answered.diverged:
            raise truncated(fetch_position.partition, fetch_position.position)
        error = answered.error
        if not error:
            return True
        if (
            error == KafkaError.OFFSET_OUT_OF_RANGE
            and not fetch_position.resumed
            and fetch_position.position == fetch_position.beginning
        ):
            # The log start has advanced.
            self._later_beginnings.update(self._waiter.run(self._fetch_positions.begin([fetch_position.partition])))
            return False
        if error == KafkaError.OFFSET_OUT_OF_RANGE:
            raise LogReplacedError(
                f"the log of {fetch_position.partition} no longer has the next offset, {fetch_position.position}: "
                "it was truncated, or its beginning was deleted"
            )
        kafka = KafkaError(error)
        temporary_error = translate_error(kafka, f"reading {fetch_position.partition}")
        if not (may_pass_in_answer(kafka) or is_missing_topic(kafka) or error == _INCONSISTENT_TOPIC_ID):
            raise temporary_error
        # The query for the leaders shows whether the topic is gone.
        self._note_temporary(BrokerUnavailableError(str(temporary_error)))
        self._fetches.pause(fetch_position.leader)
        return False

    def _take_batches(self, fetch_position: FetchPosition, answered: FetchedPartition, *, alone: bool) -> None:
        """Collect the batches of an answer, and advance the fetch position; store whether an offset is missing."""
        with collector_paused():
            scanned = scan_batches(
                answered.batches,
                fetch_position.partition,
                fetch_position.position,
                fetch_position.epoch,
                self._spill_buffer,
            )
        fetch_position.high, fetch_position.stable = answered.high_watermark, answered.stable
        self._decompressor.plan(scanned.compressed)
        self._batches += scanned.batches
        self._size_bytes += len(answered.batches)
        if scanned.gap:
            self._gaps.add(fetch_position.partition)
        self._fetch_positions.note_log_start(fetch_position, answered.log_start)
        if scanned.position > fetch_position.position or fetch_position.position >= answered.high_watermark:
            fetch_position.position, fetch_position.epoch = scanned.position, scanned.epoch
        elif fetch_position.is_empty(alone=alone) and self._may_skip(fetch_position):
            fetch_position.skip_to_end()
            self._gaps.add(fetch_position.partition)

    def _may_skip(self, fetch_position: FetchPosition) -> bool:
        """Return whether repeated empty fetches mean that compaction has removed the rest of the log.

        Remote storage may take long to return records. Kafka does not move those of compacted topics there.
        """
        try:
            if not self._waiter.run(self._fetch_positions.is_tiered(fetch_position.partition.topic)):
                return True
        except (BrokerUnavailableError, TopicNotFoundError) as error:
            self._note_temporary(error)  # check_topics() decides whether a topic is gone
        fetch_position.forget_empty()
        return False

    def _fetched(self, *, has_response: bool) -> FetchResult:
        temporary_error, self._temporary_error = self._temporary_error, None
        batches, self._batches = self._batches, []
        size_bytes, self._size_bytes = self._size_bytes, 0
        gaps, self._gaps = self._gaps, set()
        later_beginnings, self._later_beginnings = self._later_beginnings, {}
        reading = Reading(
            batches,
            Position({each.partition: each.position for each in self._fetch_positions}),
            Position({each.partition: each.high for each in self._fetch_positions if each.high >= 0}),
        )
        stable = Position({each.partition: each.stable for each in self._fetch_positions if each.stable >= 0})
        return FetchResult(
            reading,
            stable,
            gaps,
            has_response,
            temporary_error,
            self._fetch_positions.log_starts,
            size_bytes,
            later_beginnings,
        )
