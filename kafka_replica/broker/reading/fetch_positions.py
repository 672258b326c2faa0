"""The state of all partitions that are read by their batches: leaders, fetch positions, first and last offsets."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from kafka_replica.broker.errors import check_code
from kafka_replica.broker.reading.contract import LogIdentity
from kafka_replica.broker.reading.fetch_position import FetchPosition
from kafka_replica.broker.reading.leader_confirmation import MIN_INSYNC, LeaderConfirmation
from kafka_replica.broker.reading.log_checks import check_beginnings, recreated, truncated
from kafka_replica.broker.reading.topic_ids import parsed, printed
from kafka_replica.broker.wire.cluster import Cluster, Purpose
from kafka_replica.broker.wire.connection import BrokerConnection
from kafka_replica.broker.wire.messages import (
    DESCRIBE_CONFIGS,
    EARLIEST,
    EPOCH_ENDS,
    LATEST,
    LIST_OFFSETS,
    READ_UNCOMMITTED,
    MetadataResponse,
    TopicMetadata,
    metadata_request,
    offsets_request,
    read_metadata,
    read_offsets,
)
from kafka_replica.broker.wire.requests import (
    epoch_ends_request,
    read_epoch_ends,
    read_settings,
    settings_request,
)
from kafka_replica.errors import AuthorizationError, BrokerUnavailableError, LogReplacedError, TopicNotFoundError
from kafka_replica.records import Partition, Position
from kafka_replica.transactions import Ends
from kafka_replica.transactions.resume_point import ResumePoint

_REMOTE_STORAGE = "remote.storage.enable"
_PAUSE_S = 0.1  # between two queries for the leaders


class FetchPositions:
    """The fetch positions of all partitions of some topics. Bound to one event loop."""

    def __init__(self, cluster: Cluster, topics: Iterable[str]) -> None:
        self._cluster = cluster
        self._topics = list(topics)
        self._topic_ids: dict[str, UUID] = {}
        self._printed_ids: dict[str, str] = {}  # of the topics that were found
        self._fetch_positions: dict[Partition, FetchPosition] = {}
        self._by_id: dict[tuple[UUID, int], FetchPosition] = {}
        self.log_starts = Position()
        """The log start offset of each partition, as far as known; a new object whenever an offset changes."""
        self._find_leaders_at_s: float | None = None  # None: no query is due
        self._complete = b""  # the last answer to ``question`` that listed only partitions that are read
        self.confirmation = LeaderConfirmation(cluster, self._topics)
        self.question = metadata_request(self._topics)
        """The metadata request that leaders get about the topics."""

    def __iter__(self) -> Iterator[FetchPosition]:
        return iter(self._fetch_positions.values())

    def get(self, topic_id: UUID, number: int) -> FetchPosition | None:
        """Return the fetch position of a partition as a fetch response identifies it."""
        return self._by_id.get((topic_id, number))

    @property
    def leaders(self) -> set[int]:
        """The leaders of the partitions, as far as known."""
        return {each.leader for each in self}

    @property
    def _leader_of_each(self) -> dict[Partition, int]:
        return {each.partition: each.leader for each in self}

    async def find(self) -> list[Partition]:
        """Return all partitions of the topics; later queries expect the topic ids that were found first."""
        found = await self._find()
        self._topic_ids = {name: topic.topic_id for name, topic in found.items()}
        self._printed_ids = {name: printed(topic_id) for name, topic_id in self._topic_ids.items()}
        return _partitions(found)

    async def open(self, resume_point: ResumePoint | None) -> Position:
        """Find the topics and the offsets at which to start reading; this also sets ``log_starts``.

        Raises:
            LogReplacedError: a topic was recreated since the resume point, or records after it are missing.
        """
        if resume_point is not None:
            self._topic_ids = {name: parsed(text) for name, text in resume_point.topic_ids.items()}
        beginnings = await self.add(await self.find())
        if resume_point is None:
            return beginnings
        await self._check_epochs(resume_point)
        resume = resume_point.position.resume()
        check_beginnings(beginnings, resume)
        for partition, offset in resume.items():
            fetch_position = self._fetch_positions[partition]
            fetch_position.beginning = fetch_position.position = offset
            fetch_position.resumed = True
            if offset == resume_point.position[partition]:  # the epoch at an earlier offset is not known
                fetch_position.epoch = resume_point.leader_epochs.get(partition, -1)
        return beginnings.advanced(resume)

    @property
    def origin(self) -> LogIdentity:
        """The identity of the logs that are read."""
        return LogIdentity(self._printed_ids, {each.partition: each.epoch for each in self if each.epoch >= 0})

    async def settings(self, names: Sequence[str]) -> Mapping[str, Mapping[str, str | None]]:
        """Return some settings of each topic, without the topics whose settings we may not query.

        Raises:
            BrokerError: Kafka did not answer.
        """
        link = await self._link(max(self.leaders))
        request = settings_request(self._topics, names)
        answer = await self._answer(link, link.send(DESCRIBE_CONFIGS, request), f"requesting {names[0]}")
        found = {}
        for topic, (error, values) in read_settings(answer).items():
            with suppress(AuthorizationError):
                check_code(error, f"requesting {names[0]} of topic {topic}")
                found[topic] = values
        return found

    async def is_tiered(self, topic: str) -> bool:
        """Return whether a topic has records in remote storage; False if we may not query its settings.

        Raises:
            BrokerError: Kafka did not answer.
        """
        found = await self.settings([_REMOTE_STORAGE])
        return found.get(topic, {}).get(_REMOTE_STORAGE) == "true"

    async def find_min_insync(self) -> None:
        """Query ``min.insync.replicas`` if leaders may have to be confirmed.

        Raises:
            BrokerError: Kafka did not answer.
        """
        if len(self._fetch_positions) > 1 and self.confirmation.has_copies:
            self.confirmation.note_settings(await self.settings([MIN_INSYNC]))

    async def check_topics(self, queried: Mapping[Partition, int] | None = None) -> list[Partition]:
        """Return the partitions that are not read yet; queries every leader.

        Args:
            queried: the leaders that were queried for the end offsets of partitions before; None if none were.

        Raises:
            BrokerUnavailableError: a broker knows a newer leader than a queried one.
        """
        try:
            leaders = list(self.leaders)
            answers = await self._cluster.metadata(self._topics, leaders)
            found = self._same(answers)
        except BrokerUnavailableError:
            await self.find_leaders(now=True)
            raise
        if queried is not None:
            await self._check_leaders(queried, dict(zip(leaders, answers, strict=True)))
        return self._unread(found)

    async def _check_leaders(self, queried: Mapping[Partition, int], answers: dict[int, MetadataResponse]) -> None:
        """Check that no broker knows newer leaders than the queried ones, by the metadata from these leaders."""
        newer = await self.confirmation.successor(queried, answers, self._leader_of_each)
        if newer is None:
            return
        partition, leader = newer.partition, queried[newer.partition]
        if newer.node < 0:
            raise BrokerUnavailableError(f"broker {leader} no longer leads {partition}, and no other broker does yet")
        self._fetch_positions[partition].leader = newer.node
        raise BrokerUnavailableError(f"the leader of {partition} has changed, from broker {leader} to {newer.node}")

    def unread_in(self, answer: memoryview) -> list[Partition] | None:
        """Return the partitions that are not read yet, by an answer to ``question``; None if the answer is an error."""
        if answer == self._complete:  # the usual case
            return []
        try:
            unread = self._unread(self._same([read_metadata(answer)]))
        except BrokerUnavailableError:
            return None
        self._complete = b"" if unread else bytes(answer)
        return unread

    def _unread(self, found: dict[str, TopicMetadata]) -> list[Partition]:
        return [partition for partition in _partitions(found) if partition not in self._fetch_positions]

    async def add(self, partitions: list[Partition]) -> Position:
        """Start to read further partitions from their beginnings; return these offsets."""
        found = await self._find()
        for partition in partitions:
            topic = found[partition.topic]
            leader = topic.leaders.get(partition.partition, -1)  # not every broker may know an added partition
            fetch_position = FetchPosition(partition, topic.topic_id, leader)
            self._fetch_positions[partition] = self._by_id[topic.topic_id, partition.partition] = fetch_position
        return await self.begin(partitions)

    async def begin(self, partitions: list[Partition]) -> Position:
        """Move the fetch positions to the current beginnings of the partitions; return these offsets."""
        beginnings = await self._offsets(partitions, EARLIEST)
        for partition, offset in beginnings.items():
            fetch_position = self._fetch_positions[partition]
            fetch_position.beginning = fetch_position.position = offset
            self.note_log_start(fetch_position, offset)
        return beginnings

    def note_log_start(self, fetch_position: FetchPosition, offset: int) -> None:
        """Store a log start offset that a broker reported."""
        if offset > fetch_position.log_start:
            fetch_position.log_start = offset
            self.log_starts = self.log_starts.advanced({fetch_position.partition: offset})

    async def ends(self, unread: list[Partition] | None = None) -> Ends:
        """Return the current end offsets, from leaders that know them; partitions that are not read yet end at 0.

        Args:
            unread: the partitions that are not read yet; None if they are not known.
        """
        queried = self._leader_of_each
        self.confirmation.unconfirmed = frozenset()
        high = await self._offsets(list(self._fetch_positions), LATEST)
        if unread is None or self.confirmation.needs_others(self._leader_of_each):
            unread = await self.check_topics(queried)  # queried last: the ends then belong to the topics that are read
        stable = {each.partition: min(each.stable, high[each.partition]) for each in self}
        return Ends(Position(stable), Position({**high, **dict.fromkeys(unread, 0)}), self.confirmation.unconfirmed)

    # --- leaders ---

    def find_leaders_soon(self) -> None:
        """Schedule a query for the leaders."""
        if self._find_leaders_at_s is None:
            self._find_leaders_at_s = time.monotonic()

    @property
    def are_leaders_due(self) -> bool:
        """True if ``find_leaders`` would query the leaders now."""
        return self._find_leaders_at_s is not None and time.monotonic() >= self._find_leaders_at_s

    async def find_leaders(self, *, now: bool = False) -> None:
        """Query the leaders if a query is due, or with ``now``; queries are at least 0.1 s apart."""
        if now:
            self.find_leaders_soon()
        if not self.are_leaders_due:
            return
        now_s = time.monotonic()
        self._find_leaders_at_s = now_s + _PAUSE_S
        found = await self._find()
        self._find_leaders_at_s = None
        for fetch_position in self:
            leader = found[fetch_position.partition.topic].leaders.get(fetch_position.partition.partition, -1)
            if leader < 0:
                self._find_leaders_at_s = now_s + _PAUSE_S
            else:
                fetch_position.leader = leader

    # --- queries ---

    async def _find(self, nodes: Iterable[int] = ()) -> dict[str, TopicMetadata]:
        """Return the topics by the metadata of brokers (by default any); the answer with the most partitions counts."""
        return self._same(await self._cluster.metadata(self._topics, nodes))

    def _same(self, answers: list[MetadataResponse]) -> dict[str, TopicMetadata]:
        found: dict[str, TopicMetadata] = {}
        for answer in answers:
            for name in self._topics:
                topic = answer.topics[name]
                check_code(topic.error, f"looking up topic {name}")
                known = self._topic_ids.get(name, topic.topic_id)
                if known != topic.topic_id:
                    raise LogReplacedError(recreated(name, printed(known), printed(topic.topic_id)))
                self.confirmation.note_copies(topic)
                if name not in found or len(topic.leaders) > len(found[name].leaders):
                    found[name] = topic
        return found

    async def _offsets(self, partitions: list[Partition], timestamp: int) -> Position:
        """Return first or last offsets from the leaders; a new leader that does not know them yet refuses."""
        doing = f"requesting the {'end' if timestamp == LATEST else 'beginning'} of"
        queried = []
        for node in {self._fetch_positions[partition].leader for partition in partitions}:
            own = [partition for partition in partitions if self._fetch_positions[partition].leader == node]
            link = await self._link(node)
            answer = link.send(LIST_OFFSETS, offsets_request(own, timestamp, READ_UNCOMMITTED))
            queried.append((link, answer, f"{doing} {_first_of(own)}"))
        found = {}
        for link, answer, asked in queried:
            for partition, (error, offset) in read_offsets(await self._answer(link, answer, asked)).items():
                await self._check(error, f"{doing} {partition}")
                found[partition] = offset
        return Position(found)

    async def _check_epochs(self, resume_point: ResumePoint) -> None:
        """Check that the logs still have the batches that were read last; a truncated log may have grown again."""
        known = {p: epoch for p, epoch in resume_point.leader_epochs.items() if p in self._fetch_positions}
        for node in {self._fetch_positions[partition].leader for partition in known}:
            own = {p: epoch for p, epoch in known.items() if self._fetch_positions[p].leader == node}
            link = await self._link(node)
            asked = f"checking whether {_first_of(list(own))} was truncated"
            answer = await self._answer(link, link.send(EPOCH_ENDS, epoch_ends_request(own)), asked)
            for partition, (error, epoch, end) in read_epoch_ends(answer).items():
                await self._check(error, f"checking whether {partition} was truncated")
                if epoch < 0 or end < resume_point.position[partition]:
                    raise truncated(partition, resume_point.position[partition])

    async def _check(self, error: int, doing: str) -> None:
        """Raise like ``check_code``; on an error, query the leaders first, so that a retry asks the right ones."""
        if error:
            with suppress(BrokerUnavailableError, TopicNotFoundError):
                await self.find_leaders(now=True)
        check_code(error, doing)

    async def _answer(self, link: BrokerConnection, answer: asyncio.Future[memoryview], doing: str) -> memoryview:
        """Return an answer; if the broker is silent, close the connection and query the leaders before raising.

        A frozen broker keeps its connections, while another broker may lead its partitions already.
        """
        try:
            return await self._cluster.within(link, answer, doing)
        except BrokerUnavailableError:
            link.close()
            with suppress(BrokerUnavailableError, TopicNotFoundError):
                await self.find_leaders(now=True)
            raise

    async def _link(self, node: int) -> BrokerConnection:
        try:
            return await self._cluster.link(node, Purpose.ASK)
        except BrokerUnavailableError:
            await self.find_leaders(now=True)
            raise


def _first_of(partitions: Sequence[Partition]) -> str:
    """Name partitions in a message, in a time that does not depend on their number."""
    others = len(partitions) - 1
    return f"{partitions[0]} and {others} more" if others else str(partitions[0])


def _partitions(topics: dict[str, TopicMetadata]) -> list[Partition]:
    return [Partition(name, number) for name, topic in topics.items() for number in sorted(topic.leaders)]
