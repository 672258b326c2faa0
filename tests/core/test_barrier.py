"""The barrier as a state machine."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from kafka_replica import Cut, Partition, Record
from kafka_replica.barrier import Barrier
from kafka_replica.cuts import Publish
from kafka_replica.delta import Delta

P0, P1 = Partition("t", 0), Partition("t", 1)


def point(offset: int, key: bytes = b"k", partition: Partition = P0) -> Publish:
    """A point at an offset, with one record before it."""
    return Publish(Delta([Record(key, b"v", offset - 1, 0, (), partition)]), Cut({partition: offset}))


def test_an_empty_topic_is_ready_at_once() -> None:
    """A barrier at 0 is passed by the first point, at 0."""
    barrier = Barrier(Cut({P0: 0}))
    empty = Publish(Delta(), Cut({P0: 0}))
    assert barrier.admit(empty) is empty
    assert barrier.passed


def test_what_comes_before_it_is_held_back_and_comes_whole() -> None:
    """Points before the barrier show nothing; the one that passes it brings what they held."""
    barrier = Barrier(Cut({P0: 10}))
    assert barrier.admit(point(3, b"a")) is None
    assert barrier.admit(point(9, b"b")) is None
    assert not barrier.passed
    visible = barrier.admit(point(10, b"c"))
    assert visible is not None
    assert set(visible.delta.changes) == {b"a", b"b", b"c"}
    assert visible.cut == Cut({P0: 10})


def test_every_partition_counts() -> None:
    """One partition that is not there yet holds the barrier."""
    barrier = Barrier(Cut({P0: 2, P1: 2}))
    assert barrier.admit(Publish(Delta(), Cut({P0: 5, P1: 1}))) is None
    assert barrier.missing(Cut({P0: 5, P1: 1})) == {P1: 1}
    assert barrier.admit(Publish(Delta(), Cut({P0: 5, P1: 2}))) is not None


@given(st.integers(0, 30), st.lists(st.integers(1, 40), unique=True).map(sorted))
def test_nothing_is_lost_nor_shown_early(barrier_at: int, offsets: list[int]) -> None:
    """Whatever points come: none is shown before the barrier, and in the end all are in what was shown."""
    barrier = Barrier(Cut({P0: barrier_at}))
    shown: set[bytes] = set()
    for offset in offsets:
        visible = barrier.admit(point(offset, str(offset).encode()))
        assert (visible is not None) == (offset >= barrier_at)
        if visible is not None:
            shown |= set(visible.delta.changes)
            assert shown == {str(o).encode() for o in offsets if o <= offset}
