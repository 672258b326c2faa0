"""Receive long answers in a separate thread, while the reader processes the previous answers.

Copying data from a socket does not need the interpreter lock, so that it runs in parallel to the parser; a bootstrap is
a sequence of long answers. Each answer is received by one call if it takes less than a second, because a thread that
returns from a call has to wait until the other thread releases the lock.
"""

from __future__ import annotations

import asyncio
import socket
import struct
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Final

from kafka_replica.broker.wire.answer_buffers import AnswerBuffers
from kafka_replica.errors import BrokerError

LONG_BYTES: Final = 1 << 20
"""The minimum size of a long answer."""
SIZE: Final = struct.Struct(">i")
MAX_RESPONSE_BYTES: Final = 1 << 30
"""A larger size means that the peer is not Kafka."""
_SHORT_ANSWERS: Final = 2  # this many in sequence end the thread; one short answer, to a query, may follow each fetch
_STOPS_S: Final = 5.0
_CALL_S: Final = 1  # a call that waits longer for data returns, so that the arrival of its data is known


class NotKafkaError(BrokerError):
    """The peer does not speak Kafka's protocol."""


class AnswerReceiver:
    """A thread that receives answers until two short answers in sequence, the end of the connection, or ``stop``.

    Args:
        connection: the socket, which no other code may read meanwhile; the receiver owns it.
        buffers: the source of buffers, which no other code may use meanwhile.
        loop: the event loop in which the functions are called.
        answered: called with each complete answer.
        ended: called last, with the reason if the connection can no longer be used, else with None.
    """

    def __init__(
        self,
        connection: socket.socket,
        buffers: AnswerBuffers,
        loop: asyncio.AbstractEventLoop,
        answered: Callable[[memoryview], None],
        ended: Callable[[Exception | None], None],
    ) -> None:
        self._socket = connection
        self._buffers = buffers
        self._loop = loop
        self._answered, self._ended = answered, ended
        self.received_s = time.monotonic()
        """The time of the last arrival of data, by the monotonic clock."""
        self._socket.setblocking(True)
        self._limit_calls()
        self._thread = Thread(target=self._run, name="kafka-replica-receiver", daemon=True)
        self._thread.start()

    @property
    def is_alive(self) -> bool:
        """True until the thread has ended."""
        return self._thread.is_alive()

    def stop(self) -> None:
        """End the connection and the thread."""
        with suppress(OSError):  # the connection has ended already
            self._socket.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join(_STOPS_S)

    def _limit_calls(self) -> None:
        """Set a timeout of one second for each receive call, which then returns the data that has arrived."""
        if sys.platform != "win32":  # a socket on Windows cannot be used after this time
            with suppress(OSError):  # the connection has ended already, which the thread detects
                self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("@ll", _CALL_S, 0))

    def _run(self) -> None:
        reason: Exception | None = None
        short_answers = 0
        try:
            while short_answers < _SHORT_ANSWERS:
                answer = self._receive()
                short_answers = 0 if len(answer) >= LONG_BYTES else short_answers + 1
                self._call(self._answered, answer)
                del answer  # the buffer is reused once no view of it exists
            self._socket.setblocking(False)
        except (OSError, NotKafkaError, MemoryError) as error:
            reason = error
        self._socket.close()
        self._call(self._ended, reason)

    def _receive(self) -> memoryview:
        head = memoryview(bytearray(SIZE.size))
        self._fill(head)
        (size,) = SIZE.unpack(head)
        if not SIZE.size <= size <= MAX_RESPONSE_BYTES:
            raise NotKafkaError(f"an answer of {size:,} bytes")
        answer = self._buffers.take(size)
        self._fill(answer)
        return answer

    def _fill(self, view: memoryview) -> None:
        filled = 0
        while filled < len(view):
            try:
                received = self._socket.recv_into(view[filled:], 0, socket.MSG_WAITALL)
            except BlockingIOError:  # nothing has arrived for a second
                continue
            if not received:
                raise ConnectionResetError("the broker has closed the connection")
            self.received_s = time.monotonic()
            filled += received

    def _call(self, function: Callable[..., None], argument: object) -> None:
        with suppress(RuntimeError):  # the loop was closed meanwhile: answers are no longer awaited
            self._loop.call_soon_threadsafe(function, argument)
