"""The limit on the time for which a replica that is not ready may read nothing."""

from __future__ import annotations

from kafka_replica import Partition, Position
from kafka_replica.replication.barrier_timeout import BarrierTimeout

P = Partition("t", 0)


def at(offset: int) -> Position:
    """Return a position."""
    return Position({P: offset})


def test_progress_starts_the_time_again() -> None:
    """Only a position that has not moved for longer than the limit is too slow."""
    timeout = BarrierTimeout(10, 0)
    assert not timeout.is_over(Position(), 10, is_stalled=False)
    assert not timeout.is_over(at(1), 11, is_stalled=False)
    assert not timeout.is_over(at(1), 21, is_stalled=False)
    assert timeout.is_over(at(1), 21.1, is_stalled=False)


def test_time_without_an_answer_does_not_count() -> None:
    """A broker that is silent is a problem of its own; the time begins when it answers again."""
    timeout = BarrierTimeout(10, 0)
    assert not timeout.is_over(at(1), 1, is_stalled=False)
    assert not timeout.is_over(at(1), 50, is_stalled=True)
    assert not timeout.is_over(at(1), 60, is_stalled=False)
    assert timeout.is_over(at(1), 60.1, is_stalled=False)


def test_a_limit_of_none_is_never_exceeded() -> None:
    """Without a limit, a replica may catch up for any length of time."""
    assert not BarrierTimeout(None, 0).is_over(Position(), 1e9, is_stalled=False)
