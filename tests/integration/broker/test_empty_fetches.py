"""The conditions under which an empty fetch is believed although the log continues."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_replica import Partition
from kafka_replica.broker.reading import fetch_position as places
from kafka_replica.broker.reading.fetch_position import FetchPosition


class Clock:
    """A clock that stands still until it is moved."""

    now_s = 100.0

    def monotonic(self) -> float:
        """The current time."""
        return self.now_s


def _is_fetched_alone(place: FetchPosition) -> bool:
    return place.is_suspect


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of fetch positions."""
    clock = Clock()
    monkeypatch.setattr(places, "time", clock)
    return clock


def test_an_empty_fetch_is_believed_after_two_repetitions(clock: Clock) -> None:
    """An empty fetch is believed if it is repeated alone twice, half a second apart."""
    place = FetchPosition(Partition("t", 0), UUID(int=1), 1)
    assert not _is_fetched_alone(place)
    assert not place.is_empty(alone=False)  # others may have used up its size
    assert _is_fetched_alone(place)
    assert not place.is_empty(alone=True)  # a broker may be in a temporary state
    assert not _is_fetched_alone(place)
    assert not place.is_empty(alone=True)  # too soon
    clock.now_s += 0.49
    assert not place.is_empty(alone=True)
    clock.now_s += 0.01
    assert _is_fetched_alone(place)
    assert not place.is_empty(alone=False)
    assert place.is_empty(alone=True)


def test_the_count_of_empty_fetches_restarts_when_the_position_moves(clock: Clock) -> None:
    """After the position has moved, the count starts again."""
    place = FetchPosition(Partition("t", 0), UUID(int=1), 1)
    place.is_empty(alone=True)
    place.is_empty(alone=True)
    clock.now_s += 1
    place.position = 7
    assert not _is_fetched_alone(place)
    assert not place.is_empty(alone=True)
    assert not place.is_empty(alone=True)
    clock.now_s += 1
    assert place.is_empty(alone=True)
