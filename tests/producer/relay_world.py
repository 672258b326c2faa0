"""A world for the relay's rules: a database, Kafka as it fences, instances that die and stall at every step."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from kafka_replica.broker.faults import Fault
from kafka_replica.producer.relay.events import (
    Acquire,
    Committed,
    Connect,
    Connected,
    DatabaseFailed,
    Event,
    KafkaFailed,
    Leased,
    Look,
    Looked,
    Marked,
    MarkSent,
    Send,
    StandingBy,
    Started,
    Suspend,
    Waited,
)
from kafka_replica.producer.relay.rules import Relay


class Luck(enum.Enum):
    """What becomes of one step."""

    WELL = "well"
    FAILS = "fails before it has an effect"
    LOST = "has its effect, but the answer is lost"
    DIES = "the process dies before it has an effect"
    DIES_AFTER = "the process dies after it had its effect"


@dataclass
class World:
    """What outlives a process."""

    recorded: int = 0
    sent: int = 0
    running: bool = True
    owner: int | None = None
    """Whose lease it is; it may be taken from anybody at any time, as if it had run out."""
    epoch: int = 0
    log: list[int] = field(default_factory=list)
    """The transactions that Kafka has committed."""
    suspensions: int = 0
    fenced_sends: int = 0
    marked: list[int] = field(default_factory=list)

    def check(self) -> None:
        """What must be true at every moment."""
        assert self.log == list(range(1, len(self.log) + 1)), f"Kafka has {self.log}"
        assert self.sent <= len(self.log), "marked as sent, and Kafka has it not"
        assert self.marked == sorted(self.marked)


class DeadError(Exception):
    """The process died."""


class Instance:
    """One process: its rules, and I/O that others come between at each ``yield``."""

    def __init__(self, world: World, name: int, luck: Callable[[], Luck], relay: Callable[[], Relay] = Relay) -> None:
        self.world, self.name, self._luck, self._relay = world, name, luck, relay
        self._steps = self._life()

    def step(self) -> None:
        """One step, maybe the last of this life."""
        try:
            next(self._steps)
        except DeadError:
            self._steps = self._life()
        self.world.check()

    def _life(self) -> Iterator[None]:
        rules = self._relay()
        self._epoch = -1
        event: Event = Started()
        while True:
            decision = rules.on(event)
            yield
            match decision:
                case Acquire():
                    event = yield from self._acquire()
                case Look():
                    event = yield from self._look()
                case Connect():
                    event = yield from self._connect()
                case Send():
                    event = yield from self._send(decision.tx_id)
                case MarkSent():
                    event = yield from self._mark(decision.up_to)
                case Suspend():
                    event = yield from self._suspend()
                case _:
                    event = Waited()

    def _do(self, effect: Callable[[], Event], failed: Event) -> Iterator[Event | None]:
        luck = self._luck()
        yield
        if luck is Luck.DIES:
            raise DeadError
        if luck is Luck.FAILS:
            return failed
        event = effect()
        if luck is Luck.DIES_AFTER:
            raise DeadError
        return failed if luck is Luck.LOST else event

    def _acquire(self) -> Iterator[None]:
        world = self.world

        def take() -> Event:
            if world.owner is None:
                world.owner = self.name
            return Leased() if world.owner == self.name else StandingBy()

        return (yield from self._do(take, DatabaseFailed()))

    def _look(self) -> Iterator[None]:
        world = self.world
        running, sent = world.running, world.sent  # one statement after another, as READ COMMITTED has it
        yield
        ahead = tuple(range(sent + 1, min(sent + 3, world.recorded) + 1))
        yield
        return (yield from self._do(lambda: Looked(running, sent, world.recorded, ahead), DatabaseFailed()))

    def _connect(self) -> Iterator[None]:
        world = self.world

        def take_up() -> Event:
            world.epoch += 1
            self._epoch = world.epoch
            return Marked()

        failed = KafkaFailed(Fault.TRANSITORY, "down")
        event = yield from self._do(take_up, failed)
        if event is failed:
            return event
        return (yield from self._do(lambda: Connected(len(world.log) or None), failed))

    def _send(self, tx_id: int) -> Iterator[None]:
        world = self.world

        def commit() -> Event:
            if self._epoch != world.epoch:
                world.fenced_sends += 1
                return KafkaFailed(Fault.FENCED, "fenced")
            world.log.append(tx_id)
            return Committed(tx_id)

        return (yield from self._do(commit, KafkaFailed(Fault.TRANSITORY, "no answer", may_have_arrived=True)))

    def _mark(self, up_to: int) -> Iterator[None]:
        world = self.world

        def mark() -> Event:
            world.sent = max(world.sent, up_to)
            world.marked.append(world.sent)
            return Marked()

        return (yield from self._do(mark, DatabaseFailed()))

    def _suspend(self) -> Iterator[None]:
        world = self.world

        def suspend() -> Event:
            if world.owner == self.name and world.running:
                world.running = False
                world.suspensions += 1
            return Waited()

        return (yield from self._do(suspend, DatabaseFailed()))
