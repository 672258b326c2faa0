"""The limit on the time for which a replica that is not ready may read nothing."""

from __future__ import annotations

import time

import pytest

from kafka_replica import Partition, Position
from kafka_replica.broker.reading.contract import FetchResult
from kafka_replica.replication.barrier_timeout import BarrierTimeout
from kafka_replica.testing import FakeKafka
from kafka_replica.testing.fake_reader import FakeReader
from kafka_replica.transactions import Reading

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


@pytest.mark.thorough
def test_waiting_for_a_topic_does_not_use_up_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader by quiescence has not learned any position before librdkafka reports the first message or end."""
    read = FakeReader.read
    begun: set[int] = set()

    def knows_nothing_at_first(reader: FakeReader, timeout_s: float) -> FetchResult:
        found = read(reader, timeout_s)
        if id(reader) in begun:
            return found
        begun.add(id(reader))
        return found._replace(reading=Reading([], Position(), Position()))

    monkeypatch.setattr(FakeReader, "read", knows_nothing_at_first)
    kafka = FakeKafka()
    with kafka.replica("late", boundaries="quiescence", barrier_timeout_s=2.0) as replica:
        time.sleep(2.5)
        kafka.topic("late")
        assert len(replica.wait_ready(30)) == 0
