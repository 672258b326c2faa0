"""Wait for answers of brokers, without the event loop if possible.

An iteration of asyncio's event loop takes longer than receiving and parsing a short answer. A live replica therefore
waits for its sockets without it. The event loop does everything else: it connects, authenticates, receives with TLS,
and detects that a connection has ended.
"""

from __future__ import annotations

import asyncio
import select
import time
from collections.abc import Coroutine, Iterable, Mapping
from typing import Any, Final, TypeVar

from kafka_replica.broker.wire.connection import BrokerConnection

T = TypeVar("T")

_LOOP_EVERY_S: Final = 0.1  # the interval at which the event loop runs, because other connections may have ended


class AnswerWaiter:
    """Waits for answers; runs an event loop in the calling thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._loop_ran_s = 0.0

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine in the event loop."""
        self._loop_ran_s = time.monotonic()
        return self._loop.run_until_complete(coroutine)

    def wait(self, pending: Mapping[asyncio.Future[memoryview], BrokerConnection], timeout_s: float) -> None:
        """Wait until an answer has arrived or its connection has failed, for at most ``timeout_s`` seconds."""
        until_s = time.monotonic() + timeout_s
        if time.monotonic() - self._loop_ran_s > _LOOP_EVERY_S:
            self.run(asyncio.sleep(0))
        while not any(answer.done() for answer in pending):
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return
            if not _received(pending.values(), left_s):
                self.run(_first(pending, left_s))


def _received(links: Iterable[BrokerConnection], timeout_s: float) -> bool:
    """Wait for the sockets and process the data that has arrived; return False if the event loop has to do it."""
    by_descriptor: dict[int, BrokerConnection] = {}
    for link in links:
        descriptor = link.descriptor
        if descriptor is None:
            return False
        by_descriptor[descriptor] = link
    poll = select.poll()
    for descriptor in by_descriptor:
        poll.register(descriptor, select.POLLIN)
    return all(by_descriptor[descriptor].receive() for descriptor, _events in poll.poll(timeout_s * 1000))


async def _first(answers: Iterable[asyncio.Future[memoryview]], timeout_s: float) -> None:
    await asyncio.wait(list(answers), timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
