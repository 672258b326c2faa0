"""Reads topics by the log's own batches: every transaction, every marker, who wrote it.

One fetch is always under way to each broker that leads a partition; the next one is sent before the answer
to the last one is looked at. Questions (where does it end, is it still the same topic) go over a second
connection, because a broker answers each connection in order, and a fetch waits.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, TypeVar

from confluent_kafka import KafkaError

from kafka_replica.broker.connection.security import connection_settings
from kafka_replica.broker.errors import explained, is_missing_topic, may_pass
from kafka_replica.broker.reading.batches import walk
from kafka_replica.broker.reading.contract import Fetched, Opened, Origin
from kafka_replica.broker.reading.fetch_positions import (
    FetchPosition,
    FetchPositions,
    check,
    check_ends,
    cut_off,
    seconds,
)
from kafka_replica.broker.reading.fetches import Fetch, Fetches
from kafka_replica.broker.reading.spill_buffer import SpillBuffer
from kafka_replica.broker.wire.cluster import Cluster
from kafka_replica.broker.wire.fetch_limits import fetch_limits
from kafka_replica.broker.wire.messages import FetchedPartition, read_fetch
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

_ANSWER_S = 5.0  # how long the broker may take to answer a question
_INCONSISTENT_TOPIC_ID = 103  # Kafka's code, which librdkafka does not name


class MarkerReader:
    """Reads topics by their batches; see ``LogReader``. For one thread, which it runs an event loop in.

    Args:
        config: librdkafka's properties as they are.
        topics: what to read.

    Raises:
        ConfigurationError: a property cannot be had with this reader.
    """

    def __init__(self, config: Mapping[str, Any], topics: Iterable[str]) -> None:
        self._cluster = Cluster(connection_settings(config), _ANSWER_S)
        self._fetch_positions = FetchPositions(self._cluster, topics)
        self._fetches = Fetches(self._cluster, self._fetch_positions, fetch_limits(config))
        self._spill_buffer = SpillBuffer(check_crcs=str(config.get("check.crcs", "false")).lower() == "true")
        self._trouble: BrokerError | None = None
        self._refusal: BrokerError | ConfigurationError | None = None
        # Read, positions moved, and not handed out yet: what is raised meanwhile must not lose them.
        self._batches: list[Batch] = []
        self._gaps: set[Partition] = set()
        self._loop = asyncio.new_event_loop()

    # --- as Source promises ---

    gaps_are_certain = True

    def open(self, resume_point: ResumePoint | None = None) -> Opened:
        """Finds the topics, and begins to read all their partitions, or goes on where the bookmark is."""
        return self._run(self._open(resume_point))

    @property
    def origin(self) -> Origin:
        """Of what is read."""
        return self._fetch_positions.origin

    @property
    def leaders(self) -> Mapping[Partition, int]:
        """The broker that leads each partition."""
        return {place.partition: place.leader for place in self._fetch_positions}

    def tombstones_kept_s(self) -> Mapping[str, float]:
        """``delete.retention.ms`` of each topic, in seconds."""
        return seconds(self._run(self._fetch_positions.setting("delete.retention.ms")))

    def read(self, timeout_s: float) -> Fetched:
        """What has come, waiting at most that long for the first of it."""
        return self._run(self._read(timeout_s))

    def look(self) -> list[Partition]:
        """Asks whether the topics are still the same; returns partitions that are not read yet."""
        return self._run(self._fetch_positions.look())

    def add(self, partitions: list[Partition]) -> Position:
        """Begins to read these, too."""
        return self._run(self._fetch_positions.add(partitions))

    def ends(self) -> Ends:
        """Where all partitions that are read end now."""
        return self._run(self._fetch_positions.ends())

    def refusal(self) -> BrokerError | ConfigurationError | None:
        """That the broker refused who we are, if it did."""
        return self._refusal

    def close(self) -> None:
        """Closes all connections."""
        if self._loop.is_closed():
            return
        self._cluster.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    def _run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        self._refusal = None
        try:
            return self._loop.run_until_complete(coroutine)
        except (AuthenticationError, ConfigurationError) as error:
            self._refusal = error
            raise BrokerUnavailableError(str(error)) from error

    # --- how ---

    async def _open(self, resume_point: ResumePoint | None) -> Opened:
        beginnings = await self._fetch_positions.open(resume_point)
        high = (await self._fetch_positions.ends()).high
        if resume_point is not None:
            check_ends(high, resume_point.position)
        return Opened(beginnings, high, self._fetch_positions.log_starts)

    async def _read(self, timeout_s: float) -> Fetched:
        try:
            await self._fetch_positions.find_leaders()
        except (BrokerUnavailableError, TopicNotFoundError) as error:
            self._trouble = error  # whether a topic is gone is decided by looking for it
        await self._send()
        heard = False
        self._fetch_positions.answered(None)
        for fetch in await self._fetches.answered(timeout_s):
            self._fetch_positions.answered(fetch.afterwards)
            for answered in self._take(fetch):
                place = self._fetch_positions.get(answered.topic_id, answered.number)
                if place is None or not await self._is_good(place, answered):
                    continue
                heard = True
                self._walk(place, answered, alone=fetch.alone)
        await self._send()  # before anything is done with the batches
        return self._fetched(heard=heard)

    async def _send(self) -> None:
        trouble = await self._fetches.send() or self._fetches.trouble()
        if trouble is not None:
            self._passes(trouble)

    def _passes(self, trouble: BrokerError) -> None:
        """Something that may pass, perhaps when others lead."""
        self._trouble = trouble
        self._fetch_positions.find_leaders_soon()

    def _take(self, fetch: Fetch) -> list[FetchedPartition]:
        try:
            error, partitions = read_fetch(fetch.answer.result())
            check(error, "fetching")
        except BrokerUnavailableError as unavailable:
            self._passes(unavailable)
            self._fetches.pause(fetch.node)
            return []
        return partitions

    async def _is_good(self, place: FetchPosition, answered: FetchedPartition) -> bool:
        """Whether an answer brings something; what may pass is noted.

        Raises:
            BrokerError: it does not pass.
        """
        if answered.diverged:
            raise cut_off(place.partition, place.position)
        error = answered.error
        if not error:
            return True
        if error == KafkaError.OFFSET_OUT_OF_RANGE and not place.resumed and place.position == place.beginning:
            await self._fetch_positions.begin([place.partition])  # its front was deleted since we asked
            return False
        if error == KafkaError.OFFSET_OUT_OF_RANGE:
            raise LogReplacedError(
                f"the log of {place.partition} no longer has offset {place.position}, which comes next: it was cut "
                "off, or its beginning was deleted"
            )
        kafka = KafkaError(error)
        trouble = explained(kafka, f"reading {place.partition}")
        if not (may_pass(kafka) or is_missing_topic(kafka) or error == _INCONSISTENT_TOPIC_ID):
            raise trouble
        self._passes(BrokerUnavailableError(str(trouble)))  # asking who leads also tells whether the topic is gone
        self._fetches.pause(place.leader)
        return False

    def _walk(self, place: FetchPosition, answered: FetchedPartition, *, alone: bool) -> None:
        """Takes the batches out of an answer, and sees whether an offset is missing among them."""
        walked = walk(answered.batches, place.partition, place.position, place.epoch, self._spill_buffer)
        place.high, place.stable = answered.high_watermark, answered.stable
        self._batches += walked.batches
        if walked.gap:
            self._gaps.add(place.partition)
        self._fetch_positions.note_log_start(place, answered.log_start)
        if walked.position > place.position or place.position >= answered.high_watermark:
            place.position, place.epoch = walked.position, walked.epoch
        elif place.is_empty(alone=alone):
            place.position = answered.high_watermark  # compaction has left nothing up to the end
            self._gaps.add(place.partition)

    def _fetched(self, *, heard: bool) -> Fetched:
        trouble, self._trouble = self._trouble, None
        batches, self._batches = self._batches, []
        gaps, self._gaps = self._gaps, set()
        reading = Reading(
            batches,
            Position({place.partition: place.position for place in self._fetch_positions}),
            Position({place.partition: place.high for place in self._fetch_positions if place.high >= 0}),
        )
        stable = Position({place.partition: place.stable for place in self._fetch_positions if place.stable >= 0})
        return Fetched(reading, stable, gaps, heard, trouble, self._fetch_positions.log_starts)
