"""A modelled topic whose brokers clean their logs, and a reader that applies the rule for tombstones.

Brokers clean independently. A cleaning removes overwritten and deleted records; a tombstone gets its horizon
from the first cleaning that includes it, and is removed by the first cleaning after that (KIP-534). Time is a number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from kafka_replica import Partition
from kafka_replica.common.clock import Instant
from kafka_replica.replication.tombstone_retention import TombstoneCheck

TOPIC = "t"
PARTITIONS = [Partition(TOPIC, number) for number in range(2)]
BROKERS = range(2)

State = dict[Partition, dict[str, int]]
"""The offset of each key's record."""


class WrongKeysError(AssertionError):
    """A deleted key is shown, or a key is missing."""


@dataclass(frozen=True)
class Entry:
    """A record; ``horizon_s`` is when a tombstone may be removed, once that is known."""

    offset: int
    key: str
    is_tombstone: bool
    horizon_s: float | None = None


class World:
    """Brokers, their logs, and clocks."""

    def __init__(self, retention_s: float) -> None:
        self.time_s = 0.0
        self.wall_offset_s = 0.0
        self.frozen_s = 0.0  # that the monotonic clock has missed
        self.retention_s = retention_s
        self.leaders = dict.fromkeys(PARTITIONS, 0)
        self.history: dict[Partition, list[Entry]] = {partition: [] for partition in PARTITIONS}
        self.logs = {(broker, partition): list[Entry]() for broker in BROKERS for partition in PARTITIONS}

    def now(self) -> Instant:
        """Return the instant as a process sees it; all times are after 1970."""
        return Instant(round((1e6 + self.time_s + self.wall_offset_s) * 1000), self.time_s - self.frozen_s)

    def append(self, partition: Partition, key: str, *, is_tombstone: bool) -> None:
        """Write a record, to all brokers."""
        entry = Entry(len(self.history[partition]), key, is_tombstone)
        self.history[partition].append(entry)
        for broker in BROKERS:
            self.logs[broker, partition].append(entry)

    def clean(self, broker: int, partition: Partition) -> None:
        """Clean a broker's log."""
        log = self.logs[broker, partition]
        newest = {entry.key: entry.offset for entry in log}
        kept = []
        for entry in log:
            if newest[entry.key] != entry.offset:
                continue
            if entry.is_tombstone and entry.horizon_s is None:
                kept.append(replace(entry, horizon_s=self.time_s + self.retention_s))
            elif entry.horizon_s is None or self.time_s <= entry.horizon_s:
                kept.append(entry)
        self.logs[broker, partition] = kept

    def end(self, partition: Partition) -> int:
        """Return the high watermark."""
        return len(self.history[partition])

    def truth(self) -> State:
        """Return the state that the log makes without any compaction."""
        found: State = {partition: {} for partition in PARTITIONS}
        for partition, entries in self.history.items():
            for entry in entries:
                found[partition].pop(entry.key, None)
                if not entry.is_tombstone:
                    found[partition][entry.key] = entry.offset
        return found


class Saved(NamedTuple):
    """The version and the resume point that a restart finds."""

    state: State
    position: dict[Partition, int]
    caught_up_ms: int
    reported_s: dict[str, float]


class Reader:
    """A reader of all partitions that begins again where the rule says that it was too late."""

    def __init__(self, world: World, make_rule: Callable[[], TombstoneCheck]) -> None:
        self.world = world
        self.make_rule = make_rule
        self.saved: Saved | None = None
        self.rebuilds = 0
        self.versions = 0
        self.begin()

    def begin(self) -> None:
        """Read from the beginning, or continue after a saved version."""
        world, saved = self.world, self.saved
        self.rule = self.make_rule()
        self.fetched: dict[Partition, list[tuple[list[Entry], int]]] = {partition: [] for partition in PARTITIONS}
        self.leaders = dict(world.leaders)
        if saved is None:
            self.state: State = {partition: {} for partition in PARTITIONS}
            self.positions = dict.fromkeys(PARTITIONS, 0)
            self.rule.begin(world.now(), PARTITIONS)
        else:
            self.state = {partition: dict(keys) for partition, keys in saved.state.items()}
            self.positions = dict(saved.position)
            self.rule.resume(Instant(saved.caught_up_ms), PARTITIONS, saved.reported_s)
        self.ask()

    def ask(self, lag_s: float = 0.0) -> None:
        """Query the ends of the partitions; the answer is of a later time, and arrives later."""
        requested_at = self.world.now()
        self.world.time_s += lag_s
        self.rule.note_ends(requested_at, {partition: self.world.end(partition) for partition in PARTITIONS})
        self.rule.read(self.positions)

    def tell(self) -> None:
        """Query for how long tombstones are kept."""
        self.rule.set_retentions({TOPIC: self.world.retention_s})

    def fetch(self, partition: Partition, count: int) -> None:
        """Fetch some records; they are processed later."""
        leader = self.world.leaders[partition]
        if leader != self.leaders[partition]:
            self.leaders[partition] = leader
            self.rule.move(partition)
        fetched = self.fetched[partition]
        begin = fetched[-1][1] if fetched else self.positions[partition]
        found = [entry for entry in self.world.logs[leader, partition] if entry.offset >= begin]
        end = found[count - 1].offset + 1 if len(found) > count else self.world.end(partition)
        fetched.append((found[:count], end))

    def take(self, partition: Partition) -> None:
        """Process the earliest fetch."""
        if not self.fetched[partition]:
            return
        entries, end = self.fetched[partition].pop(0)
        state = self.state[partition]
        if end - self.positions[partition] > len(entries):
            self.rule.note_gap(partition, self.world.now())
        for entry in entries:
            state.pop(entry.key, None)
            if not entry.is_tombstone:
                state[entry.key] = entry.offset
        self.positions[partition] = end
        self.rule.read(self.positions)

    def show(self, lag_s: float = 0.0) -> None:
        """Read to the ends, and show the result, unless it is too late.

        Raises:
            WrongKeysError: the result is not the actual state.
        """
        for partition in PARTITIONS:
            self.fetch(partition, 1 << 30)
        self.world.time_s += lag_s
        for partition in PARTITIONS:
            while self.fetched[partition]:
                self.take(partition)
        if self.rule.needs_retentions:
            self.tell()
        if self.rule.late() is not None:
            self.rebuilds += 1
            self.saved = None
            self.begin()
            return
        self.rule.forgive()
        self.versions += 1
        if self.state != self.world.truth():
            raise WrongKeysError(f"{self.state} is shown instead of {self.world.truth()}")
        self.rule.show(self.positions)
        state = {partition: dict(keys) for partition, keys in self.state.items()}
        self.saved = Saved(state, dict(self.positions), *self.rule.resume_values())
