"""A proxy that parses Kafka's frames, and delays or drops requests to end a transaction (EndTxn), or their responses.

A delayed request reaches the broker even if its client has closed the connection meanwhile, like bytes that
wait in a network, or in the socket of a broker that is frozen.
"""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from enum import StrEnum
from typing import TypeAlias

from chaos.proxy import Proxy

_END_TXN = 26  # its key in Kafka's protocol
_FLEXIBLE = 3  # the first version with tagged fields
_CHUNK_BYTES = 64 * 1024


class EndTxnFault(StrEnum):
    """The fault of a request, or of its response."""

    NONE = "passed on"
    LATE_REQUEST = "request delayed"
    LOST_REQUEST = "request dropped"
    LATE_ANSWER = "answer delayed"
    LOST_ANSWER = "answer dropped"
    CUT = "connection cut after the request"
    UNKNOWN = "answer replaced by an unknown error of the server, although the request was carried out"


FAULTS = [fault for fault in EndTxnFault if fault not in {EndTxnFault.NONE, EndTxnFault.UNKNOWN}]
"""The faults that are drawn at random."""
Delay: TypeAlias = float | threading.Event
"""Seconds; or an event, for which a request waits."""
Draw: TypeAlias = Callable[[], tuple[EndTxnFault, Delay]]
"""Draw the fault of the next request, and for how long the request or answer is delayed, if at all."""


class EndTxnProxy(Proxy):
    """A port that leads to a broker. Its methods are for the thread of the event loop.

    Attributes:
        survived: how often each fault has happened.
        answered_late: how many delayed requests the broker has answered.
    """

    def __init__(self, port: int, target_port: int, draw: Draw) -> None:
        super().__init__(port, target_port)
        self._draw = draw
        self.survived: Counter[EndTxnFault] = Counter()
        self.answered_late = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            from_broker, to_broker = await self._to_target()
        except OSError:
            writer.transport.abort()
            return
        link = _Link(writer, to_broker)
        try:
            await asyncio.gather(self._pass_requests(reader, link), self._pass_answers(from_broker, link))
        except asyncio.CancelledError:  # the network ends; asyncio would log the cancellation as an error
            writer.transport.abort()
            to_broker.transport.abort()

    async def _pass_requests(self, reader: asyncio.StreamReader, link: _Link) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                frame = await _frame(reader)
                fault: EndTxnFault = EndTxnFault.NONE
                delay: Delay = 0.0
                if int.from_bytes(frame[4:6], "big") == _END_TXN:
                    fault, delay = self._draw()
                    self.survived[fault] += 1
                if fault is EndTxnFault.LOST_REQUEST:
                    while await reader.read(_CHUNK_BYTES):
                        pass  # nothing that comes after it arrives either
                    break
                await _prepare(fault, delay, frame, link)
                link.broker.write(frame)
                await link.broker.drain()
                if fault is EndTxnFault.CUT:
                    link.client.transport.abort()
        if link.is_late:
            await asyncio.wait([asyncio.ensure_future(link.was_answered.wait())], timeout=10)
        link.flowing.set()
        link.broker.close()

    async def _pass_answers(self, reader: asyncio.StreamReader, link: _Link) -> None:
        with suppress(OSError, asyncio.IncompleteReadError):
            while True:
                frame = await _frame(reader)
                if link.is_late:
                    link.is_late = False
                    self.answered_late += 1
                    link.was_answered.set()
                await link.flowing.wait()
                version = link.spoiled.pop(frame[4:8], None)
                if version is not None:
                    frame = _with_unknown_error(frame, version)
                with suppress(OSError):
                    link.client.write(frame)
                    await link.client.drain()
        link.was_answered.set()
        link.client.close()


class _Link:
    """A client's connection, with its other half to the broker."""

    def __init__(self, client: asyncio.StreamWriter, broker: asyncio.StreamWriter) -> None:
        self.client, self.broker = client, broker
        self.flowing = asyncio.Event()
        self.flowing.set()
        self.is_late = False
        """True while a delayed request was passed on and not answered."""
        self.was_answered = asyncio.Event()
        self.spoiled: dict[bytes, int] = {}
        """The versions of requests whose answers are replaced, by their correlation ids."""


async def _prepare(fault: EndTxnFault, delay: Delay, frame: bytes, link: _Link) -> None:
    """Delay a request, or see to what happens to its answer."""
    if fault is EndTxnFault.LATE_REQUEST:
        await _end_of(delay)
        link.is_late = True
    elif fault is EndTxnFault.UNKNOWN:
        link.spoiled[frame[8:12]] = int.from_bytes(frame[6:8], "big")
    elif fault in {EndTxnFault.LATE_ANSWER, EndTxnFault.LOST_ANSWER}:
        link.flowing.clear()
        if fault is EndTxnFault.LATE_ANSWER and isinstance(delay, float):
            asyncio.get_running_loop().call_later(delay, link.flowing.set)


def _with_unknown_error(frame: bytes, version: int) -> bytes:
    """Return an answer with the error code -1, UNKNOWN_SERVER_ERROR (EndTxnResponse.json)."""
    at = 4 + 4 + (version >= _FLEXIBLE) + 4  # size, correlation id, tagged fields, throttle time
    return frame[:at] + b"\xff\xff" + frame[at + 2 :]


async def _end_of(delay: Delay) -> None:
    if isinstance(delay, float):
        await asyncio.sleep(delay)
        return
    while not delay.is_set():
        await asyncio.sleep(0.05)


async def _frame(reader: asyncio.StreamReader) -> bytes:
    head = await reader.readexactly(4)
    return head + await reader.readexactly(int.from_bytes(head, "big"))
