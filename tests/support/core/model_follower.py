"""The real follower on a modelled cluster, in steps: real loop, detector, builder, barrier, store and publisher."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from kafka_replica import MemoryStore, Partition, Position, Record, Store
from kafka_replica.broker.reading.readers import Boundaries
from kafka_replica.common.clock import now
from kafka_replica.headers.transactions import TransactionHeaders
from kafka_replica.publication.health import Health
from kafka_replica.publication.publisher import Publisher
from kafka_replica.replication.deletion_check import DeletionCheck
from kafka_replica.replication.delta_builder import CommittedOutcome, DeltaBuilder
from kafka_replica.replication.follower import Follower
from kafka_replica.replication.options import ReplicaOptions
from kafka_replica.stores import Snapshot
from kafka_replica.stores.delta import AppliedChanges, Delta
from kafka_replica.transactions import Batch, BoundaryDetector, MarkerDetector, QuiescenceDetector
from kafka_replica.transactions.barrier import Barrier
from kafka_replica.transactions.resume_point import ResumePoint
from support.core.log_model import TOPIC, Cluster
from support.core.model_oracle import BrokenError, Oracle
from support.core.model_source import ModelSource


class WatchedAssembly(DeltaBuilder):
    """A delta builder that reports committed records to an oracle."""

    oracle: Oracle

    def add_committed(self, batches: Iterable[Batch]) -> CommittedOutcome:
        """Add records, and report them."""
        batches = list(batches)
        for batch in batches:
            for record in batch.content.records():
                self.oracle.commit(batch.partition, record[2])
        return super().add_committed(batches)


class WatchedBoard(Publisher):
    """A publisher whose versions an oracle checks."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(Health(stalled_after_s=60, blocked_after_s=60))
        self.oracle = oracle
        self.versions: list[Version] = []
        self.transactions = 0
        self.keeps_versions = False

    def published(
        self,
        snapshot: Snapshot,
        applied: AppliedChanges | None,
        transactions: int | None = None,
        origins: Sequence[TransactionHeaders] = (),
    ) -> None:
        """Publish, and check the version."""
        state = dict(snapshot)
        if not self.has_version and not snapshot.position.dominates(self.health.barrier):
            raise BrokenError(f"ready at {snapshot.position}, before the barrier {self.health.barrier}")
        self.oracle.show(state, snapshot.position)
        self._check_applied_changes(state, applied)
        self.transactions += transactions or 0
        if self.keeps_versions:
            self.versions.append(Version(state, snapshot.position, self.oracle.included))
        super().published(snapshot, applied, transactions, origins)

    def _check_applied_changes(self, state: dict[bytes, Record], applied: AppliedChanges | None) -> None:
        before = self.snapshot
        if before is None or applied is None:
            return
        changed = {key for key, record in state.items() if before.get(key) != record}
        if set(applied.changed) != changed or set(applied.deleted) != set(before) - set(state):
            raise BrokenError(f"{sorted(applied.changed)} are said to have changed, not {sorted(changed)}")

    def advanced(self, position: Position) -> None:
        """Update the position, and check it."""
        shown = self.snapshot
        assert shown is not None
        self.oracle.show(dict(shown), position)
        super().advanced(position)


@dataclass(frozen=True)
class Version:
    """A version that was shown."""

    state: Mapping[bytes, Record]
    position: Position
    included: frozenset[int]


@dataclass(frozen=True)
class Parts:
    """The parts of a follower, so that a rule can be switched off."""

    rule: Callable[[], BoundaryDetector] = MarkerDetector
    delta_builder: type[WatchedAssembly] = WatchedAssembly
    barrier: type[Barrier] = Barrier
    store: Callable[[], Store] = MemoryStore
    source: type[ModelSource] = ModelSource


class ModelFollower:
    """A follower of a modelled cluster, opened and ready to be stepped.

    Args:
        cluster: what it follows.
        parts: what it is made of.
        resumed: a version to continue from, as a restart does; else it begins at the beginning.
        causal: whether the oracle checks what transactions may depend on.
    """

    def __init__(
        self, cluster: Cluster, parts: Parts | None = None, resumed: Version | None = None, *, causal: bool = True
    ) -> None:
        parts = parts or Parts()
        rule = parts.rule()
        self.source = parts.source(cluster, committed_only=isinstance(rule, QuiescenceDetector))
        self.oracle = Oracle(cluster, resumed.included if resumed else (), causal=causal)
        self.publisher = WatchedBoard(self.oracle)
        self.store = parts.store()
        if resumed is not None:
            delta = Delta(list(resumed.state.values()))
            self.store.apply(delta, resumed.position, ResumePoint(resumed.position))
            self.oracle.position = resumed.position
        self.follower = Follower(_following(), self.store, self.publisher)
        delta_builder = parts.delta_builder(self.store.newest, {TOPIC: b""}, {TOPIC: 0})
        delta_builder.oracle = self.oracle
        self.follower._delta_builder = delta_builder
        self.follower._reader, self.follower._detector = self.source, rule
        self.follower._checked_s = float("inf")  # it looks when a test requests it, not by the clock
        self.follower._opened_at = now()
        opened = self.source.open(self.store.resume_point)
        self.oracle.starts = self.source.log_starts
        # Modelled compaction removes no tombstone that a reader needs.
        self.follower._deletions = DeletionCheck((TOPIC,), math.inf, self.source, self.follower._retry)
        self.follower._barrier = parts.barrier(opened.ends)
        self.follower._begin(opened, self.store.resume_point)

    @property
    def rule(self) -> BoundaryDetector:
        """The detector."""
        return self.follower._detector

    @property
    def state(self) -> dict[bytes, Record]:
        """The version shown."""
        return dict(self.publisher.snapshot or {})

    def step(self, *orders: tuple[Partition, int]) -> None:
        """Run one turn of the loop, reading that many batches of these partitions; by default all."""
        self.source.orders = list(orders) or None
        self.follower._step()

    def look(self) -> None:
        """Run the periodic work of each second."""
        self.follower._check_regularly()
        self.follower._checked_s = float("inf")

    def drain(self) -> None:
        """Read until nothing changes any more."""
        self.source.meanwhile = lambda: None
        self.look()
        still = 0
        for _ in range(1000):
            before = dict(self.source.positions), self.oracle.shown
            self.step()
            still = still + 1 if before == (self.source.positions, self.oracle.shown) else 0
            if still == 3:
                return
        raise BrokenError("it comes to no end")

    def finish(self) -> None:
        """Read to the end and check it."""
        self.drain()
        self.oracle.finish(self.state)
        assert self.rule.held_records == 0
        assert not self.rule.needs_ends


def _following() -> ReplicaOptions:
    """The options of a follower that matter to a modelled one."""
    return ReplicaOptions(
        config={"bootstrap.servers": "model.invalid:9092"},
        topics=(TOPIC,),
        boundaries=Boundaries.MARKERS,
        barrier_timeout_s=None,
    )
