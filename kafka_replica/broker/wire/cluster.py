"""The brokers of a cluster: their metadata and connections to them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from enum import StrEnum

from kafka_replica.broker.connection.security import ConnectionSettings
from kafka_replica.broker.wire.connection import BrokerConnection, connect
from kafka_replica.broker.wire.messages import METADATA, MetadataResponse, metadata_request, read_metadata
from kafka_replica.errors import BrokerError, BrokerUnavailableError

_ANY_BROKER_S = 3.0  # the time limit for a query that other brokers can answer as well, and for connecting to one
_MOST_ANY_BROKER_S = 10.0  # the same, whatever the user has set: another broker may answer immediately
_VIEW_S = 1.0  # the time limit for a query whose answer is optional
_SKIPPED_S = 10.0  # the time for which a broker that did not answer such a query is not queried again
_MOST_SKIPPED_S = 60.0  # the same for a broker that stays silent, after several such times, each twice the one before
_LOOKING_UP = "looking up the leaders"  # the operation, for messages


class Purpose(StrEnum):
    """The purpose of a connection; a broker answers in order, so that a query must not wait behind a long fetch."""

    FETCH = "fetch"
    ASK = "ask"


class Cluster:
    """The connections to a cluster, by broker and purpose. Bound to one event loop.

    Args:
        settings: the settings of the connections; the user's time limit for setting up a connection takes precedence.
        timeout_s: the time limit for connecting and for a query, in seconds.
        query_timeout_s: the time limit for any query, if the user has set one.
    """

    def __init__(self, settings: ConnectionSettings, timeout_s: float, query_timeout_s: float | None = None) -> None:
        self._settings = settings
        self._timeout_s = query_timeout_s or timeout_s
        self._any_broker_s = min(query_timeout_s or _ANY_BROKER_S, _MOST_ANY_BROKER_S)
        self._connect_s = None if settings.has_given_setup_timeout else timeout_s
        self._connect_any_s = None if settings.has_given_setup_timeout else _ANY_BROKER_S
        self._brokers: dict[int, tuple[str, int]] = {}
        self._links: dict[tuple[int, Purpose], BrokerConnection] = {}
        self._first: BrokerConnection | None = None  # to any of the bootstrap servers
        self._listed: frozenset[int] = frozenset()  # the brokers in the newest metadata
        self._skipped_until_s: dict[int, float] = {}
        self._skipped_for_s: dict[int, float] = {}  # of the brokers that did not answer the last optional query

    async def metadata(self, topics: Iterable[str], nodes: Iterable[int] = ()) -> list[MetadataResponse]:
        """Return the metadata of the topics from each of these brokers; without nodes, from any reachable broker.

        Raises:
            BrokerError: no broker answers, or the brokers refuse us.
        """
        request = metadata_request(topics)
        queried = []
        for node in nodes:
            link = await self.link(node, Purpose.ASK)
            queried.append((link, link.send(METADATA, request)))
        found = [await self._within_or_close(link, answer, self._timeout_s) for link, answer in queried]
        found = found or [await self._ask_any_broker(request)]
        answers = [read_metadata(answer) for answer in found]
        for answer in answers:
            self._brokers.update(answer.brokers)
        self._listed = frozenset().union(*(answer.brokers for answer in answers))
        return answers

    async def views(self, topics: Iterable[str], nodes: Iterable[int]) -> dict[int, MetadataResponse]:
        """Return the metadata of the topics from each of these brokers that answers within a second, by node id.

        Brokers that the newest metadata does not list are not queried: Kafka itself does not reach them.
        """
        request, now_s = metadata_request(topics), time.monotonic()
        queried = [node for node in nodes if node in self._listed and self._skipped_until_s.get(node, now_s) <= now_s]
        found = await asyncio.gather(*(self._view(node, request) for node in queried))
        return {node: view for node, view in zip(queried, found, strict=True) if view is not None}

    async def link(self, node: int, purpose: Purpose) -> BrokerConnection:
        """Return a connection to a broker.

        Raises:
            BrokerError: the broker is not in the cluster, does not answer, or refuses us.
        """
        link = self.open_link(node, purpose)
        if link is None:
            if node not in self._brokers:
                raise BrokerUnavailableError(f"broker {node} is not in the cluster at present")
            link = await connect(self._settings, *self._brokers[node], timeout_s=self._connect_s)
            self._links[node, purpose] = link
        return link

    def open_link(self, node: int, purpose: Purpose) -> BrokerConnection | None:
        """Return the connection to a broker if it exists and accepts requests, otherwise None."""
        link = self._links.get((node, purpose))
        return link if link is not None and link.usable else None

    async def within(
        self, link: BrokerConnection, answer: asyncio.Future[memoryview], doing: str, timeout_s: float | None = None
    ) -> memoryview:
        """Wait for an answer on a connection; ``doing`` is the operation, for the message.

        Raises:
            BrokerUnavailableError: the answer did not arrive in time.
        """
        timeout_s = self._timeout_s if timeout_s is None else timeout_s
        done, _ = await asyncio.wait([answer], timeout=timeout_s)
        if not done:
            raise BrokerUnavailableError(
                f"{doing}: broker {link.broker} did not answer in {timeout_s:g} s; check that it runs"
            )
        return answer.result()

    def drop(self, node: int) -> None:
        """Close the connections to a broker that does not answer."""
        for purpose in Purpose:
            link = self._links.pop((node, purpose), None)
            if link is not None:
                link.close()

    def close(self) -> None:
        """Close all connections."""
        for link in [*self._links.values(), *([self._first] if self._first is not None else [])]:
            link.close()
        self._links.clear()

    async def _view(self, node: int, request: bytes) -> MetadataResponse | None:
        begun_s = time.monotonic()
        try:
            async with asyncio.timeout(_VIEW_S):
                link = await self.link(node, Purpose.ASK)
            answer = await self.within(link, link.send(METADATA, request), _LOOKING_UP, _VIEW_S)
        except (TimeoutError, BrokerError):
            # Silence delays the caller, so that a broker that stays silent is queried less and less often.
            is_silent = time.monotonic() - begun_s > _VIEW_S / 2
            skipped_s = self._skipped_for_s.get(node, _SKIPPED_S / 2)
            self._skipped_for_s[node] = min(2 * skipped_s, _MOST_SKIPPED_S) if is_silent else _SKIPPED_S
            self._skipped_until_s[node] = time.monotonic() + self._skipped_for_s[node]
            return None
        self._skipped_for_s.pop(node, None)
        return read_metadata(answer)

    async def _within_or_close(
        self, link: BrokerConnection, answer: asyncio.Future[memoryview], timeout_s: float
    ) -> memoryview:
        """Wait for metadata; if it does not arrive in time, close the connection, so that no later query waits."""
        try:
            return await self.within(link, answer, _LOOKING_UP, timeout_s)
        except BrokerUnavailableError:
            link.close()
            raise

    async def _ask_any_broker(self, request: bytes) -> memoryview:
        """Return the metadata from the first broker that answers."""
        temporary_error: BrokerError | None = None
        for purpose, link in self._links_by_last_answer():
            try:
                return await self.within(link, link.send(METADATA, request), _LOOKING_UP, self._any_broker_s)
            except BrokerUnavailableError as error:
                temporary_error = error
                if purpose is Purpose.ASK:  # a pending fetch decides over its connection
                    link.close()
        for host, port in dict.fromkeys([*self._settings.servers, *self._brokers.values()]):
            try:
                self._first = await connect(self._settings, host, port, timeout_s=self._connect_any_s)
                answer = self._first.send(METADATA, request)
                return await self._within_or_close(self._first, answer, self._any_broker_s)
            except BrokerUnavailableError as error:
                temporary_error = error
        raise temporary_error or BrokerUnavailableError("there is no broker to connect to: set bootstrap.servers")

    def _links_by_last_answer(self) -> list[tuple[Purpose, BrokerConnection]]:
        """Return the usable connections: those that received data last come first, those with a pending fetch last."""
        links = [(purpose, link) for (_, purpose), link in self._links.items()]
        if self._first is not None:
            links.append((Purpose.ASK, self._first))
        links.sort(key=lambda each: (each[0] is Purpose.FETCH, -each[1].received_s))
        return [(purpose, link) for purpose, link in links if link.usable]
