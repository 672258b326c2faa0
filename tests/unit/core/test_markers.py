"""The marker detector as a state machine; ``test_every_history`` and ``test_long_histories`` drive it further."""

from __future__ import annotations

import pytest

from kafka_replica import KeyFilter, Partition, Position, Record
from kafka_replica.testing import FakeTopic
from kafka_replica.transactions import Batch, CommittedRecords, ConsistentPoint, Ends, Kind, MarkerDetector, Reading
from support.core.log_model import P0, P1, Cluster
from support.core.model_source import ModelContent
from support.waiting import wait_until


class Steps:
    """A detector and its output as text: records as they are committed, ``|`` and the position for a point."""

    def __init__(self, *partitions: Partition) -> None:
        self.rule = MarkerDetector()
        self.positions = dict.fromkeys(partitions, 0)
        for partition in partitions:
            self.rule.add(partition, 0)

    def take(self, *batches: Batch, every_point: bool = True) -> list[str]:
        """Process a reading, and return the output."""
        for batch in batches:
            self.positions[batch.partition] = batch.end
        reading = Reading(list(batches), Position(self.positions), Position())
        return self._described(self.rule.take(reading, every_point=every_point))

    def answer(self, *offsets: int) -> list[str]:
        """Answer with the ends of all partitions, and return the output."""
        ends = Position(dict(zip(self.positions, offsets, strict=True)))
        return self._described(self.rule.take_ends(Ends(ends, ends)))

    def needs_ends(self) -> bool:
        """Return whether the rule asks for the ends of partitions now."""
        return self.rule.needs_ends

    def _described(self, steps: list[CommittedRecords | ConsistentPoint]) -> list[str]:
        applied_steps = []
        for step in steps:
            if isinstance(step, CommittedRecords):
                applied_steps += [record[0].decode() for batch in step.batches for record in batch.content.records()]
            else:
                offsets = ",".join(str(offset) for offset in step.position.values())
                open_ = "".join(f" open {o.partition.partition}@{o.first_offset}" for o in step.position.open)
                applied_steps.append(f"| {offsets} of {step.transactions}{open_}")
        return applied_steps


def data(key: str, offset: int, producer: int = 1, epoch: int = 0, partition: Partition = P0) -> Batch:
    """Return a record of a transaction."""
    content = ModelContent([Record(key.encode(), b"v", offset, 0, (), partition)], lambda: True)
    return Batch(partition, Kind.DATA, offset, offset + 1, 1, producer, epoch, content)


def plain(key: str, offset: int, partition: Partition = P0) -> Batch:
    """Return a record outside transactions."""
    return data(key, offset, -1, -1, partition)._replace(kind=Kind.PLAIN)


def marker(
    offset: int, producer: int = 1, epoch: int = 1, partition: Partition = P0, kind: Kind = Kind.COMMIT
) -> Batch:
    """Return the end of a transaction."""
    return Batch(partition, kind, offset, offset + 1, 0, producer, epoch, ModelContent([], lambda: True))


def test_each_transaction_of_one_partition_makes_a_version() -> None:
    """Two transactions in one reading give a version each, in the order of their markers; open ones are named."""
    rule = Steps(P0)
    applied_steps = rule.take(data("a", 0), data("b", 1, 2), marker(2, 2), data("c", 3), marker(4))
    assert applied_steps == ["b", "| 3 of 1 open 0@0", "a", "c", "| 5 of 1"]


def test_transactions_before_the_barrier_make_one_version() -> None:
    """A reading of which only the last point is wanted gives that point, which counts all transactions."""
    rule = Steps(P0)
    applied_steps = rule.take(data("a", 0), data("b", 1, 2), marker(2, 2), marker(3), every_point=False)
    assert applied_steps == ["b", "a", "| 4 of 2"]


def test_aborted_records_are_in_no_version() -> None:
    """Records before an abort marker are discarded, and the position moves past them."""
    rule = Steps(P0)
    assert rule.take(data("a", 0)) == ["| 1 of 0 open 0@0"]
    assert rule.rule.held_records == 1
    assert rule.take(marker(1, kind=Kind.ABORT)) == ["| 2 of 0"]
    assert rule.rule.held_records == 0


def test_a_record_outside_transactions_counts_when_read() -> None:
    """A record outside transactions counts when read, is not a transaction, and does not wait for an open one."""
    assert Steps(P0).take(data("a", 0), plain("p", 1)) == ["p", "| 2 of 0 open 0@0"]


def test_a_position_names_the_open_transaction_as_it_was() -> None:
    """A position does not change afterwards: later records do not join the open transaction that it names."""
    rule = MarkerDetector()
    rule.add(P0, 0)
    (point,) = rule.take(Reading([data("a", 0)], Position({P0: 1}), Position()), every_point=True)
    rule.take(Reading([plain("p", 1), data("b", 2)], Position({P0: 3}), Position()), every_point=True)
    assert isinstance(point, ConsistentPoint)
    (open_,) = point.position.open
    assert [offset for offset in range(4) if open_.holds(offset)] == [0]


def test_a_transaction_of_two_partitions_waits_for_both_markers() -> None:
    """The first marker decides the transaction and requests the ends; the version needs both markers."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("a", 0), data("b", 0, partition=P1))
    assert not rule.needs_ends()
    rule.take(marker(1))
    assert rule.needs_ends()
    assert [step for step in rule.answer(2, 1) if step.startswith("|")] == []
    assert rule.rule.waits_for_open_transactions
    applied_steps = rule.take(marker(1, partition=P1))
    assert applied_steps == ["b", "| 2,1 of 1"]
    assert not rule.rule.waits_for_open_transactions


def test_an_epoch_later_is_another_transaction() -> None:
    """With the epoch bump the next transaction of the same producer is not waited for, and is named as open."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("a", 0), marker(1), data("b", 0, epoch=1, partition=P1))
    assert rule.answer(2, 1) == ["a", "| 2,1 of 1 open 1@0"]


def _begun_by_an_old_producer() -> Steps:
    """Return a state without the epoch bump: one partition has the end of a transaction, the other an open one."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("a", 0), marker(1, epoch=0), data("b", 0, partition=P1))
    assert rule.needs_ends()
    assert rule.answer(2, 1) == ["a"]
    assert rule.needs_ends(), "the epoch does not tell, so the ends are asked for again"
    assert rule.answer(2, 1) == []
    assert rule.rule.waits_for_open_transactions
    return rule


def test_further_records_of_an_old_producer_are_its_next_transaction() -> None:
    """Further records of an old producer are its next transaction: earlier ones were acknowledged before the marker."""
    rule = _begun_by_an_old_producer()
    assert rule.take(data("c", 1, partition=P1)) == ["| 2,1 of 1 open 1@0"]


def test_records_beyond_the_target_are_the_next_transaction() -> None:
    """A version holds only what lies below its position, also if a reader returns these records as one batch."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("a", 0), marker(1, epoch=0), data("b", 0, partition=P1)._replace(end=2))
    assert rule.answer(2, 1) == ["a", "| 2,1 of 1 open 1@0"]


def test_complete_open_records_of_an_old_producer_are_included() -> None:
    """Open records of an old producer are included if complete: what they depend on is below the target.

    They are the rest of the transaction or the next one; both are whole.
    """
    rule = _begun_by_an_old_producer()
    assert rule.take(marker(1, epoch=0, partition=P1)) == ["b"]
    assert rule.needs_ends()
    assert rule.answer(2, 2) == ["| 2,1 of 1"]


def test_an_ambiguous_record_requests_the_ends_again() -> None:
    """The ends are requested again for a third record that may belong to the second's transaction."""
    rule = _begun_by_an_old_producer()
    rule.take(data("c", 2), marker(1, epoch=0, partition=P1), marker(3, epoch=0))
    assert rule.needs_ends()
    assert rule.answer(4, 2) == []
    assert rule.needs_ends()
    assert rule.answer(4, 2) == ["c", "| 4,2 of 2"]


def test_an_epoch_bump_needs_one_request() -> None:
    """With the epoch bump the parts of a transaction are identified by the epoch, so one request suffices."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("a", 0), marker(1), data("b", 0, partition=P1), marker(1, partition=P1))
    assert rule.needs_ends()
    assert rule.answer(2, 2) == ["a", "b", "| 2,2 of 1"]
    assert not rule.needs_ends()


@pytest.mark.parametrize("order", [(P0, P1), (P1, P0)], ids=["proof first", "proof last"])
def test_a_record_without_a_marker_is_not_an_epoch_bump(order: tuple[Partition, Partition]) -> None:
    """A record of an older epoch that got no marker does not make an old producer one that bumps its epoch.

    Seen on a broker that was killed: a transaction got no marker in one partition; a later one did, and its own records
    there were compacted away. From then on parts of transactions were shown.
    """
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("left", 0, epoch=0, partition=P1), data("a", 0, epoch=1))
    rule.take(*(marker(1, epoch=1, partition=partition) for partition in order))
    while rule.needs_ends():
        rule.answer(2, 2)
    applied_steps = rule.take(data("b", 2, epoch=1), data("c", 2, epoch=1, partition=P1), marker(3, epoch=1))
    while rule.needs_ends():
        applied_steps += rule.answer(4, 3)
    assert [step for step in applied_steps if step.startswith("|")] == [], (
        "the other part of the transaction has no marker yet"
    )
    applied_steps += rule.take(marker(3, epoch=1, partition=P1))
    while rule.needs_ends():
        applied_steps += rule.answer(4, 4)
    assert applied_steps[:2] == ["b", "c"]
    assert applied_steps[2] in {"| 4,3 of 1", "| 4,4 of 1"}


def test_an_epoch_that_is_two_higher_is_no_bump() -> None:
    """The bump adds one; a marker two epochs above a record is another transaction's."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("left", 0, epoch=0, partition=P1), marker(1, epoch=2, partition=P1), data("b", 0, epoch=2))
    assert rule.answer(1, 2) == ["left"]
    assert rule.needs_ends(), "the epoch does not tell, so the ends are asked for again"


def test_a_batch_or_position_below_the_last_one_raises() -> None:
    """A batch or position below what was read would show an older state: the detector raises."""
    rule = Steps(P0)
    rule.take(plain("a", 4))
    with pytest.raises(ValueError, match="offset 3 is below the position 5"):
        rule.take(plain("b", 3))
    with pytest.raises(ValueError, match="went back from 5 to 2"):
        rule.rule.take(Reading([], Position({P0: 2}), Position()), every_point=True)


def test_transactions_are_counted_once_over_partitions() -> None:
    """Two transactions, one of them with two markers, are counted as two."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    rule.take(data("a", 0), data("b", 0, partition=P1), marker(1), marker(1, partition=P1))
    rule.take(data("c", 2, 2), marker(3, 2))
    assert rule.answer(4, 2)[-1] == "| 4,2 of 2"


def test_transactions_whose_epochs_do_not_differ_are_counted_by_their_markers() -> None:
    """Two transactions of one epoch, each in both partitions, and one of another producer are counted as three."""
    rule = Steps(P0, P1)
    rule.answer(0, 0)
    both = [data("a", 0), data("b", 0, partition=P1), marker(1, epoch=0), marker(1, epoch=0, partition=P1)]
    again = [data("a", 2), data("b", 2, partition=P1), marker(3, epoch=0), marker(3, epoch=0, partition=P1)]
    rule.take(*both, *again, data("c", 4, 2), marker(5, 2, epoch=0))
    steps = [*rule.answer(6, 4), *rule.answer(6, 4)]
    assert next(step for step in steps if step.startswith("|")) == "| 6,4 of 3"


def test_a_marker_with_records_shows_that_the_epoch_of_one_without_is_exact() -> None:
    """The records of the first marker were compacted away; the second was bumped: the ends are not requested again."""
    rule = Steps(P0, P1)
    rule.take(marker(0))
    rule.answer(2, 2)  # the first partition is not read to its end
    assert rule.needs_ends()
    rule.take(data("b", 0, partition=P1), marker(1, partition=P1))
    assert not rule.needs_ends()


def test_a_marker_without_a_bump_shows_that_its_epoch_is_not_exact() -> None:
    """Records of a lower epoch before another marker of this epoch prove nothing: the ends are requested again."""
    rule = Steps(P0, P1)
    rule.take(data("a", 0, epoch=1), marker(1), data("b", 0, partition=P1), marker(1, partition=P1))
    rule.answer(3, 2)
    assert rule.needs_ends()


def test_the_model_reproduces_the_measured_offsets() -> None:
    """The model reproduces fact 2: with A around B's first record the last stable offset lies in the middle of A."""
    cluster = Cluster()
    cluster.write(1, P0, ("a", "1"))
    cluster.write(2, P0, ("b", "1"))
    cluster.write(1, P0, ("c", "1"))
    cluster.end(1)
    assert (cluster.stable(P0), cluster.logs[P0].end) == (1, 4)
    assert [batch.epoch for batch in cluster.logs[P0].written] == [0, 0, 0, 1]


@pytest.mark.thorough
def test_markers_of_producers_whose_records_are_filtered_out_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """No version is made, but the position is shown: memory does not grow with the number of producers."""
    made: list[MarkerDetector] = []

    class NotedDetector(MarkerDetector):
        def __init__(self) -> None:
            super().__init__()
            made.append(self)

    monkeypatch.setattr("kafka_replica.testing.fake_replica.MarkerDetector", NotedDetector)
    topic = FakeTopic()
    with topic.replica(key_filter=KeyFilter.prefix("never")) as replica:
        replica.wait_ready(60)
        for number in range(20):
            with topic.producer(f"id{number}").transaction() as transaction:
                transaction.put("k", b"v")
        assert replica.wait_for(topic.end(), 60).version == 1
        wait_until(lambda: not made[0]._unshown, "the partitions were listed", 60)
