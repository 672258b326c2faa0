"""A fetch that brings nothing though the log goes on: when that is believed."""

from __future__ import annotations

from uuid import UUID

import pytest

from kafka_replica import Partition
from kafka_replica.broker.reading import fetch_positions as places
from kafka_replica.broker.reading.fetch_positions import FetchPosition


class Clock:
    """Stands still until it is moved."""

    now_s = 100.0

    def monotonic(self) -> float:
        """Its time."""
        return self.now_s


def _is_asked_alone(place: FetchPosition) -> bool:
    return place.is_suspect


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock by which places wait."""
    clock = Clock()
    monkeypatch.setattr(places, "time", clock)
    return clock


def test_it_is_believed_after_a_while(clock: Clock) -> None:
    """One fetch of many, one alone, and another one alone half a second later."""
    place = FetchPosition(Partition("t", 0), UUID(int=1), 1)
    assert not _is_asked_alone(place)
    assert not place.is_empty(alone=False)  # others may have used up its size
    assert _is_asked_alone(place)
    assert not place.is_empty(alone=True)  # a broker may be in a state that passes
    assert not _is_asked_alone(place)
    assert not place.is_empty(alone=True)  # too soon
    clock.now_s += 0.49
    assert not place.is_empty(alone=True)
    clock.now_s += 0.01
    assert _is_asked_alone(place)
    assert not place.is_empty(alone=False)
    assert place.is_empty(alone=True)


def test_what_was_seen_elsewhere_does_not_count(clock: Clock) -> None:
    """After the position moved, everything begins anew."""
    place = FetchPosition(Partition("t", 0), UUID(int=1), 1)
    place.is_empty(alone=True)
    place.is_empty(alone=True)
    clock.now_s += 1
    place.position = 7
    assert not _is_asked_alone(place)
    assert not place.is_empty(alone=True)
    assert not place.is_empty(alone=True)
    clock.now_s += 1
    assert place.is_empty(alone=True)
