"""The brokers that are asked for metadata, in which order and how often, if some of them are silent or gone."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from kafka_replica.broker.wire import cluster as module
from kafka_replica.broker.wire.cluster import Cluster, Purpose
from kafka_replica.broker.wire.messages import MetadataResponse
from kafka_replica.errors import BrokerUnavailableError

T = TypeVar("T")

TIMEOUT_S = 0.05


class FakeLink:
    """A connection to a broker that answers at once, or never."""

    def __init__(self, number: int, received_s: float, *, answers: bool) -> None:
        self.broker, self.received_s, self.answers = f"host:{number}", received_s, answers
        self.usable, self.asked = True, 0

    def send(self, _api: int, _body: bytes) -> asyncio.Future[memoryview]:
        """Return the future of an answer."""
        self.asked += 1
        answer: asyncio.Future[memoryview] = asyncio.get_running_loop().create_future()
        if self.answers:
            answer.set_result(memoryview(b""))
        return answer

    def close(self) -> None:
        """Close the connection."""
        self.usable = False


class World:
    """A cluster with connections to brokers, and without any other address."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, links: dict[tuple[int, Purpose], FakeLink]) -> None:
        settings: Any = SimpleNamespace(servers=(), has_given_setup_timeout=False)
        connections: Any = links
        self.cluster: Any = Cluster(settings, TIMEOUT_S)
        self.cluster._any_broker_s, self.cluster._links = TIMEOUT_S, connections
        self.links, self.now_s = links, 1000.0
        self.listed = {node for node, _ in links}
        monkeypatch.setattr(
            module, "read_metadata", lambda _: MetadataResponse(dict.fromkeys(self.listed, ("", 0)), {})
        )

    def views(self, *nodes: int) -> int:
        """Return how many of these brokers gave their views, after the leader, broker 1, was asked."""

        async def ask() -> int:
            await self.cluster.metadata(["t"], [1])
            return len(await self.cluster.views(["t"], nodes))

        return run(ask())


def run(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine."""
    return asyncio.run(coroutine)


@pytest.mark.parametrize("silent_since_s", [1.0, 3.0])
def test_one_silent_broker_costs_one_time_out_at_most(monkeypatch: pytest.MonkeyPatch, silent_since_s: float) -> None:
    """The connection that received data last is asked first, one with a pending fetch last; a silent one is closed."""
    silent = FakeLink(1, silent_since_s, answers=False)
    fetches = {number: FakeLink(number, 9.0, answers=False) for number in (1, 3)}
    answering = FakeLink(2, 2.0, answers=True)
    links = {(number, Purpose.FETCH): link for number, link in fetches.items()}
    world = World(monkeypatch, {**links, (1, Purpose.ASK): silent, (2, Purpose.ASK): answering})
    run(world.cluster.metadata(["t"]))
    assert [silent.asked, answering.asked] == [int(silent_since_s > 2), 1]
    assert silent.usable == (silent_since_s < 2)
    assert not any(link.asked for link in fetches.values())


def test_a_pending_fetch_keeps_its_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Metadata waits behind a fetch, so that a late answer does not mean that the broker is silent."""
    fetch, query = (FakeLink(1, 1.0, answers=False) for _ in range(2))
    world = World(monkeypatch, {(1, Purpose.FETCH): fetch, (1, Purpose.ASK): query})
    with pytest.raises(BrokerUnavailableError):
        run(world.cluster.metadata(["t"]))
    assert (fetch.usable, query.usable) == (True, False)


def test_a_silent_leader_is_named_and_its_connection_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The next query uses a new connection, and the others' connections stay open."""
    links = {(number, Purpose.ASK): FakeLink(number, 1.0, answers=number != 2) for number in (1, 2, 3)}
    world = World(monkeypatch, links)
    with pytest.raises(
        BrokerUnavailableError, match=r"looking up the leaders: broker host:2 did not answer in 0\.05 s"
    ):
        run(world.cluster.metadata(["t"], [1, 2, 3]))
    assert [link.usable for link in links.values()] == [True, False, True]


def test_a_broker_that_left_the_cluster_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """A copy on a broker that Kafka does not list any more delays nothing; it is asked again if it comes back."""
    links = {(number, Purpose.ASK): FakeLink(number, 1.0, answers=True) for number in (1, 2, 3)}
    world = World(monkeypatch, links)
    assert world.views(2, 3) == 2
    world.listed = {1, 2}
    assert world.views(2, 3) == 1
    assert links[3, Purpose.ASK].asked == 1
    world.listed = {1, 2, 3}
    assert world.views(2, 3) == 2


@pytest.mark.thorough
def test_a_broker_that_stays_silent_is_asked_less_and_less_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time between two queries doubles up to a minute, and is the shortest one again after an answer."""
    monkeypatch.setattr(module, "_VIEW_S", TIMEOUT_S)
    silent = FakeLink(2, 1.0, answers=False)
    world = World(monkeypatch, {(1, Purpose.ASK): FakeLink(1, 1.0, answers=True), (2, Purpose.ASK): silent})
    clock, passed_s = time.monotonic, 0.0
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock() + passed_s))
    for skipped_s in (10, 20, 40, 60, 60):
        asked = silent.asked
        assert world.views(2) == 0
        passed_s += skipped_s - 2
        assert world.views(2) == 0
        assert silent.asked == asked + 1
        passed_s += 2
    silent.answers = True
    assert world.views(2) == 1
    silent.answers = False
    world.views(2)
    passed_s += 11
    asked = silent.asked
    world.views(2)
    assert silent.asked == asked + 1
