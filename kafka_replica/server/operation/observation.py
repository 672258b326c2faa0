"""The outermost layer of the app: request ids, security headers, metrics and the access log; and unexpected errors."""

from __future__ import annotations

import logging
import random
import re
import time
from collections.abc import Callable, Iterable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from kafka_replica.metrics.server import RequestMetrics
from kafka_replica.server.errors.problem_forms import ProblemForms, is_problem
from kafka_replica.server.errors.problems import problem_response
from kafka_replica.server.operation.access_log import Access, is_logged, log_access
from kafka_replica.server.request_headers import request_headers

REQUEST_ID: Final = "X-Request-ID"
_log = logging.getLogger("kafka_replica.server")
_is_possible_id: Final = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}").fullmatch
_LOWER_REQUEST_ID: Final = REQUEST_ID.lower()
RAW_REQUEST_ID: Final = _LOWER_REQUEST_ID.encode()
_ID_IN_SCOPE: Final = "kafka_replica.request_id"
_ANSWER_IN_SCOPE: Final = "kafka_replica.answer"
_PROTECTION: Final = (
    (
        b"content-security-policy",
        b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_PROTECTING: Final = frozenset(name for name, _ in _PROTECTION)


class PassedAnswer:
    """The answer to a request, which is passed on as it is.

    Args:
        send: sends a message to the client.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self.has_begun = False
        """True if the app has begun to answer."""

    async def send(self, message: Message) -> None:
        """Send a message of the app."""
        self.has_begun = True
        await self._send(message)


class ObservedAnswer:
    """The answer to a request: passes its messages on, protects and counts them, and gives errors their form.

    One object does all this, because a function for each costs more than what it does.

    Args:
        scope: the request.
        send: sends a message to the client.
        forms: the forms of errors.
    """

    __slots__ = ("_forms", "_problem", "_scope", "_send", "bytes_sent", "request_id", "status")

    def __init__(self, scope: Scope, send: Send, forms: ProblemForms) -> None:
        self._scope = scope
        self._send = send
        self._forms = forms
        self._problem: Message | None = None
        """The start of problem details whose form depends on their text."""
        self.request_id = request_id_of(scope)
        self.status = 0
        """The HTTP status; 0 as long as the answer has not begun."""
        self.bytes_sent = 0

    @property
    def has_begun(self) -> bool:
        """True once the head of the answer is being sent."""
        return self.status != 0

    async def send(self, message: Message) -> None:
        """Send a message of the app."""
        if message["type"] == "http.response.start":
            if is_problem(message):
                self._problem = message
                return
            await self._start(message)
            return
        if message["type"] == "http.response.body":
            if self._problem is not None:
                start, message = self._forms.apply(self._scope, self._problem, message)
                self._problem = None
                await self._start(start)
            if self._scope["method"] == "HEAD":
                message["body"] = b""
            self.bytes_sent += len(message.get("body", b""))
        await self._send(message)

    async def _start(self, message: Message) -> None:
        self.status = message["status"]
        message["headers"] = protected(message.get("headers", ()), self.request_id)
        await self._send(message)


class Observation:
    """A middleware that adds a request id and security headers to each answer, counts it and logs it.

    Args:
        app: the wrapped app.
        metrics: counts requests.
        route_of: returns the name of the route that answered a request; there are few names.
        forms: the forms that errors get, so that each client can read them.
    """

    def __init__(
        self, app: ASGIApp, metrics: RequestMetrics, route_of: Callable[[Scope], str], forms: ProblemForms
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._route_of = route_of
        self._forms = forms

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s = time.perf_counter()
        answer = scope[_ANSWER_IN_SCOPE] = ObservedAnswer(scope, send, self._forms)
        self._metrics.begun()
        try:
            await self._app(scope, receive, answer.send)
        finally:
            duration_s = time.perf_counter() - began_s
            scope.pop(_ANSWER_IN_SCOPE, None)  # otherwise they keep each other until garbage is collected
            self._metrics.ended(self._route_of(scope), scope["method"], answer.status, duration_s, answer.bytes_sent)
            log_request(scope, answer.status, answer.bytes_sent, duration_s)


class UnexpectedErrors:
    """A middleware that answers with the id of the request if the app fails; the log has the error.

    It is inside the layer that allows scripts of other origins to read answers, so that they can read these, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        answer = scope.get(_ANSWER_IN_SCOPE)
        if answer is None:  # in the main process of several, whose workers observe the answers
            answer = PassedAnswer(send)
            send = answer.send
        try:
            await self._app(scope, receive, send)
        except Exception:
            request_id = request_id_of(scope)
            _log.exception("request %s failed", request_id)
            if answer.has_begun:
                raise  # the headers are sent already; the server closes the connection
            detail = f"an unexpected error; the server's log has it under {REQUEST_ID} {request_id}"
            await problem_response(500, detail)(scope, receive, send)


def request_id_of(scope: Scope) -> str:
    """Return the id of a request: the one that the client sent, if it has only harmless characters; otherwise a new id.

    The id is kept in the scope of the request.
    """
    known: str | None = scope.get(_ID_IN_SCOPE)
    if known is None:
        sent = request_headers(scope).values.get(_LOWER_REQUEST_ID)
        known = sent if sent and _is_possible_id(sent) else f"{random.getrandbits(64):016x}"  # it is no secret
        scope[_ID_IN_SCOPE] = known
    return known


def protected(headers: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer with the missing security headers and the id of the request."""
    found = list(headers)
    own = dict(found)
    if RAW_REQUEST_ID in own:
        found = [header for header in found if header[0] != RAW_REQUEST_ID]
    if _PROTECTING.isdisjoint(own):
        found += _PROTECTION
    else:
        found += [header for header in _PROTECTION if header[0] not in own]
    found.append((RAW_REQUEST_ID, request_id.encode()))
    return found


def log_request(scope: Scope, status: int, bytes_sent: int, duration_s: float) -> None:
    """Log a finished request, if the access log is enabled."""
    if not is_logged():
        return
    client = scope.get("client")
    query = scope["query_string"].decode("latin-1")
    target = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1") + (f"?{query}" if query else "")
    where = "-" if client is None else str(client[0])
    method, request_id = scope["method"], request_id_of(scope)
    log_access(Access(where, method, target, status, bytes_sent, round(duration_s, 6), request_id))
