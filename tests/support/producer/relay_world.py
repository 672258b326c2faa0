"""A world for the relay's rules: a restorable database, a fencing Kafka, and instances that die and stall."""

from __future__ import annotations

import enum
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field

from kafka_replica.broker.writing.faults import Fault
from kafka_replica.producer.changes.fingerprint import Fingerprint
from kafka_replica.producer.relay.events import (
    Acquire,
    CommitAcknowledgement,
    Connect,
    DatabaseFailure,
    DatabaseState,
    Event,
    KafkaFailure,
    KafkaSessionStart,
    LeaseGrant,
    MarkSent,
    Query,
    RelayStart,
    Send,
    StandingBy,
    StoredOutcome,
    Suspend,
    WaitEnd,
)
from kafka_replica.producer.relay.rules import Relay


class StepOutcome(enum.Enum):
    """The outcome of one step."""

    WELL = "well"
    FAILS = "fails before it has an effect"
    LOST = "has its effect, but the answer is lost"
    SLOW = "has its effect; a commit takes so long that the id has to be initialized again"
    NO_MARKER = "a commit is acknowledged, but Kafka writes no marker, so that the transaction stays open"
    DIES = "the process dies before it has an effect"
    DIES_AFTER = "the process dies after it had its effect"


@dataclass
class World:
    """The state that outlives a process."""

    rows: list[int] = field(default_factory=list)
    """The recorded transactions: each has a unique name, in every history of the database."""
    names: int = 0
    sent: int = 0
    incarnation: int = 0
    is_new: bool = True
    formers: list[int] = field(default_factory=list)
    """The incarnations before the present one, while nothing of it is marked."""
    incarnations: int = 0
    """The number of incarnations that were begun, in every history of the database."""
    running: bool = True
    owner: int | None = None
    """The owner of the lease; it may be taken away at any time, as if it had expired."""
    term: int = 0
    epoch: int = 0
    log: list[tuple[int, int, int]] = field(default_factory=list)
    """The transactions that Kafka has committed: incarnation, number and name of each."""
    open: tuple[int, int, int] | None = None
    """An acknowledged transaction without a marker. It is ended by the next commit, or when an instance connects."""
    backups: list[tuple[list[int], int, int, bool, list[int]]] = field(default_factory=list)
    suspensions: int = 0
    contradicted: bool = False
    """True if the reason of the last suspension was a contradiction between database and Kafka."""
    fenced_sends: int = 0
    marked: list[int] = field(default_factory=list)

    @property
    def recorded(self) -> int:
        """The last assigned number."""
        return len(self.rows)

    def record(self) -> None:
        """Record one more transaction."""
        self.names += 1
        self.rows.append(self.names)

    def back_up(self) -> None:
        """Take a copy of the database."""
        self.backups.append((list(self.rows), self.sent, self.incarnation, self.is_new, self.formers))

    def restore(self, which: int) -> None:
        """Continue with an older copy of the database; the publishing instance does not notice."""
        if self.backups:
            rows, self.sent, self.incarnation, self.is_new, self.formers = self.backups[which % len(self.backups)]
            self.rows, self.marked = list(rows), []

    def end_open(self) -> None:
        """End the open transaction as the connecting instance does, which holds the lease."""
        known = {self.incarnation, *self.formers}
        if self.open is not None and self.open[0] in known and self.open[1] <= self.sent:
            self.log.append(self.open)
        self.open = None

    def begin_incarnation(self) -> None:
        """Repair the consequences of a restored database; the progress in Kafka so far is not trusted."""
        self.formers = [*(self.formers if self.is_new else ()), self.incarnation]
        self.incarnations += 1
        self.incarnation, self.is_new = self.incarnations, True
        self.marked = []

    def begin_again(self) -> None:
        """Do what an operator does who needs no new incarnation: the database was not restored."""
        if not self.running:
            self.begin_incarnation()
            self.running = True

    def progress(self, *incarnations: int) -> tuple[int, int] | None:
        """Return the number and name of the last transaction of some incarnations that has arrived."""
        return next(((tx_id, name) for made, tx_id, name in reversed(self.log) if made in incarnations), None)

    def check(self) -> None:
        """Check the invariants that must be true at every moment."""
        if not self.backups:
            assert [tx_id for _, tx_id, _ in self.log] == [*range(1, len(self.log) + 1)], f"Kafka has {self.log}"
        arrived = {name for _, _, name in [*self.log, *([self.open] if self.open else [])]}
        lost = [name for name in self.rows[: self.sent] if name not in arrived]
        assert not lost, f"marked as sent, and Kafka has not: {lost}"
        assert self.marked == sorted(self.marked)


class DeadError(Exception):
    """The process died."""


class Instance:
    """A process: its rules, and I/O during which other processes run at each ``yield``."""

    def __init__(
        self, world: World, name: int, luck: Callable[[], StepOutcome], relay: Callable[[], Relay] = Relay
    ) -> None:
        self.world, self.name, self._luck, self._relay = world, name, luck, relay
        self._steps = self._life()

    def step(self) -> None:
        """Run one step, maybe the last of this process."""
        try:
            next(self._steps)
        except DeadError:
            self._steps = self._life()
        self.world.check()

    def _life(self) -> Iterator[None]:
        self._rules = rules = self._relay()
        self._epoch = self._term = -1
        self._must_renew = False
        self._rows: list[int] = []
        self._incarnation = self._connected_as = self._sent = 0
        self._formers: list[int] = []
        self._has_progress = False
        event: Event = RelayStart()
        while True:
            decision = rules.on(event)
            yield
            match decision:
                case Acquire():
                    event = yield from self._acquire()
                case Query():
                    event = yield from self._query()
                case Connect():
                    event = yield from self._connect()
                case Send():
                    event = yield from self._send(decision.tx_id)
                case MarkSent():
                    event = yield from self._mark(decision)
                case Suspend():
                    event = yield from self._suspend(decision)
                case _:
                    event = WaitEnd()

    def _do(
        self, effect: Callable[[], Event], failed: Event, luck: StepOutcome | None = None
    ) -> Generator[None, None, Event]:
        luck = self._luck() if luck is None else luck
        yield
        if luck is StepOutcome.DIES:
            raise DeadError
        if luck is StepOutcome.FAILS:
            return failed
        event = effect()
        if luck is StepOutcome.DIES_AFTER:
            raise DeadError
        return failed if luck is StepOutcome.LOST else event

    def _has_lease(self) -> bool:
        return (self.world.owner, self.world.term) == (self.name, self._term)

    def _may_mark(self) -> bool:
        return self._has_lease()

    def _acquire(self) -> Generator[None, None, Event]:
        world = self.world

        def take() -> Event:
            if world.owner is None:
                world.owner = self.name
                world.term += 1
            if world.owner != self.name:
                return StandingBy()
            self._term = world.term
            return LeaseGrant(world.term)

        return (yield from self._do(take, DatabaseFailure()))

    def _query(self) -> Generator[None, None, Event]:
        world = self.world
        if self._term < 0:
            return StandingBy()
        running, sent = world.running, world.sent  # one statement after another, as READ COMMITTED has it
        incarnation, is_new, formers = world.incarnation, world.is_new, world.formers
        yield
        ahead = tuple(range(sent + 1, min(sent + 3, world.recorded) + 1))
        self._rows = list(world.rows)
        yield

        def looked() -> Event:
            self._incarnation, self._formers, self._sent = incarnation, formers, sent
            recorded, arrived = world.recorded, self._rules.arrived
            of_arrived = Fingerprint(world.rows[arrived - 1]) if arrived and arrived <= recorded else None
            return DatabaseState(running, sent, recorded, ahead, str(incarnation), is_new, of_arrived)

        return (yield from self._do(looked, DatabaseFailure()))

    def _connect(self) -> Generator[None, None, Event]:
        world = self.world

        def take_up() -> Event:
            world.epoch += 1
            self._epoch = world.epoch
            self._must_renew = False
            return StoredOutcome()

        failed = KafkaFailure(Fault.TRANSITORY, "down")
        event = yield from self._do(take_up, failed)
        if event is failed:
            return event
        incarnation = self._connected_as = self._incarnation

        def connected() -> Event:
            if world.open is not None:
                if not self._has_lease():
                    return StandingBy()
                world.end_open()
            progress = world.progress(incarnation)
            self._has_progress = progress is not None
            progress = progress or self._former_progress()
            return (
                KafkaSessionStart(None)
                if progress is None
                else KafkaSessionStart(progress[0], Fingerprint(progress[1]))
            )

        return (yield from self._do(connected, failed))

    def _former_progress(self) -> tuple[int, int] | None:
        """Return the last transaction of former incarnations, if the database has the same one, and not marked."""
        found = self.world.progress(*self._formers)
        if found is None or not self._sent < found[0] <= self.world.recorded:
            return None
        return found if self.world.rows[found[0] - 1] == found[1] else None

    def _send(self, tx_id: int) -> Generator[None, None, Event]:
        world, name = self.world, self._rows[tx_id - 1]

        def commit() -> Event:
            if self._epoch != world.epoch:
                world.fenced_sends += 1
                return KafkaFailure(Fault.FENCED, "fenced")
            if world.open is not None:
                world.log.append(world.open)
                world.open = None
            if luck is StepOutcome.NO_MARKER:
                world.open = (self._connected_as, tx_id, name)
            else:
                world.log.append((self._connected_as, tx_id, name))
            self._has_progress = True
            return CommitAcknowledgement(tx_id, Fingerprint(name), self._must_renew)

        if self._must_renew:
            yield
            world.epoch += 1
            self._epoch = world.epoch
        luck = self._luck()
        self._must_renew = luck is StepOutcome.SLOW
        no_answer = KafkaFailure(Fault.TRANSITORY, "no answer", may_have_arrived=True)
        return (yield from self._do(commit, no_answer, luck))

    def _mark(self, decision: MarkSent) -> Generator[None, None, Event]:
        world, up_to = self.world, decision.up_to
        incarnation = self._connected_as

        def mark() -> Event:
            # As ``Queue.mark_sent`` does: not in another history of the database, nor in another incarnation.
            name = world.rows[up_to - 1] if up_to <= world.recorded else None
            is_same = decision.fingerprint is None or decision.fingerprint.recorded_ms == name
            if not self._may_mark():
                self._term = -1  # the loss of the lease is noticed
            elif is_same and incarnation == world.incarnation:
                if up_to > world.sent:
                    world.sent, world.is_new = up_to, not self._has_progress
                    world.formers = world.formers if world.is_new else []
                world.marked.append(world.sent)
            return StoredOutcome()

        return (yield from self._do(mark, DatabaseFailure()))

    def _suspend(self, decision: Suspend) -> Generator[None, None, Event]:
        world = self.world

        def suspend() -> Event:
            if world.owner == self.name and world.running:
                world.running = False
                world.suspensions += 1
                world.contradicted = decision.tx_id is None
            return WaitEnd()

        return (yield from self._do(suspend, DatabaseFailure()))
