"""A connection to a broker that sends requests and receives complete answers.

aiokafka connects, performs the TLS handshake and authenticates (SASL). Then this module takes over the connection,
because aiokafka's stream copies each answer four times, whereas the protocol in this module receives it in place.
"""

from __future__ import annotations

import asyncio
import os
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from typing import Any, cast

from aiokafka.conn import AIOKafkaConnection

from kafka_replica.broker.connection.security import ConnectionSettings, open_connection
from kafka_replica.broker.wire.answer_buffers import AnswerBuffers
from kafka_replica.broker.wire.messages import TO_READ, VERSIONS
from kafka_replica.broker.wire.receiving import LONG_BYTES, MAX_RESPONSE_BYTES, SIZE, AnswerReceiver, NotKafkaError
from kafka_replica.errors import BrokerError, BrokerUnavailableError

_LONG, _WAKE_AT = 64 << 10, 512 << 10
_CAN_POLL = hasattr(select, "poll") and hasattr(os, "readv")  # not on Windows
_AHEAD_BYTES = 16 << 10  # an answer to a small live fetch is received in one step, with its size


class _Answers(asyncio.BufferedProtocol):
    """A protocol that receives each answer in place, in a buffer that is not reused while anything refers to it.

    After a long answer on a connection without TLS, a thread receives the next answers, unless too many files are open.
    """

    def __init__(self, broker: str, transport: asyncio.Transport) -> None:
        self._broker = broker
        # Set only without TLS: there, the event loop need not wake up for each piece of a long answer.
        in_the_clear = transport.get_extra_info("ssl_object") is None
        self._socket: socket.socket | None = transport.get_extra_info("socket") if in_the_clear else None
        self._transport = transport
        self.loop = asyncio.get_running_loop()
        self._receiver: AnswerReceiver | None = None
        self._wake_at = 1
        self._buffers = AnswerBuffers()
        self._ahead = memoryview(bytearray(_AHEAD_BYTES))  # several short answers, each with its size
        self._answer: memoryview | None = None  # an answer that has arrived in part
        self._filled = 0
        self._received_s = time.monotonic()
        self._has_answered = False
        self.waiting: deque[tuple[int, bool, asyncio.Future[memoryview]]] = deque()
        self.lost: BrokerError | None = None

    def get_buffer(self, sizehint: int) -> memoryview:  # noqa: ARG002 - the amount of data is known
        """Return the buffer for the next bytes."""
        return (self._ahead if self._answer is None else self._answer)[self._filled :]

    def buffer_updated(self, nbytes: int) -> None:
        """Process the bytes that arrived."""
        self._filled += nbytes
        self._received_s = time.monotonic()
        if self._answer is None:
            self._take_ahead()
            return
        missing = len(self._answer) - self._filled
        if missing:
            if missing < self._wake_at:
                self._wake_for(missing)
            return
        answer, self._answer, self._filled = self._answer, None, 0
        self._wake_for(SIZE.size)
        self._complete(answer)

    def _take_ahead(self) -> None:
        """Process the answers in the bytes that were received ahead; receive the rest of the last answer in place."""
        at = 0
        while self._filled - at >= SIZE.size:
            (size,) = SIZE.unpack_from(self._ahead, at)
            if not SIZE.size <= size <= MAX_RESPONSE_BYTES:
                self._filled = 0
                self._fail_as_not_kafka()
                return
            at += SIZE.size
            answer, here = self._buffers.take(size), min(size, self._filled - at)
            answer[:here] = self._ahead[at : at + here]
            at += here
            if here < size:
                self._answer, self._filled = answer, here
                self._wake_for(size - here)
                return
            self._complete(answer)
        rest = bytes(self._ahead[at : self._filled])
        self._ahead[: len(rest)], self._filled = rest, len(rest)

    def _complete(self, answer: memoryview) -> None:
        self._answered(answer)
        if len(answer) >= LONG_BYTES and self._socket is not None and self.lost is None:
            # A long answer ends with the last received bytes, so that no part of the next answer has been received.
            try:
                connection = self._socket.dup()
            except OSError:  # too many open files: the event loop receives the next answer, too
                return
            self._transport.pause_reading()
            self._receiver = AnswerReceiver(connection, self._buffers, self.loop, self._answered, self._receive_again)

    def _receive_again(self, reason: Exception | None) -> None:
        """Receive answers in the event loop again, after the thread has ended; or fail with the given reason."""
        self._received_s, self._receiver = self.received_s, None
        self._buffers.free()
        if isinstance(reason, NotKafkaError):
            self._fail_as_not_kafka()
        elif reason is not None:
            self.connection_lost(reason)
            self._transport.abort()
        elif self.lost is None:
            self._transport.resume_reading()

    @property
    def received_s(self) -> float:
        """The time of the last arrival of data, by the monotonic clock; at first, that of the connection."""
        return self._received_s if self._receiver is None else self._receiver.received_s

    @property
    def descriptor(self) -> int | None:
        """The socket's descriptor, if answers can currently be received without the event loop; otherwise None."""
        if self._socket is None or self._receiver is not None or self.lost is not None or not _CAN_POLL:
            return None
        descriptor = self._socket.fileno()
        return descriptor if descriptor >= 0 and isinstance(self.loop, asyncio.SelectorEventLoop) else None

    def stop(self) -> None:
        """End the thread that receives answers, if there is one."""
        if self._receiver is not None:
            self._receiver.stop()

    def _fail_as_not_kafka(self) -> None:
        self.fail(BrokerError(f"{self._broker} does not speak Kafka's protocol: check the port in its address"))

    def _wake_for(self, missing: int) -> None:
        wake_at = min(missing, _WAKE_AT) if missing > _LONG else 1
        if wake_at != self._wake_at and self._socket is not None:
            self._wake_at = wake_at
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, wake_at)

    def _answered(self, answer: memoryview) -> None:
        if not self.waiting:
            return
        self._has_answered = True
        number, tagged, future = self.waiting.popleft()
        if SIZE.unpack_from(answer)[0] != number:
            self.fail(BrokerUnavailableError(f"{self._broker} sent a response that does not match the request"))
            return
        if not future.done():
            future.set_result(answer[5 if tagged else 4 :])  # a flexible header ends with an empty tag section

    def connection_lost(self, exc: Exception | None) -> None:
        """Fail all pending requests, because the connection was closed."""
        because = f": {exc}" if exc else ""
        # A listener that requires authentication closes a connection that sends another request first.
        when = "" if self._has_answered else " before its first response"
        advice = "reconnecting" if self._has_answered else "check that security.protocol is the listener's"
        self.fail(BrokerUnavailableError(f"the connection to {self._broker} was closed{when}{because}; {advice}"))

    def fail(self, error: BrokerError) -> None:
        """Fail all pending requests and mark the connection as lost."""
        self.lost = self.lost or error
        for _number, _tagged, future in self.waiting:
            if not future.done():
                future.set_exception(self.lost)
                future.exception()  # no warning if the future is no longer awaited
        self.waiting.clear()


class BrokerConnection:
    """A connection that answers requests in order. Bound to one event loop."""

    def __init__(self, opened: AIOKafkaConnection, broker: str, client_id: str) -> None:
        self.broker = broker
        self._client_id = client_id.encode()
        connection = cast("Any", opened)  # the library declares no types, and sets its attributes to None at first
        self._transport = cast("asyncio.Transport", connection._writer.transport)
        self._answers = _Answers(broker, self._transport)
        # Private attributes of aiokafka's connection are used only here, to stop its reader and to take over.
        connection._read_task.cancel()
        if connection._idle_handle is not None:
            connection._idle_handle.cancel()  # the idle timer does not see our requests
        self.versions = cast("dict[int, tuple[int, int]]", connection._versions)
        self._writer = connection._writer  # the writer would close the transport on deletion
        self._transport.set_protocol(self._answers)
        connection._reader = None  # from now on, this object is responsible for closing the connection
        self._transport.resume_reading()
        self._number = 0

    @property
    def received_s(self) -> float:
        """The time of the last arrival of data, which may be part of an answer, by the monotonic clock."""
        return self._answers.received_s

    @property
    def usable(self) -> bool:
        """True if the connection can take requests."""
        return self._answers.lost is None and not self._transport.is_closing()

    def speaks(self, api: int) -> bool:
        """Return whether the broker supports this API in the version used here."""
        low, high = self.versions.get(api, (0, -1))
        return low <= VERSIONS[api] <= high

    def send(self, api: int, body: bytes) -> asyncio.Future[memoryview]:
        """Send a request; the future's result is the body of the answer.

        Raises:
            BrokerUnavailableError: the connection is gone.
        """
        return self.send_all([(api, body)])[0]

    def send_all(self, requests: Sequence[tuple[int, bytes]]) -> list[asyncio.Future[memoryview]]:
        """Send several requests, each an API and a body, in one write; return the futures of their answers.

        Raises:
            BrokerUnavailableError: the connection is gone.
        """
        if self._answers.lost is not None:
            raise self._answers.lost
        futures, data = [], b""
        for api, body in requests:
            self._number = (self._number + 1) & 0x7FFFFFFF
            head = struct.pack(">hhih", api, VERSIONS[api], self._number, len(self._client_id)) + self._client_id
            future: asyncio.Future[memoryview] = self._answers.loop.create_future()
            self._answers.waiting.append((self._number, True, future))
            futures.append(future)
            data += SIZE.pack(len(head) + 1 + len(body)) + head + b"\0" + body
        self._transport.write(data)
        return futures

    @property
    def descriptor(self) -> int | None:
        """The socket's descriptor, if ``receive`` can currently be used; None if the event loop has to receive."""
        return None if self._transport.is_closing() else self._answers.descriptor

    def receive(self) -> bool:
        """Process received data while the event loop does not run; return False if the event loop has to do it.

        This is also the case if the connection has ended, which the event loop then detects.
        """
        descriptor = self.descriptor
        if descriptor is None:
            return False
        try:
            size = os.readv(descriptor, [self._answers.get_buffer(-1)])
        except BlockingIOError:
            return True
        except OSError:
            return False
        if size:
            self._answers.buffer_updated(size)
        return size > 0

    def close(self) -> None:
        """Close the connection; pending requests fail."""
        self._answers.fail(BrokerUnavailableError(f"the connection to {self.broker} was closed by the client"))
        self._answers.stop()
        self._transport.abort()


async def connect(settings: ConnectionSettings, host: str, port: int, timeout_s: float | None) -> BrokerConnection:
    """Connect to a broker.

    Args:
        settings: the settings of the connection.
        host: the broker's host.
        port: the broker's port.
        timeout_s: a time limit in seconds in addition to that of the settings, or None.

    Raises:
        BrokerError: the broker cannot be reached, refuses our credentials, or is too old.
        ConfigurationError: the settings cannot work.
    """
    broker = f"{host}:{port}"
    try:
        connection = await asyncio.wait_for(open_connection(settings, host, port), timeout_s)
    except TimeoutError as error:
        raise BrokerUnavailableError(
            f"connecting to {broker}: no answer in {timeout_s} s; check bootstrap.servers, and that the broker runs "
            "and can be reached from here"
        ) from error
    if connection._writer is None:  # closed before the event loop continued here
        raise BrokerUnavailableError(f"connecting to {broker}: the connection was closed at once; check that it runs")
    link = BrokerConnection(connection, broker, settings.client_id)
    if not all(link.speaks(api) for api in TO_READ):
        link.close()
        raise TooOldError(f"{broker} is too old to be read by markers (Kafka 3.1 or later is needed)")
    return link


class TooOldError(BrokerError):
    """The broker does not support the protocol versions that reading by markers needs."""
