"""The rounds in which versions of several partitions are made; see ``marker_detector`` for the reasons."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches, PartitionState
from kafka_replica.transactions.producer_epochs import ProducerState, Verdict

_MOST_BUMPS = 10_000  # beyond this number, all are forgotten; the worst effect is waiting for a hung transaction


class TransactionAssigner:
    """Assigns committed batches of several partitions to versions, so that each transaction is shown as a whole.

    Args:
        states: the states of the partitions.
    """

    def __init__(self, states: Mapping[Partition, PartitionState]) -> None:
        self.assigned: list[CommittedBatches] = []  # assigned to the next version, but not fetched by the detector yet
        self.later: list[CommittedBatches] = []  # for the next round
        self._states = states
        self._producers: dict[int, ProducerState] = {}  # by producer id: producers of assigned batches in no version
        self._bumps: dict[int, tuple[int, bool]] = {}  # by producer id: an epoch of its markers, and if it was bumped
        self._grown = False  # true if assigned batches not shown yet may depend on records of an added partition
        self._target: Position | None = None
        self._second: Position | None = None  # requested after the target
        self._third: Position | None = None  # requested after the rests were assigned
        self._has_rest = False

    @property
    def is_needed(self) -> bool:
        """True if committed batches exist that are in no version yet."""
        return self._target is not None or bool(self.later or self._producers or self._grown)

    @property
    def needs_ends(self) -> bool:
        """True if a round needs the ends of the partitions to begin or to continue."""
        if self._target is None:
            return self.is_needed
        if self._has_rest:
            return self._third is None
        if self._second is not None:
            return False
        producers = self._producers.values()
        # If epochs cannot distinguish transactions, as little as possible should be written between the two requests.
        return any(not producer.is_exact for producer in producers) or (
            self._has_read(self._target) and any(producer.is_late for producer in producers)
        )

    @property
    def waits(self) -> bool:
        """True if the round waits for markers only."""
        return self._target is not None and self._has_read(self._target) and not self.needs_ends

    def grow(self, unshown: Mapping[int, tuple[int, bool]]) -> None:
        """Note that a partition was added; it may hold other parts of transactions that are not shown yet.

        Args:
            unshown: the epoch of the last marker of each producer id whose batches were assigned while there was
                one partition, and whether KIP-890 bumped it.
        """
        self._grown = True
        self._give_up()
        for producer_id, (epoch, bumped) in unshown.items():
            self._note(producer_id, epoch, bumped=bumped)

    def note(self, commit: CommittedBatches, *, is_late: bool = False) -> None:
        """Note that batches are in the next version: other parts of their producers' transactions may belong to it."""
        self._note(commit.producer_id, commit.epoch, bumped=commit.bumped, is_late=is_late)

    def sort(self, commit: CommittedBatches, *, is_late: bool = True) -> None:
        """Assign committed batches to this round or to the next one."""
        self._remember(commit)
        producer = self._producers.get(commit.producer_id)
        if producer is not None and producer.knows(commit):
            self.assigned.append(commit)
            producer.add_known(commit)
        elif self._target is not None and commit.end <= self._target.get(commit.partition, 0):
            self.assigned.append(commit)
            self.note(commit, is_late=is_late)
        else:
            commit.hold()
            self.later.append(commit)

    def take_ends(self, high: Position) -> None:
        """Begin a round with these ends, or continue the current one."""
        if self._target is None:
            self._begin(high)
        elif self._has_rest:
            self._third = high
        else:
            self._second = high

    def advance(self) -> Position | None:
        """Assign batches that belong to the round; if the round is complete, return the position of the version."""
        if self._target is None or not self._has_read(self._target):
            return None
        if self._producers:
            self._reassign_postponed()
        if not self._can_judge():
            return None
        match self._judge(self._target):
            case Verdict.CLOSED:
                target = self._target
                self._give_up()
                self._producers.clear()
                return target
            case Verdict.UNCLEAR:
                self._give_up()
            case Verdict.RESTS:
                self._include_rests()
        return None

    # --- helpers ---

    def _begin(self, target: Position) -> None:
        self._target, self._grown = target, False
        for producer in self._producers.values():
            producer.begin()
        later, self.later = self.later, []
        for commit in later:
            self.sort(commit, is_late=False)

    def _give_up(self) -> None:
        self._target = self._second = self._third = None
        self._has_rest = False

    def _note(self, producer_id: int, epoch: int, *, bumped: bool, is_late: bool = False) -> None:
        if producer_id < 0:
            return
        producer = self._producers.get(producer_id)
        if producer is None:
            producer = self._producers[producer_id] = ProducerState()
        producer.add(epoch, has_bump=bumped or self._bumps.get(producer_id) == (epoch, True), is_late=is_late)

    def _remember(self, commit: CommittedBatches) -> None:
        """Remember whether an epoch is bumped: a marker without records does not show this, but another marker may.

        A marker with the epoch of its records proves that KIP-890 did not bump this epoch. Then a lower epoch of other
        records was left by a transaction to which Kafka gave no marker, and proves nothing: records of the marker's own
        transaction were compacted away, or there were none.
        """
        if commit.unbumped:
            self._bumps[commit.producer_id] = commit.epoch, False
            if commit.producer_id in self._producers:
                self._producers[commit.producer_id].is_not_bumped(commit.epoch)
        elif commit.bumped:
            epoch, is_bumped = self._bumps.get(commit.producer_id, (None, True))
            if epoch == commit.epoch:
                commit.bumped = is_bumped
            else:
                self._bumps[commit.producer_id] = commit.epoch, True
        if len(self._bumps) > _MOST_BUMPS:
            self._bumps.clear()

    def _reassign_postponed(self) -> None:
        """Reassign postponed batches if another part of their transaction turned out to be in this round."""
        later, self.later = self.later, []
        for commit in later:
            self.sort(commit)

    def _include_rests(self) -> None:
        rests = {part for producer in self._producers.values() for part in producer.rest}
        later, self.later = self.later, []
        for commit in later:
            if commit.part in rests:
                self.assigned.append(commit)
            else:
                self.later.append(commit)
        self._has_rest = True

    def _can_judge(self) -> bool:
        """Return whether all that the verdict requires was requested and read."""
        if self._second is None:
            return not any(producer.is_late for producer in self._producers.values())
        if not self._has_read(self._second):
            return False
        return not self._has_rest or (self._third is not None and self._has_read(self._third))

    def _judge(self, target: Position) -> Verdict:
        """Return the verdict on all parts that are open or postponed."""
        verdicts = {self._judge_one(producer, parts, target) for producer, parts in self._batches_of_producers()}
        for verdict in (Verdict.UNCLEAR, Verdict.WAITS, Verdict.RESTS):
            if verdict in verdicts:
                return verdict
        return Verdict.CLOSED

    def _judge_one(self, producer: ProducerState, parts: list[OpenBatches], target: Position) -> Verdict:
        if self._third is None or self._second is None:
            return producer.judge(parts, target, self._second)
        if producer.rest:
            return producer.judge_rest(parts, self._second, self._third)
        return Verdict.CLOSED  # the verdict did not change when the rests of other producers were assigned

    def _batches_of_producers(self) -> Iterator[tuple[ProducerState, list[OpenBatches]]]:
        """Return, by producer, the parts without a marker below the target that may still belong to the round."""
        found: dict[int, list[OpenBatches]] = {}
        for part in self._parts():
            producer = self._producers.get(part.producer_id)
            if producer is not None and producer.may_own(part):
                found.setdefault(part.producer_id, []).append(part)
        return ((self._producers[producer_id], parts) for producer_id, parts in found.items())

    def _parts(self) -> Iterator[OpenBatches]:
        for state in self._states.values():
            yield from state.open.values()
        for commit in self.later:
            if commit.part is not None and not commit.bumped:
                yield commit.part

    def _has_read(self, position: Position) -> bool:
        states = self._states
        return all(
            partition in states and states[partition].position >= offset for partition, offset in position.items()
        )
