"""The barrier as a state machine: which positions may be published, and from when on."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Partition, Position
from kafka_replica.transactions.barrier import Barrier

P0, P1 = Partition("t", 0), Partition("t", 1)


def test_an_empty_topic_is_ready_at_once() -> None:
    """A barrier at 0, or of a topic without partitions, is passed by the first point."""
    for ends in (Position({P0: 0}), Position()):
        barrier = Barrier(ends)
        assert not barrier.passed
        assert barrier.admits(ends)
        assert barrier.passed


def test_nothing_below_the_ends_is_shown() -> None:
    """Points below the high watermarks do not pass, and a query changes nothing; a point at them passes."""
    barrier = Barrier(Position({P0: 10}))
    assert not barrier.admits(Position({P0: 9}))
    assert barrier.would_admit(Position({P0: 10}))
    assert not barrier.passed
    assert barrier.admits(Position({P0: 10}))
    assert barrier.passed


def test_every_partition_counts() -> None:
    """A single lagging partition holds the barrier, and is named with the number of offsets it lacks."""
    barrier = Barrier(Position({P0: 2, P1: 2}))
    assert not barrier.admits(Position({P0: 5, P1: 1}))
    assert not barrier.admits(Position({P0: 5}))
    assert barrier.admits(Position({P0: 5, P1: 2}))


def test_a_hole_stops_everything_until_the_ends_are_known_and_read() -> None:
    """After a gap not even a far point passes until the ends are known; then points at or beyond these ends pass."""
    barrier = Barrier(Position({P0: 2, P1: 2}))
    assert barrier.admits(Position({P0: 3, P1: 3}))
    barrier.note_gap()
    assert (barrier.needs_ends, barrier.admits(Position({P0: 99, P1: 99}))) == (True, False)
    assert barrier.would_admit(Position({P0: 99, P1: 99}))
    barrier.take_ends(Position({P0: 3, P1: 8}))
    assert not barrier.needs_ends
    assert not barrier.admits(Position({P0: 3, P1: 7}))  # the record that superseded one of P0 may be in P1
    assert barrier.admits(Position({P0: 3, P1: 8}))


def test_an_unrequested_answer_changes_nothing() -> None:
    """Without a gap, an unrequested answer does not hold a lagging reader: it publishes whole versions."""
    barrier = Barrier(Position({P0: 2}))
    barrier.take_ends(Position({P0: 50}))
    assert barrier.least == Position({P0: 2})
    assert barrier.admits(Position({P0: 2}))


def test_a_partition_that_was_added_counts_after_a_hole() -> None:
    """After a gap, the ends of a partition that the barrier did not know are waited for, too."""
    barrier = Barrier(Position({P0: 2}))
    barrier.note_gap()
    barrier.take_ends(Position({P0: 2, P1: 4}))
    assert not barrier.admits(Position({P0: 2}))
    assert barrier.admits(Position({P0: 2, P1: 4}))


CUTS = st.dictionaries(st.sampled_from([P0, P1]), st.integers(0, 9), min_size=1).map(Position)


@given(CUTS, st.lists(st.tuples(st.sampled_from(["gap", "answer", "point"]), CUTS)))
def test_the_barrier_never_falls(ends: Position, calls: list[tuple[str, Position]]) -> None:
    """In any sequence of calls the barrier never falls, and admits exactly the positions that have reached it."""
    barrier = Barrier(ends)
    holes, least, passed = False, dict(ends), False
    for name, position in calls:
        if name == "gap":
            barrier.note_gap()
            holes = True
        elif name == "answer":
            barrier.take_ends(position)
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
        assert (barrier.passed, barrier.needs_ends) == (passed, holes)
