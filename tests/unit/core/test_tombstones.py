"""Deletions that may have been removed before they were read: the rule, against a model of Kafka's log cleaner."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kafka_replica import Partition
from kafka_replica.common.clock import Instant, now
from kafka_replica.replication.tombstone_retention import DEFAULT_RETENTION_S, TombstoneCheck
from support.core.cleaner_model import BROKERS, PARTITIONS, TOPIC, Reader, World, WrongKeysError
from support.effort import examples

P, Q = PARTITIONS


class FirstReadsAreExempt(TombstoneCheck):
    """The rule without the age of a first read."""

    def note_gap(self, partition: Partition, now: Instant) -> None:
        """Ignore gaps of first reads."""
        if not self._read_coverage.spans[partition].is_first:
            super().note_gap(partition, now)


class MovesAreIgnored(TombstoneCheck):
    """The rule without leader changes."""

    def move(self, partition: Partition) -> None:
        """Do nothing."""


def rule() -> TombstoneCheck:
    """Return the unchanged rule, without a minimum age."""
    return TombstoneCheck(None, 0)


# --- all histories ---

SECONDS = st.sampled_from([0.5, 1.0, 3.0, 10.0])
OPERATIONS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(PARTITIONS), st.sampled_from("abc")),
    st.tuples(st.just("delete"), st.sampled_from(PARTITIONS), st.sampled_from("abc")),
    st.tuples(st.just("clean"), st.sampled_from(BROKERS), st.sampled_from(PARTITIONS)),
    st.tuples(st.just("wait"), SECONDS),
    st.tuples(st.just("retain"), st.sampled_from([1.0, 5.0, 20.0])),
    st.tuples(st.just("lead"), st.sampled_from(PARTITIONS), st.sampled_from(BROKERS)),
    st.tuples(st.just("fetch"), st.sampled_from(PARTITIONS), st.integers(1, 3)),
    st.tuples(st.just("take"), st.sampled_from(PARTITIONS)),
    st.tuples(st.just("ask"), st.sampled_from([0.0, 0.5, 3.0])),
    st.tuples(st.just("tell")),
    st.tuples(st.just("show"), st.sampled_from([0.0, 0.5, 3.0])),
    st.tuples(st.just("restart")),
    st.tuples(st.just("set_wall_clock"), st.sampled_from([-1000.0, 0.0, 1000.0])),
    st.tuples(st.just("freeze"), SECONDS),
)


class HistoryPlayer:
    """A player of histories."""

    def __init__(self, retention_s: float, make_rule: Any = rule) -> None:
        self.world = World(retention_s)
        self.reader = Reader(self.world, make_rule)

    def run(self, *operations: tuple[Any, ...]) -> Reader:
        """Run all operations, and show the final content."""
        for name, *arguments in operations:
            getattr(self, f"_{name}")(*arguments)
        self.reader.show()
        return self.reader

    def _put(self, partition: Partition, key: str) -> None:
        self.world.append(partition, key, is_tombstone=False)

    def _delete(self, partition: Partition, key: str) -> None:
        self.world.append(partition, key, is_tombstone=True)

    def _clean(self, broker: int, partition: Partition) -> None:
        self.world.clean(broker, partition)

    def _wait(self, seconds: float) -> None:
        self.world.time_s += seconds

    def _retain(self, seconds: float) -> None:
        if seconds > self.world.retention_s:
            self.reader.tell()  # the model has no value that was not requested while it existed
        self.world.retention_s = seconds

    def _lead(self, partition: Partition, broker: int) -> None:
        self.world.leaders[partition] = broker

    def _fetch(self, partition: Partition, count: int) -> None:
        self.reader.fetch(partition, count)

    def _take(self, partition: Partition) -> None:
        self.reader.take(partition)

    def _ask(self, lag_s: float) -> None:
        self.reader.ask(lag_s)

    def _tell(self) -> None:
        self.reader.tell()

    def _show(self, lag_s: float) -> None:
        self.reader.show(lag_s)

    def _restart(self) -> None:
        self.reader.begin()

    def _set_wall_clock(self, offset_s: float) -> None:
        self.world.wall_offset_s = offset_s

    def _freeze(self, seconds: float) -> None:
        self.world.time_s += seconds
        self.world.frozen_s += seconds


@pytest.mark.thorough
@settings(max_examples=examples(600), deadline=None)
@given(st.sampled_from([1.0, 5.0]), st.lists(OPERATIONS, max_size=60))
def test_no_history_shows_a_ghost(retention_s: float, operations: list[tuple[Any, ...]]) -> None:
    """Whatever is cleaned, paused, restarted, moved or reconfigured meanwhile, no deleted key is shown."""
    HistoryPlayer(retention_s).run(*operations)


HARMLESS = OPERATIONS.filter(lambda operation: operation[0] not in {"retain", "lead", "set_wall_clock"})


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(HARMLESS, max_size=60))
def test_a_reader_within_the_retention_never_begins_again(operations: list[tuple[Any, ...]]) -> None:
    """A history no longer than the retention of tombstones causes no rebuild: its gaps are harmless."""
    assert HistoryPlayer(DEFAULT_RETENTION_S).run(*operations).rebuilds == 0


# --- purpose of the rule ---

INTERRUPTED: list[tuple[Any, ...]] = [
    ("fetch", P, 2), ("take", P), ("delete", P, "a"), ("put", P, "b"), ("clean", 0, P), ("wait", 10.0), ("clean", 0, P),
]  # fmt: skip
LATE = [("put", P, "a"), ("put", P, "b"), ("put", P, "c"), ("restart",), *INTERRUPTED]


def test_a_first_read_that_is_interrupted_for_longer_than_the_retention_begins_again() -> None:
    """A first read that was interrupted for too long starts again: the tombstone was removed before it was read.

    Without the rule the key would never disappear.
    """
    assert HistoryPlayer(1.0).run(*LATE).rebuilds == 1
    with pytest.raises(WrongKeysError):
        HistoryPlayer(1.0, lambda: FirstReadsAreExempt(None, 0)).run(*LATE)


def test_a_rebuild_that_is_interrupted_begins_again() -> None:
    """A rebuild that is interrupted starts again: its age counts from its own beginning."""
    history = [*LATE, ("put", P, "a"), ("put", P, "c"), ("show", 0.0), *INTERRUPTED]
    assert HistoryPlayer(1.0).run(*history).rebuilds == 2


def test_a_deletion_that_another_broker_has_removed_earlier() -> None:
    """A tombstone that the next leader removed earlier leads to a rebuild: the first leader still had the key."""
    history = [
        ("put", P, "deleted"), ("delete", P, "deleted"), ("put", P, "kept"), ("clean", 1, P), ("wait", 10.0),
        ("clean", 1, P), ("restart",), ("fetch", P, 1), ("take", P), ("lead", P, 1),
    ]  # fmt: skip
    assert HistoryPlayer(1.0).run(*history).rebuilds == 1
    with pytest.raises(WrongKeysError):
        HistoryPlayer(1.0, lambda: MovesAreIgnored(None, 0)).run(*history)


def test_each_partition_has_its_own_tombstone_age() -> None:
    """Each partition has its own age: reading one to its end says nothing about another."""
    tombstones = TombstoneCheck(None, 0)
    tombstones.begin(Instant(0, 0.0), PARTITIONS)
    tombstones.set_retentions({TOPIC: 10.0})
    tombstones.note_ends(Instant(9_000, 9.0), {P: 5, Q: 5})
    tombstones.read({P: 5, Q: 4})
    tombstones.note_gap(P, Instant(12_000, 12.0))
    assert tombstones.late() is None
    tombstones.note_gap(Q, Instant(12_000, 12.0))
    tombstones.set_retentions({TOPIC: 10.0})
    late = tombstones.late()
    assert late is not None
    assert (late.partition, late.age_s, late.is_first) == (Q, 12.0, True)


def test_reading_is_complete_only_at_the_requested_ends() -> None:
    """Reading is complete only when it reaches the requested ends; its age counts from the request."""
    tombstones = TombstoneCheck(None, 0)
    tombstones.resume(Instant(0, 0.0), [P], {})

    def age_s() -> float:
        return tombstones._read_coverage.spans[P].age_s(Instant(9_000, 9.0))

    tombstones.read({P: 10})
    assert age_s() == 9
    tombstones.note_ends(Instant(1_000, 1.0), {P: 10})
    tombstones.note_ends(Instant(2_000, 2.0), {P: 20})  # the earlier request is completed first
    tombstones.read({P: 9})
    assert age_s() == 9
    tombstones.read({P: 10})
    assert age_s() == 8
    tombstones.read({P: 30})
    assert age_s() == 8
    tombstones.note_ends(Instant(3_000, 3.0), {P: 30})
    tombstones.read({P: 30})
    assert age_s() == 6


def test_the_saved_age_belongs_to_the_position_shown() -> None:
    """The saved age belongs to the position shown, not to the position read.

    A deletion that was read and not shown is read again after a restart, and must still be there then.
    """
    tombstones = TombstoneCheck(None, 0)
    tombstones.begin(Instant(500, 0.5), [P])
    assert tombstones.resume_values()[0] == 0, "nothing is certain while a first read is under way"
    tombstones.note_ends(Instant(1_000, 1.0), {P: 10})
    tombstones.read({P: 20})
    tombstones.show({P: 9})
    assert tombstones.resume_values()[0] == 0
    tombstones.show({P: 10})
    tombstones.set_retentions({TOPIC: 7.0})
    assert tombstones.resume_values() == (1_000, {TOPIC: 7.0})


@pytest.mark.parametrize(
    ("given_s", "reported_s", "age_s", "least_s", "is_late"),
    [
        (None, 100.0, 50, 0, False),
        (None, 100.0, 200, 0, True),
        (None, None, 80_000, 0, False),  # the topic's settings may not be read: Kafka's default, a day
        (None, None, 90_000, 0, True),
        (10.0, 100.0, 50, 0, True),  # the user's setting takes precedence
        (1000.0, 100.0, 500, 0, False),
        (0.0, None, 2, 3, False),
        (0.0, None, 4, 3, True),
    ],
)
@pytest.mark.parametrize("is_first", [True, False])
def test_for_how_long(
    given_s: float | None, reported_s: float | None, age_s: int, least_s: float, *, is_late: bool, is_first: bool
) -> None:
    """A read is late if it took longer than tombstones are kept and an offset is missing."""
    tombstones = TombstoneCheck(given_s, least_s)
    begin, read = Instant(0, 0.0), Instant(age_s * 1000, age_s)
    if is_first:
        tombstones.begin(begin, [P])
    else:
        tombstones.resume(begin, [P], {})
    assert tombstones.late() is None
    tombstones.note_gap(P, read)
    assert tombstones.needs_retentions is (given_s is None)
    if given_s is None:
        tombstones.set_retentions({} if reported_s is None else {TOPIC: reported_s})
    assert (tombstones.late() is not None) is is_late
    tombstones.forgive()
    assert tombstones.late() is None


# --- time ---


def test_the_longer_of_two_clocks_counts() -> None:
    """The clock with the longer time counts: wall clocks are set back, computers suspended, virtual machines paused."""
    begin = Instant(1_000_000, 50.0)
    assert begin.age_s(Instant(1_005_000, 55.0)) == 5
    assert begin.age_s(Instant(990_000, 55.0)) == 5
    assert begin.age_s(Instant(1_500_000, 51.0)) == 500
    assert Instant(1_000_000).age_s(Instant(1_500_000, 7.0)) == 500
    assert Instant(1_000_000).age_s(Instant(900_000, 7.0)) == math.inf, "nobody knows how long ago that was"


def test_both_clocks_advance() -> None:
    """An instant has a time of the wall clock and one of the monotonic clock, and its age is not negative."""
    first, second = now(), now()
    assert 0 <= first.age_s(second) < 3600
    assert first.counted_s is not None


def test_a_partition_that_is_not_read_yet_may_change_its_leader() -> None:
    """The leaders of an added partition are known before it is read."""
    rule = TombstoneCheck(60.0, 0.0)
    rule.begin(now(), [Partition("t", 0)])
    rule.move(Partition("t", 1))
    assert rule.late() is None
