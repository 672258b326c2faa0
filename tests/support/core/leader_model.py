"""Leaders in the modelled cluster: replaced ones that do not know it yet, brokers that are silent, and their views.

A new leader accepts records once enough brokers with a copy know of it. A broker that was replaced and does not know it
reports the end at which it was replaced, and returns no later record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar
from uuid import UUID

from kafka_replica import Partition
from kafka_replica.broker.reading.leader_views import are_enough, newer_leader
from kafka_replica.broker.wire.messages import TopicMetadata
from kafka_replica.transactions import Ends
from support.core.log_model import TOPIC, Cluster
from support.core.model_follower import ModelFollower, Parts
from support.core.model_histories import History, HistoryPlayer, Op
from support.core.model_source import ModelSource

COPIES = frozenset({1, 2, 3})


@dataclass
class Leadership:
    """The leader of one partition, and what each broker knows of it: the epoch and the leader in it, or -1."""

    epoch: int = 0
    leader: int = 1
    known: dict[int, tuple[int, int]] = field(default_factory=lambda: dict.fromkeys(COPIES, (0, 1)))
    stopped: dict[int, int] = field(default_factory=dict)
    """The end of the log when a broker was replaced as its leader."""

    def elect(self, leader: int, knowing: Collection[int], end: int, *, after_none: bool) -> None:
        """Elect a leader; only it and ``knowing`` learn of it. The others may learn that there was none between."""
        old, self.leader = self.leader, leader
        self.stopped[old] = end
        if after_none:
            self.epoch += 1
            for node in COPIES - {old}:
                self.known[node] = self.epoch, -1
        self.epoch += 1
        for node in {leader, *knowing}:
            self.learn(node)

    def learn(self, node: int) -> None:
        """Let a broker learn of the present leader."""
        self.known[node] = self.epoch, self.leader

    def leads(self, node: int) -> bool:
        """Return whether a broker answers as the leader, rightly or not."""
        return self.known[node][1] == node

    def end(self, node: int, end: int) -> int:
        """Return the end that a broker reports which leads, or believes so."""
        return end if self.known[node] == (self.epoch, self.leader) else self.stopped[node]


class LeaderSource(ModelSource):
    """A reader of partitions whose leaders are replaced; it decides with the views of brokers like the real one."""

    min_insync_replicas: ClassVar[int] = 2
    silent: frozenset[int] = frozenset()
    """Brokers that do not answer who leads, unless they lead a partition by what the reader knows."""

    def __init__(self, cluster: Cluster, *, committed_only: bool = False) -> None:
        super().__init__(cluster, committed_only=committed_only)
        self._leaderships: dict[Partition, Leadership] = {}

    def leadership(self, partition: Partition) -> Leadership:
        """Return the leader of a partition."""
        return self._leaderships.setdefault(partition, Leadership())

    def elect(self, partition: Partition, leader: int, knowing: Collection[int], *, after_none: bool = False) -> None:
        """Elect a leader; at least ``min_insync_replicas`` brokers must know of it, since it accepts records."""
        assert len({leader, *knowing}) >= self.min_insync_replicas
        end = self.cluster.logs[partition].end
        self.leadership(partition).elect(leader, knowing, end, after_none=after_none)

    def ends(self) -> Ends:
        """Return the end offsets when no broker that answers knows a newer leader."""
        while True:
            ends = super().ends()
            self.meanwhile()
            queried = {partition: self._leader(partition) for partition in ends.high_watermarks}
            views = self._views(queried.values())
            if any(self._has_moved(partition, views) for partition in queried):
                continue
            enough = {partition: self._are_enough(partition, views) for partition in queried}
            return ends._replace(unconfirmed=frozenset(p for p, is_enough in enough.items() if not is_enough))

    # --- helpers ---

    def _leader(self, partition: Partition) -> int:
        return self.leaders.setdefault(partition, 1)

    def _end(self, partition: Partition) -> int:
        leadership = self.leadership(partition)
        while not leadership.leads(self._leader(partition)):  # it refuses, and the reader looks for the leader
            self._find_leader(partition)
        return leadership.end(self._leader(partition), super()._end(partition))

    def _find_leader(self, partition: Partition) -> None:
        leadership = self.leadership(partition)
        epoch, leader = max(leadership.known[node] for node in COPIES)
        if leader < 0:
            leadership.learn(leadership.leader)
        assert leader < 0 or epoch >= leadership.known[self._leader(partition)][0]
        self.leaders[partition] = leader if leader >= 0 else leadership.leader

    def _views(self, leaders: Collection[int]) -> dict[int, TopicMetadata]:
        return {node: self._view(node) for node in (COPIES - self.silent) | set(leaders)}

    def _view(self, node: int) -> TopicMetadata:
        known = {partition.partition: self.leadership(partition).known[node] for partition in self.positions}
        leaders = {number: leader for number, (_, leader) in known.items()}
        epochs = {number: epoch for number, (epoch, _) in known.items()}
        return TopicMetadata(TOPIC, UUID(int=1), 0, leaders, epochs, dict.fromkeys(known, COPIES))

    def _has_moved(self, partition: Partition, views: Mapping[int, TopicMetadata]) -> bool:
        change = newer_leader(views.values(), partition.partition, self._leader(partition))
        if change is not None and change >= 0:
            self.leaders[partition] = change
        elif change is not None:  # until the next query, brokers learn of the next leader
            for node in COPIES:
                self.leadership(partition).learn(node)
        return change is not None

    def _are_enough(self, partition: Partition, views: Mapping[int, TopicMetadata]) -> bool:
        return are_enough(views, partition.partition, self.min_insync_replicas)


class OneIsInSync(LeaderSource):
    """A reader of partitions whose leader may confirm records alone."""

    min_insync_replicas = 1


class OldEndsCount(LeaderSource):
    """A reader that uses end offsets although a broker knows a newer leader."""

    def _has_moved(self, partition: Partition, views: Mapping[int, TopicMetadata]) -> bool:
        return False


class LeadersAlone(LeaderSource):
    """A reader that asks only the leaders that it knows."""

    def _views(self, leaders: Collection[int]) -> dict[int, TopicMetadata]:
        return {node: self._view(node) for node in leaders}


class VacancyPasses(OneIsInSync):
    """A reader that ignores a newer epoch without a leader."""

    def _has_moved(self, partition: Partition, views: Mapping[int, TopicMetadata]) -> bool:
        named = [view for view in views.values() if view.leaders[partition.partition] >= 0]
        return super()._has_moved(partition, dict(enumerate(named)))


@dataclass
class LeaderHistoryPlayer(HistoryPlayer):
    """A player of histories in which leaders are replaced; at the end every broker knows the present ones."""

    parts: Parts = field(default_factory=lambda: Parts(source=LeaderSource))

    def __post_init__(self) -> None:
        history: History = self.history
        self.history = replace(history, ops=[*history.ops, Op("recover")])
        super().__post_init__()

    @property
    def _source(self) -> LeaderSource | None:
        source = None if self.follower is None else self.follower.source
        assert source is None or isinstance(source, LeaderSource)
        return source

    def _do_elect(self, op: Op) -> None:
        source, partition = self._source, self._partition(op)
        if source is None:
            return
        old = source.leadership(partition).leader
        leader, other = sorted(COPIES - {old}, reverse=bool(op.what % 2))
        knowing = {other} if op.yes else {old}
        source.elect(partition, leader, knowing if source.min_insync_replicas > 1 else (), after_none=op.what > 5)

    def _do_learn(self, op: Op) -> None:
        if self._source is not None:
            self._source.leadership(self._partition(op)).learn(1 + op.what % 3)

    def _do_silence(self, op: Op) -> None:
        if self._source is not None:
            self._source.silent = frozenset({1 + op.what % 3} if op.what < 6 else ())

    def _do_recover(self, _op: Op) -> None:
        if self._source is None:
            return
        self._source.silent = frozenset()
        for partition in self.cluster.logs:
            for node in COPIES:
                self._source.leadership(partition).learn(node)


def unconfirmed_ends(follower: ModelFollower) -> int:
    """Return how often the replica reported end offsets that too few brokers confirmed."""
    return follower.publisher.health.status(0).counts.unconfirmed_ends
