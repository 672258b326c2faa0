"""A broker is silent if nothing arrives from it for long, not if its answer is long or the caller busy."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kafka_replica.broker.reading import fetches
from kafka_replica.broker.reading.fetches import Fetch, Fetches
from kafka_replica.broker.wire.messages import FetchLimits


class Link:
    """A connection; data that is too short to wake anyone is received if someone looks."""

    def __init__(self) -> None:
        self.received_s = 0.0
        self.unseen_s: float | None = None

    def receive(self) -> bool:
        """Receive what has arrived."""
        if self.unseen_s is not None:
            self.received_s, self.unseen_s = self.unseen_s, None
        return True


class World:
    """The pending fetch to one broker, with a clock."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, wait_ms: int) -> None:
        self.now_s = 1000.0
        monkeypatch.setattr(fetches, "time", SimpleNamespace(monotonic=lambda: self.now_s))
        self.link, self.dropped = Link(), False
        cluster = SimpleNamespace(drop=lambda _: setattr(self, "dropped", True))
        waiter = SimpleNamespace(wait=lambda *_: None)
        limits = FetchLimits(wait_ms, 1, 1, 1)
        self.fetches = Fetches(cast("Any", cluster), cast("Any", waiter), cast("Any", None), limits)
        answer: asyncio.Future[memoryview] = asyncio.Future(loop=asyncio.new_event_loop())
        answer.get_loop().close()
        self.fetches._under_way[1] = Fetch(1, cast("Any", self.link), answer, None, alone=True)

    def after(self, seconds: float) -> str:
        """Return what is known after some more seconds in which answers were awaited."""
        self.now_s += seconds
        self.fetches.answered(0)
        temporary_error = self.fetches.temporary_error()
        return "closed" if self.dropped else "fine" if temporary_error is None else str(temporary_error)


@pytest.mark.parametrize("wait_ms", [500, 20_000])
def test_a_silent_broker_is_reported_and_then_given_up(monkeypatch: pytest.MonkeyPatch, wait_ms: int) -> None:
    """The broker may hold a fetch for the time that was agreed on; the limits begin after it."""
    world, wait_s = World(monkeypatch, wait_ms), wait_ms / 1000
    assert world.after(wait_s + 2.9) == "fine"
    assert world.after(0.2) == f"broker 1 has not answered a fetch for {wait_s + 3.1:.0f} s; check that it runs"
    assert world.after(11.8).startswith("broker 1 has not answered")
    assert world.after(0.2) == "closed"


@pytest.mark.parametrize("wakes", [True, False])
def test_a_long_answer_over_a_slow_link_is_awaited(monkeypatch: pytest.MonkeyPatch, wakes: bool) -> None:
    """While parts of the answer arrive, the fetch is not repeated, however long it takes."""
    world = World(monkeypatch, 500)
    for _ in range(100):
        if wakes:
            world.link.received_s = world.now_s + 1
        else:
            world.link.unseen_s = world.now_s + 1
        assert world.after(4) == "fine"
    assert world.after(15) == "closed"


def test_an_answer_that_arrives_while_the_caller_is_busy_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    """A caller that processes the previous answer for long does not take its broker for silent."""
    world = World(monkeypatch, 500)
    assert world.after(1) == "fine"
    world.now_s += 60
    assert world.fetches.temporary_error() is None
    world.link.received_s = world.now_s
    assert world.after(0) == "fine"
