"""The pending fetches, one for each broker that leads a partition."""

from __future__ import annotations

import asyncio
import time

from kafka_replica.broker.reading.fetch_position import FetchPosition
from kafka_replica.broker.reading.fetch_positions import FetchPositions
from kafka_replica.broker.wire.cluster import Cluster, Purpose
from kafka_replica.broker.wire.connection import BrokerConnection
from kafka_replica.broker.wire.messages import FETCH, METADATA, FetchFrom, FetchLimits, fetch_request
from kafka_replica.broker.wire.waiting import AnswerWaiter
from kafka_replica.errors import BrokerError, BrokerUnavailableError

# How long a broker may send nothing, beyond the time for which it may hold a fetch, before:
_SILENT_S = 3.0  # other brokers are queried for the leaders
_GIVE_UP_S = 15.0  # its connection is closed
_PAUSE_S = 0.1  # before the next request to a broker that failed


class Fetch:
    """A pending fetch to one broker."""

    __slots__ = ("afterwards", "alone", "answer", "link", "node", "sent_s")

    def __init__(
        self,
        node: int,
        link: BrokerConnection,
        answer: asyncio.Future[memoryview],
        afterwards: asyncio.Future[memoryview] | None,
        *,
        alone: bool,
    ) -> None:
        self.node = node
        self.link = link
        self.answer = answer
        self.afterwards = afterwards  # the same broker's metadata answer, after the fetch
        self.alone = alone  # the fetch is for one partition only
        self.sent_s = time.monotonic()


class Fetches:
    """The pending fetches to all leaders."""

    def __init__(
        self, cluster: Cluster, waiter: AnswerWaiter, fetch_positions: FetchPositions, limits: FetchLimits
    ) -> None:
        self._cluster = cluster
        self._waiter = waiter
        self._fetch_positions = fetch_positions
        self._limits = limits
        self._under_way: dict[int, Fetch] = {}
        self._not_before_s: dict[int, float] = {}
        self._received_until_s = 0.0  # when data was received last from all brokers that had sent some

    def send(self) -> BrokerError | None:
        """Send a fetch to each leader without a pending fetch; return the error that prevented a fetch, if any."""
        leaders = self._fetch_positions.leaders
        for node in [node for node in self._under_way if node not in leaders]:
            self._forget(node)
        temporary_error: BrokerError | None = None
        for node in leaders:
            if node < 0 or node in self._under_way or time.monotonic() < self._not_before_s.get(node, 0):
                continue
            try:
                self._send(node, [each for each in self._fetch_positions if each.leader == node])
            except BrokerUnavailableError as error:
                temporary_error = error
                self.pause(node)
        return temporary_error

    def pause(self, node: int) -> None:
        """Delay the next request to the broker by a moment."""
        self._not_before_s[node] = time.monotonic() + _PAUSE_S

    def answered(self, timeout_s: float) -> list[Fetch]:
        """Return the answered fetches, after waiting at most ``timeout_s`` seconds for the first."""
        if not self._under_way:
            self._waiter.run(asyncio.sleep(min(timeout_s, _PAUSE_S)))
            return []
        self._waiter.wait({fetch.answer: fetch.link for fetch in self._under_way.values()}, timeout_s)
        self._received_until_s = time.monotonic()
        done = [fetch for fetch in self._under_way.values() if fetch.answer.done()]
        for fetch in done:
            del self._under_way[fetch.node]
        return done

    def temporary_error(self) -> BrokerError | None:
        """Return an error if a broker is silent; close its connection after a further 12 s."""
        wait_s = self._limits.wait_ms / 1000
        temporary_error: BrokerError | None = None
        for fetch in list(self._under_way.values()):
            silent_s = self._silent_s(fetch)
            if silent_s > wait_s + _SILENT_S and fetch.link.receive():  # perhaps too little has arrived to wake us
                silent_s = self._silent_s(fetch)
            if silent_s > wait_s + _SILENT_S:
                temporary_error = BrokerUnavailableError(
                    f"broker {fetch.node} has not answered a fetch for {silent_s:.0f} s; check that it runs"
                )
            if silent_s > wait_s + _GIVE_UP_S:
                self._forget(fetch.node)
        return temporary_error

    def _silent_s(self, fetch: Fetch) -> float:
        """Return the seconds between the last byte that the broker sent and the end of the last receive call.

        Data that arrives while the caller processes other data is only seen by the next receive call.
        """
        return self._received_until_s - max(fetch.sent_s, fetch.link.received_s)

    def _forget(self, node: int) -> None:
        del self._under_way[node]
        self._cluster.drop(node)

    def _send(self, node: int, fetch_positions: list[FetchPosition]) -> None:
        suspects = [each for each in fetch_positions if each.is_suspect]
        wanted = suspects[:1] or fetch_positions
        limits = self._limits._replace(wait_ms=0) if suspects else self._limits
        request = fetch_request(
            [FetchFrom(each.topic_id, each.partition.partition, each.position, each.epoch) for each in wanted],
            limits,
        )
        link = self._cluster.open_link(node, Purpose.FETCH)
        if link is None:
            link = self._waiter.run(self._cluster.link(node, Purpose.FETCH))
        # A broker answers requests in order, so that the query before each version costs no additional round trip.
        is_only = len(self._fetch_positions.leaders) == 1
        answer, *others = link.send_all([(FETCH, request), (METADATA, self._fetch_positions.question)][: 1 + is_only])
        afterwards = others[0] if others else None
        self._under_way[node] = Fetch(node, link, answer, afterwards, alone=len(wanted) == 1)
