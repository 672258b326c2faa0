"""Confirm that the leaders which were queried for end offsets had no successors; ``leader_views`` has the proof."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from kafka_replica.broker.reading.leader_views import are_enough, newer_leader
from kafka_replica.broker.wire.cluster import Cluster
from kafka_replica.broker.wire.messages import MetadataResponse, TopicMetadata
from kafka_replica.records import Partition

MIN_INSYNC = "min.insync.replicas"
"""The setting that determines how many brokers must confirm a leader."""


class Successor(NamedTuple):
    """The leader that has replaced the queried leader of a partition; -1 if there is none yet."""

    partition: Partition
    node: int


class LeaderConfirmation:
    """The confirmation of the leaders of all partitions of some topics. Bound to one event loop."""

    def __init__(self, cluster: Cluster, topics: Iterable[str]) -> None:
        self._cluster = cluster
        self._topics = list(topics)
        self._copies: frozenset[int] = frozenset()  # the brokers with a copy of any partition
        self._min_insync: dict[str, int] = {}  # of the topics whose settings we may query
        self.unconfirmed: frozenset[Partition] = frozenset()
        """The partitions about which too few brokers answered the last time."""

    @property
    def has_copies(self) -> bool:
        """True if several brokers have copies of partitions."""
        return len(self._copies) > 1

    def note_copies(self, topic: TopicMetadata) -> None:
        """Store which brokers have copies of partitions."""
        self._copies = self._copies.union(*topic.replicas.values())

    def note_settings(self, settings: Mapping[str, Mapping[str, str | None]]) -> None:
        """Store the topics' ``min.insync.replicas``; the higher it is, the fewer brokers must confirm a leader."""
        self._min_insync.update({topic: int(values.get(MIN_INSYNC) or 1) for topic, values in settings.items()})

    def needs_others(self, leaders: Mapping[Partition, int]) -> bool:
        """Return whether there are several partitions, and brokers that lead none of them but could lead one later.

        The leader of a single partition need not be confirmed: no transaction spans other partitions, whose end offsets
        would have to be of the same moment.
        """
        return len(leaders) > 1 and not self._copies <= {*leaders.values()}

    async def successor(
        self, queried: Mapping[Partition, int], answers: dict[int, MetadataResponse], leaders: Mapping[Partition, int]
    ) -> Successor | None:
        """Return a newer leader that a broker knows; None if there is none. Store the partitions with too few answers.

        Args:
            queried: the leaders that were queried for end offsets.
            answers: the metadata from leaders, by their node ids.
            leaders: the leaders as far as known now.
        """
        if self.needs_others(leaders):
            answers = answers | await self._cluster.views(self._topics, self._copies - answers.keys())
        unconfirmed = set()
        for partition, leader in queried.items():
            views = {node: answer.topics[partition.topic] for node, answer in answers.items()}
            change = newer_leader(views.values(), partition.partition, leader)
            if change is not None:
                return Successor(partition, change)
            if not are_enough(views, partition.partition, self._min_insync.get(partition.topic, 1)):
                unconfirmed.add(partition)
        self.unconfirmed = frozenset(unconfirmed) if len(queried) > 1 else frozenset()
        return None
