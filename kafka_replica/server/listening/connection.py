"""A connection that is closed if the client sends a request, or reads an answer, too slowly.

The connection also passes the subject of the client's certificate to the app, and whether it exceeds the maximum number
of connections.

uvicorn limits only the time between requests. A client that sends its headers byte by byte, or never reads its answer,
would occupy a connection and the memory of the answer without limit.
"""

from __future__ import annotations

import asyncio
from asyncio import Transport
from functools import partial
from typing import Any, cast
from urllib.parse import unquote

import h11
from starlette.responses import Response
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, RequestResponseCycle

from kafka_replica.server.access.client_certificates import SUBJECT, subject_of
from kafka_replica.server.access.gate import EXCESS
from kafka_replica.server.answers.finished_answer import AnswerKnown
from kafka_replica.server.listening.answer_transport import AnswerTransport
from kafka_replica.server.listening.plain_requests import PlainRequest, plain_request
from kafka_replica.server.listening.time_limit import TimeLimit, given_back_s


class BoundedConnection(H11Protocol):
    """A connection with limits, which subclasses set.

    Plain requests are read and answered without h11, which takes more time for a request than the app does.
    """

    header_timeout_s = 10.0
    """Time limit for receiving a request's line and headers, and before that for the handshake of TLS."""
    write_timeout_s = 30.0
    """The time for which the client may accept no data."""
    max_connections: int | None = None
    """The maximum number of connections; requests on further ones are refused. None means no limit."""
    answer_known: AnswerKnown | None = None
    """Sends the answer to a request if it is known; None if the app answers all requests."""
    _header_limit: TimeLimit | None = None
    _write_limit: TimeLimit | None = None
    _written_bytes = 0
    _later = b""
    """Data that has arrived while a plain request is answered."""

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        """Start the time limit for the headers of the first request."""
        super().connection_made(cast("Transport", AnswerTransport(transport, self.loop, self._wrote)))
        subject = subject_of(transport)
        if subject is not None:
            self.app_state = {**self.app_state, SUBJECT: subject}  # copied to the state of each request
        if self.max_connections is not None and len(self.connections) > self.max_connections:
            self.app_state = {**self.app_state, EXCESS: self.max_connections}
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Process received data; cancel the time limit when the headers of a request are complete."""
        self._received(data, may_be_known=True)

    def _received(self, data: bytes, *, may_be_known: bool) -> None:
        if self.transport.is_closing():  # TLS hands over what it received before
            return
        if self._answers_plainly():
            self._later += data
            self.flow.pause_reading()
            return
        request = plain_request(data) if self._is_idle() else None
        if request is not None:
            self._header_limit = _cancel(self._header_limit)
            self._unset_keepalive_if_required()
            self._answer(request, may_be_known=may_be_known)
            return
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._header_limit = _cancel(self._header_limit)
        elif self._header_limit is None:  # the start of a further request
            self._wait_for_headers()

    def _answers_plainly(self) -> bool:
        """Return whether a request that h11 has not read is being answered."""
        cycle: Any = self.cycle
        return isinstance(cycle, RequestResponseCycle) and not cycle.response_complete

    def _is_idle(self) -> bool:
        """Return whether h11 waits for a request and has received nothing of it."""
        return self.conn.their_state is h11.IDLE and not self.conn.trailing_data[0]

    def _answer(self, request: PlainRequest, *, may_be_known: bool) -> None:
        """Send a known answer, or have the app answer, as uvicorn does for h11 and for httptools."""
        raw_path, _, query_string = request.target.partition(b"?")
        self.headers = request.headers
        self.scope = {
            "type": "http",
            "asgi": {"version": cast("Any", self.asgi_version), "spec_version": "2.3"},
            "http_version": "1.1",
            "server": self.server,
            "client": self.client,
            "scheme": self.scheme or "http",
            "method": request.method,
            "root_path": self.root_path,
            "path": self.root_path + unquote(raw_path.decode("ascii")),
            "raw_path": self.root_path.encode("ascii") + raw_path,
            "query_string": query_string,
            "headers": request.headers,
            "state": self.app_state.copy(),
        }
        if may_be_known and request.keep_alive and not self.flow.write_paused and self._answers_known():
            self.on_response_complete()
        else:
            self._call_app(keep_alive=request.keep_alive)

    def _answers_known(self) -> bool:
        """Send the answer to the request if it is known; return whether it was sent."""
        return self.answer_known is not None and self.answer_known(cast("Any", self.scope), self._send_known)

    def _call_app(self, *, keep_alive: bool) -> None:
        cycle = RequestResponseCycle(
            scope=self.scope,
            transport=self.transport,
            flow=self.flow,
            logger=self.logger,
            access_logger=self.access_logger,
            access_log=self.access_log,
            default_headers=self.server_state.default_headers,
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=keep_alive,
            on_response=self._answered,
        )
        cycle.more_body = False
        cycle.message_event.set()
        self.cycle = cast("Any", cycle)
        task = self.loop.create_task(cycle.run_asgi(cast("Any", self.app)))
        task.add_done_callback(self.tasks.discard)
        self.tasks.add(task)

    def _send_known(self, answer: Response) -> None:
        """Send an answer with the bytes that uvicorn would send."""
        parts = [STATUS_LINE[answer.status_code]]
        for name, value in (*self.server_state.default_headers, *answer.raw_headers):
            parts += name, b": ", value, b"\r\n"
        parts.append(b"\r\n")
        cast("AnswerTransport", self.transport).write_answer(b"".join(parts), bytes(answer.body))

    def _answered(self) -> None:
        """Wait for the next request, or process what has arrived since."""
        self.on_response_complete()
        later, self._later = self._later, b""
        if later:  # within the answer before: a known one would be counted before that
            self._received(later, may_be_known=False)

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel all timers; uvicorn leaves its own one to itself if the client has reset the connection."""
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self._header_limit = _cancel(self._header_limit)
        self._write_limit = _cancel(self._write_limit)

    def _wait_for_headers(self) -> None:
        self._header_limit = TimeLimit(self.loop, self.header_timeout_s, self.transport.abort)

    def timeout_keep_alive_handler(self) -> None:
        """Close a connection that was idle for too long, but not at once after a pause, see ``TimeLimit``."""
        due_s = cast("asyncio.TimerHandle", self.timeout_keep_alive_task).when()
        rest_s = given_back_s(self.loop, due_s, self.timeout_keep_alive)
        self.timeout_keep_alive_task = self.loop.call_later(rest_s, super().timeout_keep_alive_handler)

    def _wrote(self, size: int) -> None:
        """Start checking whether the client accepts data, unless it has accepted everything."""
        self._written_bytes += size
        if self._write_limit is None and (unsent := self.transport.get_write_buffer_size()):
            self._watch_writing(self._written_bytes - unsent)

    def _watch_writing(self, accepted: int) -> None:
        self._write_limit = TimeLimit(self.loop, self.write_timeout_s, partial(self._check_writing, accepted))

    def _check_writing(self, accepted_before: int) -> None:
        self._write_limit = None
        unsent = self.transport.get_write_buffer_size()
        accepted = self._written_bytes - unsent
        if unsent and accepted <= accepted_before:
            self.transport.abort()
        elif unsent:
            self._watch_writing(accepted)


def bounded_connection(
    header_timeout_s: float,
    write_timeout_s: float,
    max_connections: int | None,
    answer_known: AnswerKnown | None = None,
) -> type[BoundedConnection]:
    """Return a class of connections with these limits, which may send known answers without calling the app."""
    limits: dict[str, Any] = {
        "header_timeout_s": header_timeout_s, "write_timeout_s": write_timeout_s, "max_connections": max_connections,
        "answer_known": None if answer_known is None else staticmethod(answer_known),
    }  # fmt: skip
    return type("BoundedConnection", (BoundedConnection,), limits)


def _cancel(limit: TimeLimit | None) -> TimeLimit | None:
    if limit is not None:
        limit.cancel()
    return None
