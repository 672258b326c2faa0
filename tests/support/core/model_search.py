"""Every history of a small modelled cluster: all possible next steps are tried, and equal situations only once.

A situation is everything that can matter later: the logs, the remaining steps of the writers, and the content of
the reader, the detector, the delta builder, the barrier and the store.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from copy import copy
from dataclasses import dataclass
from itertools import product

from kafka_replica import Partition
from kafka_replica.common.garbage_collector import collector_paused
from support.core.log_model import Cluster
from support.core.model_copies import OF_ASSEMBLY, fingerprint, fork_follower
from support.core.model_follower import ModelFollower, Parts

Decision = tuple[str, int, Partition]
"""A writer's next step, the writer, and the partition; or the broker's ``compact``, where the writer is 0."""

Meanwhile = tuple[tuple[int, ...], ...]
"""For each moment at which a query is in progress, which of the steps that are possible then are done."""


@dataclass(frozen=True)
class Program:
    """A transaction of a writer: its batches in this order, then its markers."""

    writes: tuple[tuple[Partition, tuple[tuple[str, str | None], ...]], ...]
    marks: tuple[Partition, ...]
    commits: bool = True

    @property
    def steps(self) -> int:
        """The number of its steps."""
        return len(self.writes) + len(self.marks)


@dataclass(frozen=True)
class World:
    """The initial state, and the steps."""

    partitions: int
    programs: dict[int, tuple[Program, ...]]
    compactions: int = 0
    old_producers: tuple[int, ...] = ()
    batches: int = 1 << 30
    """The number of batches per read."""
    meanwhile: int = 1
    """The maximum number of steps of writers during the queries of one turn of the loop."""
    is_staggered: bool = False
    """True if partitions answer a query one after the other."""


class HistoryState:
    """A situation in a history; ``fork`` leaves it unchanged."""

    def __init__(self, world: World, parts: Parts) -> None:
        self.world = world
        self.cluster = Cluster(world.partitions, world.old_producers)
        self.done: dict[int, int] = dict.fromkeys(world.programs, 0)  # steps of each writer
        self.compactions = 0
        self.path: tuple[object, ...] = ()
        self.follower = ModelFollower(self.cluster, parts, causal=not world.is_staggered)
        self.follower.source.is_staggered = world.is_staggered

    def fork(self) -> HistoryState:
        """Return a copy that can be continued differently."""
        other = copy(self)
        other.cluster = self.cluster.fork()
        other.done = dict(self.done)
        other.follower = fork_follower(self.follower, other.cluster)
        return other

    # --- possible next steps ---

    def steps(self) -> Iterator[Decision]:
        """Return the possible steps of writers and brokers."""
        for producer in self.world.programs:
            program, done = self._program_of(producer)
            if program is not None and done < len(program.writes):
                yield "write", producer, program.writes[done][0]
            elif program is not None:
                yield "mark", producer, program.marks[done - len(program.writes)]
        if self.compactions < self.world.compactions:
            yield from (("compact", 0, partition) for partition in self.cluster.logs)

    def do(self, step: Decision) -> None:
        """Execute a step."""
        name, producer, partition = step
        self.path = (*self.path, step)
        if name == "compact":
            self.compactions += 1
            self.cluster.compact(partition)
            return
        program, done = self._program_of(producer)
        assert program is not None, "nothing left to do"
        if name == "write":
            self.cluster.write(producer, partition, *program.writes[done][1])
        else:
            if done == len(program.writes):
                self.cluster.decide(producer, commits=program.commits)
            self.cluster.mark(producer, partition)
        self.done[producer] += 1

    def _program_of(self, producer: int) -> tuple[Program | None, int]:
        """Return a writer's current transaction, and the number of its completed steps."""
        done = self.done[producer]
        for program in self.world.programs[producer]:
            if done < program.steps:
                return program, done
            done -= program.steps
        return None, 0

    def read(self, partition: Partition, meanwhile: Meanwhile) -> int:
        """Run one turn of the loop; return at how many moments a step could occur, and the possible steps at each."""
        moments = 0

        def go_on() -> None:
            nonlocal moments
            for which in meanwhile[moments] if moments < len(meanwhile) else ():
                steps = list(self.steps())
                if which < len(steps):
                    self.do(steps[which])
            moments += 1

        self.path = (*self.path, ("read", partition))
        self.follower.source.meanwhile = go_on
        self.follower.step((partition, self.world.batches))
        self.follower.source.meanwhile = lambda: None
        return moments

    @property
    def fingerprint(self) -> Hashable:
        """Return a value that is equal where nothing later can differ."""
        follower, source = self.follower, self.follower.source
        delta_builder = {
            name: value for name, value in vars(follower.follower._delta_builder).items() if name in OF_ASSEMBLY
        }
        return fingerprint(
            (
                self.done,
                self.compactions,
                self.cluster,
                source.positions,
                source.fetches,
                follower.rule,
                follower.follower._barrier,
                delta_builder,
                follower.publisher.health.position,
                follower.oracle.committed,
                follower.publisher.has_version,
            )
        )


def search(world: World, parts: Parts | None = None) -> Counts:
    """Try everything; check every version shown on the way, and the end after each situation.

    Args:
        world: the steps.
        parts: the parts of the follower.
    """
    with collector_paused():  # thousands of situations are alive, and none is in a cycle
        return _search(HistoryState(world, parts or Parts()))


def _search(begin: HistoryState) -> Counts:
    seen = {begin.fingerprint}
    waiting = [begin]
    counts = Counts()
    while waiting:
        situation = waiting.pop()
        counts.situations += 1
        is_over = True
        for options in _followings(situation):
            is_over = False
            counts.steps += 1
            found = options.fingerprint
            if found not in seen:
                seen.add(found)
                waiting.append(options)
        if is_over:
            counts.ends += 1
            _finish(situation)
    return counts


@dataclass
class Counts:
    """The situations that a search has seen."""

    situations: int = 0
    steps: int = 0
    ends: int = 0


def _finish(situation: HistoryState) -> None:
    last = situation.fork()
    try:
        last.follower.finish()
    except AssertionError as error:
        error.add_note(f"after {last.path}, read to the end")
        raise


def _followings(situation: HistoryState) -> Iterator[HistoryState]:
    steps = list(situation.steps())
    for step in steps:
        other = situation.fork()
        other.do(step)
        yield other
    for partition, position in situation.follower.source.positions.items():
        if position == situation.cluster.logs[partition].end and not situation.follower.rule.needs_ends:
            continue
        yield from _readings(situation, partition)


def _readings(situation: HistoryState, partition: Partition) -> Iterator[HistoryState]:
    """Run one turn of the loop, with all possible steps of writers meanwhile."""
    waiting: list[Meanwhile] = [()]
    while waiting:
        meanwhile = waiting.pop()
        other = situation.fork()
        try:
            moments = other.read(partition, meanwhile)
        except AssertionError as error:
            error.add_note(f"after {other.path}")
            raise
        yield other
        left = situation.world.meanwhile - sum(map(len, meanwhile))
        for more in range(len(meanwhile), moments):
            nothing = ((),) * (more - len(meanwhile))
            waiting += [(*meanwhile, *nothing, steps) for steps in _choices(situation, left)]


def _choices(situation: HistoryState, most: int) -> Iterator[tuple[int, ...]]:
    which = range(len(situation.world.programs) + len(situation.cluster.logs) * (situation.world.compactions > 0))
    for count in range(1, most + 1):
        yield from product(which, repeat=count)
