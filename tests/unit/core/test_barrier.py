"""The barrier as a state machine: what may be shown, and from where on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Partition, Position
from kafka_replica.transactions.barrier import Barrier

P0, P1 = Partition("t", 0), Partition("t", 1)


def test_an_empty_topic_is_ready_at_once() -> None:
    """A barrier at 0 is passed by the first point, at 0; so is one of a topic without partitions."""
    for ends in (Position({P0: 0}), Position()):
        barrier = Barrier(ends)
        assert not barrier.passed
        assert barrier.admits(ends)
        assert barrier.passed


def test_nothing_below_the_ends_is_shown() -> None:
    """Points below the high watermarks do not pass, nor does a look whether one would; the one at them does."""
    barrier = Barrier(Position({P0: 10}))
    assert not barrier.admits(Position({P0: 9}))
    assert barrier.would_admit(Position({P0: 10}))
    assert not barrier.passed
    assert barrier.admits(Position({P0: 10}))
    assert barrier.passed


def test_every_partition_counts() -> None:
    """One partition that is not there yet holds the barrier, and is named with what is missing of it."""
    barrier = Barrier(Position({P0: 2, P1: 2}))
    assert not barrier.admits(Position({P0: 5, P1: 1}))
    assert not barrier.admits(Position({P0: 5}))
    assert barrier.admits(Position({P0: 5, P1: 2}))


def test_a_hole_stops_everything_until_the_ends_are_known_and_read() -> None:
    """After a hole not even a far point passes; after the answer those do that have come to these ends."""
    barrier = Barrier(Position({P0: 2, P1: 2}))
    assert barrier.admits(Position({P0: 3, P1: 3}))
    barrier.gap()
    assert barrier.wants_ends
    assert not barrier.admits(Position({P0: 99, P1: 99}))
    assert barrier.would_admit(Position({P0: 99, P1: 99}))
    barrier.answer(Position({P0: 3, P1: 8}))
    assert not barrier.wants_ends
    assert not barrier.admits(Position({P0: 3, P1: 7}))  # what took a record of P0 may be in P1
    assert barrier.admits(Position({P0: 3, P1: 8}))


def test_an_answer_that_nobody_asked_for_changes_nothing() -> None:
    """Without a hole a reader that lags shows what is whole: the ends do not hold it."""
    barrier = Barrier(Position({P0: 2}))
    barrier.answer(Position({P0: 50}))
    assert barrier.least == Position({P0: 2})
    assert barrier.admits(Position({P0: 2}))


def test_a_partition_that_was_added_counts_after_a_hole() -> None:
    """Ends of a partition that the barrier did not know are waited for, too."""
    barrier = Barrier(Position({P0: 2}))
    barrier.gap()
    barrier.answer(Position({P0: 2, P1: 4}))
    assert not barrier.admits(Position({P0: 2}))
    assert barrier.admits(Position({P0: 2, P1: 4}))


CUTS = st.dictionaries(st.sampled_from([P0, P1]), st.integers(0, 9), min_size=1).map(Position)


@given(CUTS, st.lists(st.tuples(st.sampled_from(["gap", "answer", "point"]), CUTS)))
def test_it_only_rises_and_admits_what_has_come_as_far(ends: Position, calls: list[tuple[str, Position]]) -> None:
    """Whatever comes: the least cut never falls, and just those points pass that have come as far."""
    barrier = Barrier(ends)
    holes, least, passed = False, dict(ends), False
    for name, position in calls:
        if name == "gap":
            barrier.gap()
            holes = True
        elif name == "answer":
            barrier.answer(position)
            if holes:
                least = {
                    p: max(least.get(p, 0), position.get(p, 0))
                    for p in {*least, *position}
                    if p in least or position[p] > 0
                }
            holes = False
        else:
            is_far = all(position.get(p, -1) >= offset for p, offset in least.items())
            assert barrier.admits(position) == (is_far and not holes)
            passed |= is_far and not holes
        assert barrier.least == Position(least)
        assert (barrier.passed, barrier.wants_ends) == (passed, holes)
