"""A connection that is closed if the client sends a request, or reads an answer, too slowly.

The connection also passes the subject of the client's certificate to the app, and whether it exceeds the maximum number
of connections.

uvicorn limits only the time between requests. A client that sends its headers byte by byte, or never reads its answer,
would occupy a connection and the memory of the answer without limit.
"""

from __future__ import annotations

import asyncio
from asyncio import AbstractEventLoop, Transport
from collections.abc import Callable
from typing import Any, Final, cast

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kafka_replica.server.access.client_certificates import SUBJECT, subject_of
from kafka_replica.server.access.gate import EXCESS

_HEAD: Final = b"HTTP/"
_MAX_JOINED_BYTES: Final = 65_536
"""The maximum size of data that is joined; copying more takes longer than a second packet."""


class BoundedConnection(H11Protocol):
    """A connection with limits, which subclasses set."""

    header_timeout_s = 10.0
    """Time limit for receiving a request's line and headers."""
    write_timeout_s = 30.0
    """The time for which the client may accept no data."""
    max_connections: int | None = None
    """The maximum number of connections; requests on further ones are refused. None means no limit."""
    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _written_bytes = 0

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the time limit for the headers of the first request."""
        super().connection_made(cast("Transport", _AnswerTransport(transport, self.loop, self._wrote)))
        subject = subject_of(transport)
        if subject is not None:
            self.app_state = {**self.app_state, SUBJECT: subject}  # copied to the state of each request
        if self.max_connections is not None and len(self.connections) > self.max_connections:
            self.app_state = {**self.app_state, EXCESS: self.max_connections}
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Process received data; cancel the time limit when the headers of a request are complete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._header_timer = _cancel(self._header_timer)
        elif self._header_timer is None:  # the start of a further request
            self._wait_for_headers()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers."""
        super().connection_lost(exc)
        self._header_timer = _cancel(self._header_timer)
        self._write_timer = _cancel(self._write_timer)

    def _wait_for_headers(self) -> None:
        self._header_timer = self.loop.call_later(self.header_timeout_s, self.transport.abort)

    def _wrote(self, size: int) -> None:
        """Start checking whether the client accepts data, unless it has accepted everything."""
        self._written_bytes += size
        if self._write_timer is None and (unsent := self.transport.get_write_buffer_size()):
            self._watch_writing(self._written_bytes - unsent)

    def _watch_writing(self, accepted: int) -> None:
        self._write_timer = self.loop.call_later(self.write_timeout_s, self._check_writing, accepted)

    def _check_writing(self, accepted_before: int) -> None:
        self._write_timer = None
        unsent = self.transport.get_write_buffer_size()
        accepted = self._written_bytes - unsent
        if unsent and accepted <= accepted_before:
            self.transport.abort()
        elif unsent:
            self._watch_writing(accepted)


class _AnswerTransport:
    """A transport that sends the head of an answer together with its body, and that reports each write.

    uvicorn writes them separately, which costs a call of the system and a packet more. A head whose body does not
    follow at once is sent in the next turn of the event loop.

    The transport also knows how many bytes the client has not accepted: asyncio itself reports only buffers above 64
    KiB, and waits without limit until the client has accepted the rest.
    """

    def __init__(self, transport: Transport, loop: AbstractEventLoop, wrote: Callable[[int], object]) -> None:
        self._transport = transport
        self._loop = loop
        self._wrote = wrote
        self._head = b""
        # With TLS, the connection below has a buffer of its own, which asyncio does not count, and no public name.
        self._below: Transport | None = getattr(getattr(transport, "_ssl_protocol", None), "_transport", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Write data; keep a head until the next write, at most until the next turn of the event loop."""
        head = self._head
        if head:
            self._head = b""
            if len(data) > _MAX_JOINED_BYTES:
                self._send(head)
            else:
                data = head + data
        elif data.startswith(_HEAD) and len(data) <= _MAX_JOINED_BYTES:  # a part of a body may begin like this, too
            self._head = data
            self._loop.call_soon(self._send_head)
            return
        if data:
            self._send(data)

    def _send(self, data: bytes) -> None:
        self._transport.write(data)
        self._wrote(len(data))

    def _send_head(self) -> None:
        head, self._head = self._head, b""
        if head and not self._transport.is_closing():  # the client may have left
            self._send(head)

    def close(self) -> None:
        """Close the connection after the rest was sent."""
        self._send_head()
        if not self._transport.is_closing():  # with TLS, closing it again would make its buffer unknown
            self._transport.close()

    def get_write_buffer_size(self) -> int:
        """Return the number of reported bytes that were not handed over to the operating system yet."""
        below = self._below
        return self._transport.get_write_buffer_size() + (0 if below is None else below.get_write_buffer_size())

    def abort(self) -> None:
        """Close the connection without sending the rest."""
        self._head = b""
        (self._below or self._transport).abort()


def bounded_connection(
    header_timeout_s: float, write_timeout_s: float, max_connections: int | None
) -> type[BoundedConnection]:
    """Return a class of connections with these limits."""
    limits: dict[str, Any] = {
        "header_timeout_s": header_timeout_s, "write_timeout_s": write_timeout_s, "max_connections": max_connections,
    }  # fmt: skip
    return type("BoundedConnection", (BoundedConnection,), limits)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
