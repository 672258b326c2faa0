"""Histories of a modelled cluster: the actions of writers, brokers and the reader, in one order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import NamedTuple

from hypothesis import strategies as st

from kafka_replica import Partition
from support.core.log_model import Cluster
from support.core.model_follower import ModelFollower, Parts


class Op(NamedTuple):
    """A step: its actor or partition, and its data; a step that makes no sense at its place is skipped."""

    name: str
    who: int = 0
    where: int = 0
    what: int = 0
    yes: bool = True


@dataclass(frozen=True)
class History:
    """A history, and the behaviour of the reader."""

    ops: Sequence[Op]
    partitions: int = 1
    old_producers: Sequence[int] = ()
    unread: int = 0
    """The number of steps before the reader begins."""
    meanwhile: Sequence[int] = (0,)
    """The number of steps of the log during each query, in turn."""
    is_staggered: bool = False
    """True if partitions answer a query one after the other, with such steps between."""
    hangs: bool = False
    """True if transactions stay open in the end."""


OF_THE_READER = {"read", "fetch", "look"}


@dataclass
class HistoryPlayer:
    """A player of a history to a follower, which checks every version it shows."""

    history: History
    parts: Parts = field(default_factory=Parts)
    prepare: Callable[[ModelFollower], None] = lambda follower: None

    def __post_init__(self) -> None:
        self.cluster = Cluster(self.history.partitions, self.history.old_producers)
        self.pending = list(reversed(self.history.ops))
        self.follower: ModelFollower | None = None
        self._lags = cycle(self.history.meanwhile)

    def run(self) -> ModelFollower:
        """Play it to its end; the follower has then read everything."""
        history = self.history
        for _ in range(min(history.unread, len(self.pending))):
            self._do(self.pending.pop())
        self.follower = ModelFollower(self.cluster, self.parts, causal=not history.is_staggered)
        self.follower.source.is_staggered = history.is_staggered
        self.follower.source.meanwhile = self._go_on
        self.prepare(self.follower)
        while self.pending:
            self._do(self.pending.pop())
        for producer in list(self.cluster.current):
            self._end(producer, commits=not history.hangs)
        self.follower.drain()
        return self.follower

    def _end(self, producer: int, *, commits: bool) -> None:
        if self.cluster.transactions[self.cluster.current[producer]].commits is None:
            if self.history.hangs:
                return
            self.cluster.decide(producer, commits=commits)
        for partition in self.cluster.unmarked(producer):
            self.cluster.mark(producer, partition)

    def _go_on(self) -> None:
        for _ in range(next(self._lags)):
            if not self.pending or self.pending[-1].name in OF_THE_READER:
                return
            self._do(self.pending.pop())

    # --- steps ---

    def _do(self, op: Op) -> None:
        getattr(self, f"_do_{op.name}")(op)

    def _partition(self, op: Op) -> Partition:
        return list(self.cluster.logs)[op.where % len(self.cluster.logs)]

    def _records(self, op: Op) -> list[tuple[str, str | None]]:
        """Return one to three records; each key belongs to one partition."""
        own = f"{sum(len(log.written) for log in self.cluster.logs.values())}"
        keys = [f"{'abc'[(op.what + more) % 3]}{self._partition(op).partition}" for more in range(1 + op.what // 3)]
        return [(key, f"{own}{key}" if op.yes else None) for key in keys]

    def _is_open(self, producer: int) -> bool:
        number = self.cluster.current.get(producer)
        return number is not None and self.cluster.transactions[number].commits is None

    def _do_write(self, op: Op) -> None:
        if op.who not in self.cluster.current or self._is_open(op.who):
            self.cluster.write(op.who, self._partition(op), *self._records(op))

    def _do_touch(self, op: Op) -> None:
        if self._is_open(op.who):
            self.cluster.write(op.who, self._partition(op))

    def _do_decide(self, op: Op) -> None:
        if self._is_open(op.who):
            self.cluster.decide(op.who, commits=op.yes)

    def _do_mark(self, op: Op) -> None:
        if op.who in self.cluster.current and not self._is_open(op.who):
            left = self.cluster.unmarked(op.who)
            self.cluster.mark(op.who, left[op.where % len(left)])

    def _do_end(self, op: Op) -> None:
        self._do_decide(op)
        if op.who in self.cluster.current:
            for partition in self.cluster.unmarked(op.who):
                self.cluster.mark(op.who, partition)

    def _do_plain(self, op: Op) -> None:
        self.cluster.plain(self._partition(op), *self._records(op))

    def _do_compact(self, op: Op) -> None:
        partition = self._partition(op)
        fetch = None if self.follower is None else self.follower.source.fetches.get(partition)
        read = 0 if fetch is None else fetch.position
        self.cluster.compact(partition, read if op.yes else None)

    def _do_trim(self, op: Op) -> None:
        """Delete a part of what was read; a reader that lags further would have to begin again."""
        partition = self._partition(op)
        fetch = None if self.follower is None else self.follower.source.fetches.get(partition)
        start = self.cluster.logs[partition].start
        limit = self.cluster.logs[partition].end if fetch is None else fetch.position
        self.cluster.trim(partition, start + (limit - start) * op.what // 8)

    def _do_grow(self, op: Op) -> None:
        if len(self.cluster.logs) < 3:
            self.cluster.grow()

    def _do_read(self, op: Op) -> None:
        if self.follower is None:
            return
        read = list(self.follower.source.positions)
        at = op.where % (len(read) + 1)
        turned = read[::-1] if op.yes else read
        self.follower.step(*((partition, 1 + op.what) for partition in ([read[at]] if at < len(read) else turned)))

    def _do_fetch(self, op: Op) -> None:
        if self.follower is not None:
            read = list(self.follower.source.positions)
            self.follower.source.fetch(read[op.where % len(read)])

    def _do_look(self, op: Op) -> None:
        if self.follower is not None:
            self.follower.look()


# --- random histories ---

LOG = ["write"] * 6 + ["end", "decide", "mark", "mark", "plain"]


@st.composite
def histories(
    draw: st.DrawFn,
    partitions: int,
    *,
    more: Sequence[str] = (),
    longest: int = 40,
    producers: int = 3,
    old: bool | None = None,
    staggers: bool = False,
    hangs: bool = False,
) -> History:
    """Draw writers that interleave, abort and delete; reads of any size anywhere; and ``more`` of other steps."""
    names = st.sampled_from([*LOG, *["read"] * 5, *more])
    op = st.builds(
        Op,
        names,
        st.integers(1, producers),
        st.integers(0, partitions),
        st.integers(0, 8),
        st.sampled_from([True, True, True, False]),
    )
    length = draw(st.integers(0, longest))  # a drawn list alone would nearly always be short
    return History(
        draw(st.lists(op, min_size=length, max_size=length)),
        partitions,
        draw(st.lists(st.integers(1, producers), max_size=producers)) if old is None else range(9) if old else (),
        draw(st.sampled_from([0, 0, 5, 20])),
        draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)),
        staggers,
        hangs,
    )
