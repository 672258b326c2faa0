"""The partitions that are read by their batches: who leads each, how far it was read, where it begins and ends."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from uuid import UUID

from confluent_kafka import KafkaError

from kafka_replica.broker.failures import explained, may_pass
from kafka_replica.broker.pulse import recreated
from kafka_replica.broker.wire.cluster import Cluster, Purpose
from kafka_replica.broker.wire.link import Link
from kafka_replica.broker.wire.messages import (
    EARLIEST,
    LATEST,
    LIST_OFFSETS,
    READ_UNCOMMITTED,
    TopicAnswer,
    offsets_request,
    read_offsets,
)
from kafka_replica.cuts import Ends
from kafka_replica.errors import BrokerError, BrokerUnavailableError, TopicNotFoundError
from kafka_replica.records import Cut, Partition

_PAUSE_S = 0.1  # between two questions for who leads


class Place:
    """One partition: who leads it, and how far it was read."""

    __slots__ = ("beginning", "empty_at", "epoch", "high", "leader", "partition", "position", "stable", "topic_id")

    def __init__(self, partition: Partition, topic_id: UUID, leader: int) -> None:
        self.partition = partition
        self.topic_id = topic_id
        self.leader = leader
        self.beginning = self.position = 0
        self.epoch = -1  # of the leader that wrote the last batch read
        self.high = self.stable = -1
        self.empty_at = -1  # where a fetch brought nothing though the log goes on


class Places:
    """All partitions of some topics. For one event loop."""

    def __init__(self, cluster: Cluster, topics: Iterable[str]) -> None:
        self._cluster = cluster
        self._topics = list(topics)
        self._topic_ids: dict[str, UUID] = {}
        self._places: dict[Partition, Place] = {}
        self._by_id: dict[tuple[UUID, int], Place] = {}
        self._find_leaders_at_s: float | None = None  # None: there is no reason to

    def __iter__(self) -> Iterator[Place]:
        return iter(self._places.values())

    def get(self, topic_id: UUID, number: int) -> Place | None:
        """A partition as a fetch names it."""
        return self._by_id.get((topic_id, number))

    @property
    def leaders(self) -> set[int]:
        """The brokers that lead them, as far as known."""
        return {place.leader for place in self}

    async def find(self) -> list[Partition]:
        """All partitions of the topics; the topics found first are the ones that are meant from then on."""
        found = await self._find()
        self._topic_ids = {name: topic.topic_id for name, topic in found.items()}
        return _partitions(found)

    async def look(self) -> list[Partition]:
        """Partitions that are not read yet; asks every broker that leads one."""
        try:
            found = await self._find(self.leaders)
        except BrokerUnavailableError:
            await self.find_leaders(now=True)
            raise
        return [partition for partition in _partitions(found) if partition not in self._places]

    async def add(self, partitions: list[Partition]) -> Cut:
        """These are read, too, from their beginnings."""
        found = await self._find()
        for partition in partitions:
            topic = found[partition.topic]
            place = Place(partition, topic.topic_id, topic.leaders[partition.partition])
            self._places[partition] = self._by_id[topic.topic_id, partition.partition] = place
        return await self.begin(partitions)

    async def begin(self, partitions: list[Partition]) -> Cut:
        """Goes to where they begin now."""
        beginnings = await self._offsets(partitions, EARLIEST)
        for partition, offset in beginnings.items():
            place = self._places[partition]
            place.beginning = place.position = offset
        return beginnings

    async def ends(self) -> Ends:
        """Where they end now, as leaders that are sure of it say; and partitions that are new, at 0."""
        high = await self._offsets(list(self._places), LATEST)
        unread = await self.look()  # asked last: the ends are those of the topics that are read
        stable = {place.partition: min(place.stable, high[place.partition]) for place in self}
        return Ends(Cut(stable), Cut({**high, **dict.fromkeys(unread, 0)}))

    # --- leaders ---

    def find_leaders_soon(self) -> None:
        """There is reason to ask who leads."""
        if self._find_leaders_at_s is None:
            self._find_leaders_at_s = time.monotonic()

    async def find_leaders(self, *, now: bool = False) -> None:
        """Asks who leads, if there is reason to (or ``now``) and the last time was a moment ago."""
        if now:
            self.find_leaders_soon()
        now_s = time.monotonic()
        if self._find_leaders_at_s is None or now_s < self._find_leaders_at_s:
            return
        self._find_leaders_at_s = now_s + _PAUSE_S
        found = await self._find()
        self._find_leaders_at_s = None
        for place in self:
            leader = found[place.partition.topic].leaders.get(place.partition.partition, -1)
            if leader < 0:
                self._find_leaders_at_s = now_s + _PAUSE_S
            else:
                place.leader = leader

    # --- questions ---

    async def _find(self, nodes: Iterable[int] = ()) -> dict[str, TopicAnswer]:
        """The topics, as these brokers (or one that can be reached) know them; the most partitions count."""
        found: dict[str, TopicAnswer] = {}
        for answer in await self._cluster.metadata(self._topics, nodes):
            for name in self._topics:
                topic = answer.topics[name]
                check(topic.error, f"looking up topic {name}")
                known = self._topic_ids.get(name, topic.topic_id)
                if known != topic.topic_id:
                    raise BrokerError(recreated(name, str(known), str(topic.topic_id)))
                if name not in found or len(topic.leaders) > len(found[name].leaders):
                    found[name] = topic
        return found

    async def _offsets(self, partitions: list[Partition], timestamp: int) -> Cut:
        """First or last offsets as the leaders know them; a leader that cannot be sure yet refuses."""
        asked = []
        for node in {self._places[partition].leader for partition in partitions}:
            own = [partition for partition in partitions if self._places[partition].leader == node]
            link = await self._link(node)
            asked.append(link.ask(LIST_OFFSETS, offsets_request(own, timestamp, READ_UNCOMMITTED)))
        found = {}
        for answer in asked:
            for partition, (error, offset) in read_offsets(await self._cluster.within(answer)).items():
                if error:
                    self.find_leaders_soon()
                check(error, f"asking where {partition} {'ends' if timestamp == LATEST else 'begins'}")
                found[partition] = offset
        return Cut(found)

    async def _link(self, node: int) -> Link:
        try:
            return await self._cluster.link(node, Purpose.ASK)
        except BrokerUnavailableError:
            await self.find_leaders(now=True)
            raise


def check(error: int, doing: str) -> None:
    """Raises what an error code of Kafka means; what may pass as ``BrokerUnavailableError``."""
    if not error:
        return
    explanation = explained(KafkaError(error), doing)
    if may_pass(KafkaError(error)) and not isinstance(explanation, TopicNotFoundError | BrokerUnavailableError):
        raise BrokerUnavailableError(str(explanation))
    raise explanation


def _partitions(topics: dict[str, TopicAnswer]) -> list[Partition]:
    return [Partition(name, number) for name, topic in topics.items() for number in sorted(topic.leaders)]
