"""The rounds in which versions of several partitions are made; why, says ``markers``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kafka_replica.records import Partition, Position
from kafka_replica.transactions.partitions import CommittedBatches, OpenBatches, PartitionState
from kafka_replica.transactions.producers import ProducerState, Verdict

_MOST_BUMPS = 10_000  # forgotten when there are more: that makes a hung transaction waited for at worst


class TransactionAssigner:
    """Decides what of several partitions is shown together.

    Args:
        tracks: the partitions.
    """

    def __init__(self, tracks: Mapping[Partition, PartitionState]) -> None:
        self.settled: list[CommittedBatches] = []  # belongs to the next version, and was not taken out yet
        self.later: list[CommittedBatches] = []  # for the next round
        self._tracks = tracks
        self._authors: dict[int, ProducerState] = {}  # by producer, of what is settled and in no version
        self._bumps: dict[int, int] = {}  # by producer, the last marker's epoch that was higher than its data's
        self._grown = False  # what was settled and not shown may depend on what a partition added holds
        self._target: Position | None = None
        self._second: Position | None = None  # asked for after the target
        self._third: Position | None = None  # asked for after the last rest was taken in
        self._has_rest = False

    @property
    def is_needed(self) -> bool:
        """Whether something was decided that is in no version."""
        return self._target is not None or bool(self.later or self._authors or self._grown)

    @property
    def wants_ends(self) -> bool:
        """Whether a round needs the ends to begin or to go on."""
        if self._target is None:
            return self.is_needed
        if self._has_rest:
            return self._third is None
        if self._second is not None:
            return False
        authors = self._authors.values()
        # Where epochs do not tell, the less is written between the two questions, the better.
        return any(not author.is_exact for author in authors) or (
            self._has_read(self._target) and any(author.is_late for author in authors)
        )

    @property
    def waits(self) -> bool:
        """Whether it waits for markers only."""
        return self._target is not None and self._has_read(self._target) and not self.wants_ends

    def grow(self, unshown: Mapping[int, tuple[int, bool]]) -> None:
        """There is one partition more; what was settled and not shown may have parts in it.

        Args:
            unshown: what was settled while there was one partition: the last marker of each producer.
        """
        self._grown = True
        self._give_up()
        for producer_id, (epoch, bumped) in unshown.items():
            self._note(producer_id, epoch, bumped=bumped)

    def note(self, decided: CommittedBatches, *, is_late: bool = False) -> None:
        """It is settled: its producer may have more that belongs to it."""
        self._note(decided.producer_id, decided.epoch, bumped=decided.bumped, is_late=is_late)

    def sort(self, decided: CommittedBatches, *, is_late: bool = True) -> None:
        """Puts what was decided into this round or the next."""
        self._remember(decided)
        if self._is_known(decided):
            self.settled.append(decided)
            self.note(decided)
        elif self._target is not None and decided.end <= self._target.get(decided.partition, 0):
            self.settled.append(decided)
            self.note(decided, is_late=is_late)
        else:
            decided.hold()
            self.later.append(decided)

    def answer(self, high: Position) -> None:
        """Begins a round, or goes on with the one under way."""
        if self._target is None:
            self._begin(high)
        elif self._has_rest:
            self._third = high
        else:
            self._second = high

    def advance(self) -> Position | None:
        """Takes in what turned out to belong to the round; its cut, if it has come to its end."""
        if self._target is None or not self._has_read(self._target):
            return None
        if self._authors:
            self._recall()
        if not self._can_judge():
            return None
        match self._judge(self._target):
            case Verdict.CLOSED:
                target = self._target
                self._give_up()
                self._authors.clear()
                return target
            case Verdict.UNCLEAR:
                self._give_up()
            case Verdict.RESTS:
                self._take_in_rests()
        return None

    # --- helpers ---

    def _begin(self, target: Position) -> None:
        self._target, self._grown = target, False
        for author in self._authors.values():
            author.begin()
        later, self.later = self.later, []
        for decided in later:
            self.sort(decided, is_late=False)

    def _give_up(self) -> None:
        self._target = self._second = self._third = None
        self._has_rest = False

    def _is_known(self, decided: CommittedBatches) -> bool:
        author = self._authors.get(decided.producer_id)
        return author is not None and author.knows(decided)

    def _note(self, producer_id: int, epoch: int, *, bumped: bool, is_late: bool = False) -> None:
        if producer_id < 0:
            return
        author = self._authors.get(producer_id)
        if author is None:
            author = self._authors[producer_id] = ProducerState()
        author.add(epoch, has_bump=bumped or self._bumps.get(producer_id) == epoch, is_late=is_late)

    def _remember(self, decided: CommittedBatches) -> None:
        """A marker without data does not tell whether its epoch was bumped; another one of that transaction may."""
        if decided.bumped:
            if len(self._bumps) > _MOST_BUMPS:
                self._bumps.clear()
            self._bumps[decided.producer_id] = decided.epoch

    def _recall(self) -> None:
        """Takes back what was put off before another part of it turned out to be in this round."""
        later, self.later = self.later, []
        for decided in later:
            self.sort(decided)

    def _take_in_rests(self) -> None:
        rests = {part for author in self._authors.values() for part in author.rest}
        later, self.later = self.later, []
        for decided in later:
            if decided.part in rests:
                self.settled.append(decided)
            else:
                self.later.append(decided)
        self._has_rest = True

    def _can_judge(self) -> bool:
        """Whether all was asked and read that the verdict is made of."""
        if self._second is None:
            return not any(author.is_late for author in self._authors.values())
        if not self._has_read(self._second):
            return False
        return not self._has_rest or (self._third is not None and self._has_read(self._third))

    def _judge(self, target: Position) -> Verdict:
        """What is to be done with all that is open or put off."""
        verdicts = {self._judge_one(author, parts, target) for author, parts in self._parts_of_authors()}
        for verdict in (Verdict.UNCLEAR, Verdict.WAITS, Verdict.RESTS):
            if verdict in verdicts:
                return verdict
        return Verdict.CLOSED

    def _judge_one(self, author: ProducerState, parts: list[OpenBatches], target: Position) -> Verdict:
        if self._third is None or self._second is None:
            return author.judge(parts, target, self._second)
        if author.rest:
            return author.judge_rest(parts, self._second, self._third)
        return Verdict.CLOSED  # as it was before the others' rests were taken in

    def _parts_of_authors(self) -> Iterator[tuple[ProducerState, list[OpenBatches]]]:
        """What has no marker below the target and may belong to the round all the same, by author."""
        found: dict[int, list[OpenBatches]] = {}
        for part in self._parts():
            author = self._authors.get(part.producer_id)
            if author is not None and author.may_own(part):
                found.setdefault(part.producer_id, []).append(part)
        return ((self._authors[producer_id], parts) for producer_id, parts in found.items())

    def _parts(self) -> Iterator[OpenBatches]:
        for track in self._tracks.values():
            yield from track.open.values()
        for decided in self.later:
            if decided.part is not None and not decided.bumped:
                yield decided.part

    def _has_read(self, position: Position) -> bool:
        tracks = self._tracks
        return all(
            partition in tracks and tracks[partition].position >= offset for partition, offset in position.items()
        )
