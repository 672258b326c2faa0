"""A connection that is closed if the client sends a request, or reads an answer, too slowly.

The connection also passes the subject of the client's certificate to the app.

uvicorn limits only the time between requests. A client that sends its headers byte by byte, or never reads its answer,
would occupy a connection and the memory of the answer without limit.
"""

from __future__ import annotations

import asyncio
from asyncio import Transport
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kafka_replica.server.access.client_certificates import SUBJECT, subject_of


class BoundedConnection(H11Protocol):
    """A connection with time limits, which subclasses set."""

    header_timeout_s = 10.0
    """Time limit for receiving a request's line and headers."""
    write_timeout_s = 30.0
    """The time for which the client may accept no data."""
    _header_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the time limit for the headers of the first request."""
        super().connection_made(transport)
        subject = subject_of(transport)
        if subject is not None:
            self.app_state = {**self.app_state, SUBJECT: subject}  # copied to the state of each request
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Process received data; cancel the time limit when the headers of a request are complete."""
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._header_timer = _cancel(self._header_timer)
        elif self._header_timer is None:  # the start of a further request
            self._wait_for_headers()

    def pause_writing(self) -> None:
        """Start checking whether the client accepts data."""
        super().pause_writing()
        self._watch_writing(self.transport.get_write_buffer_size())

    def resume_writing(self) -> None:
        """Stop checking, because the client has accepted enough data."""
        super().resume_writing()
        self._write_timer = _cancel(self._write_timer)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers."""
        super().connection_lost(exc)
        self._header_timer = _cancel(self._header_timer)
        self._write_timer = _cancel(self._write_timer)

    def _wait_for_headers(self) -> None:
        self._header_timer = self.loop.call_later(self.header_timeout_s, self.transport.abort)

    def _watch_writing(self, size: int) -> None:
        self._write_timer = self.loop.call_later(self.write_timeout_s, self._check_writing, size)

    def _check_writing(self, size_before: int) -> None:
        size = self.transport.get_write_buffer_size()
        if size >= size_before:
            self.transport.abort()
        else:
            self._watch_writing(size)


def bounded_connection(header_timeout_s: float, write_timeout_s: float) -> type[BoundedConnection]:
    """Return a class of connections with these time limits."""
    limits: dict[str, Any] = {"header_timeout_s": header_timeout_s, "write_timeout_s": write_timeout_s}
    return type("BoundedConnection", (BoundedConnection,), limits)


def _cancel(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    if timer is not None:
        timer.cancel()
    return None
