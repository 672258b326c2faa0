"""The real follower on a modelled cluster: real loop, rule, assembly, barrier, store and board, stepped by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

from log_model import TOPIC, Cluster
from model_oracle import BrokenError, Oracle
from model_source import ModelSource

from kafka_replica import Cut, MemoryStore, Partition, Record, Store
from kafka_replica.assembly import Assembly, Settled
from kafka_replica.barrier import Barrier
from kafka_replica.board import Board
from kafka_replica.bookmark import Bookmark
from kafka_replica.broker.sources import Evidence
from kafka_replica.clock import now
from kafka_replica.cuts import Batch, Markers, QuietPoints, Rule
from kafka_replica.deletions import DeletionCheck
from kafka_replica.delta import Applied, Delta
from kafka_replica.follower import Follower
from kafka_replica.following import Following
from kafka_replica.states import Health
from kafka_replica.stores import Snapshot
from kafka_replica.transaction_headers import TransactionHeaders


class WatchedAssembly(Assembly):
    """Tells an oracle what was settled."""

    oracle: Oracle

    def settle(self, batches: Iterable[Batch]) -> Settled:
        """As the real one."""
        batches = list(batches)
        for batch in batches:
            for record in batch.content.records():
                self.oracle.settle(batch.partition, record.offset)
        return super().settle(batches)


class WatchedBoard(Board):
    """Has everything that is shown checked by an oracle."""

    def __init__(self, oracle: Oracle) -> None:
        super().__init__(Health(stalled_after_s=60, blocked_after_s=60))
        self.oracle = oracle
        self.versions: list[Version] = []
        self.transactions = 0
        self.keeps_versions = False

    def published(
        self,
        snapshot: Snapshot,
        applied: Applied | None,
        transactions: int | None = None,
        origins: Sequence[TransactionHeaders] = (),
    ) -> None:
        """As the real one."""
        state = dict(snapshot)
        if not self.has_version and not snapshot.cut.dominates(self._barrier):
            raise BrokenError(f"ready at {snapshot.cut}, before the barrier {self._barrier}")
        self.oracle.show(state, snapshot.cut)
        self._check_told(state, applied)
        self.transactions += transactions or 0
        if self.keeps_versions:
            self.versions.append(Version(state, snapshot.cut, self.oracle.included))
        super().published(snapshot, applied, transactions, origins)

    def _check_told(self, state: dict[bytes, Record], applied: Applied | None) -> None:
        before = self.snapshot
        if before is None or applied is None:
            return
        changed = {key for key, record in state.items() if before.get(key) != record}
        if set(applied.changed) != changed or set(applied.deleted) != set(before) - set(state):
            raise BrokenError(f"{sorted(applied.changed)} are said to have changed, not {sorted(changed)}")

    def advanced(self, cut: Cut) -> None:
        """As the real one."""
        shown = self.snapshot
        assert shown is not None
        self.oracle.show(dict(shown), cut)
        super().advanced(cut)


@dataclass(frozen=True)
class Version:
    """What was shown once."""

    state: Mapping[bytes, Record]
    cut: Cut
    included: frozenset[int]


@dataclass(frozen=True)
class Parts:
    """Which parts the follower is made of, so that a rule can be switched off."""

    rule: Callable[[], Rule] = Markers
    assembly: type[WatchedAssembly] = WatchedAssembly
    barrier: type[Barrier] = Barrier
    store: Callable[[], Store] = MemoryStore


class ModelFollower:
    """One follower of a modelled cluster, opened and ready to be stepped.

    Args:
        cluster: what it follows.
        parts: what it is made of.
        resumed: a version to go on from, as a restart does; else it begins at the beginning.
        causal: whether the oracle checks what transactions may depend on.
    """

    def __init__(
        self, cluster: Cluster, parts: Parts | None = None, resumed: Version | None = None, *, causal: bool = True
    ) -> None:
        parts = parts or Parts()
        rule = parts.rule()
        self.source = ModelSource(cluster, committed_only=isinstance(rule, QuietPoints))
        self.oracle = Oracle(cluster, resumed.included if resumed else (), causal=causal)
        self.board = WatchedBoard(self.oracle)
        self.store = parts.store()
        if resumed is not None:
            delta = Delta(list(resumed.state.values()))
            self.store.apply(delta, resumed.cut, Bookmark(resumed.cut))
            self.oracle.cut = resumed.cut
        self.follower = Follower(_following(), self.store, self.board)
        assembly = parts.assembly(self.store.newest, {TOPIC: b""}, {TOPIC: 0})
        assembly.oracle = self.oracle
        self.follower._assembly = assembly
        self.follower._source, self.follower._rule = self.source, rule
        self.follower._looked_s = float("inf")  # it looks when a test says so, not by the clock
        self.follower._opened_at = now()
        opened = self.source.open(self.store.bookmark)
        self.oracle.starts = self.source.log_starts
        # Modelled compaction takes no tombstone that a reader needs.
        self.follower._deletions = DeletionCheck((TOPIC,), math.inf, self.source, self.follower._patience)
        self.follower._barrier = parts.barrier(opened.ends)
        self.follower._begin(opened, self.store.bookmark)

    @property
    def rule(self) -> Rule:
        """Its rule."""
        return self.follower._rule

    @property
    def state(self) -> dict[bytes, Record]:
        """What it shows."""
        return dict(self.board.snapshot or {})

    def step(self, *orders: tuple[Partition, int]) -> None:
        """One turn of the loop, reading so many batches of these partitions; all there is without orders."""
        self.source.orders = list(orders) or None
        self.follower._step()

    def look(self) -> None:
        """What it does once a second."""
        self.follower._glance()
        self.follower._looked_s = float("inf")

    def drain(self) -> None:
        """Reads on until nothing changes any more."""
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
        """Reads to the end and checks it."""
        self.drain()
        self.oracle.finish(self.state)
        assert self.rule.held_records == 0
        assert not self.rule.wants_ends


def _following() -> Following:
    """Of what a follower is told, what matters to a modelled one."""
    told = {"config": {}, "topics": (TOPIC,), "evidence": Evidence.MARKERS}
    return Following(**{field.name: told.get(field.name) for field in fields(Following)})
