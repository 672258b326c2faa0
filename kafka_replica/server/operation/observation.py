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
from kafka_replica.server.errors.problems import problem_response
from kafka_replica.server.operation.access_log import Access, is_logged, log_access
from kafka_replica.server.request_headers import request_headers

REQUEST_ID: Final = "X-Request-ID"
_log = logging.getLogger("kafka_replica.server")
_is_possible_id: Final = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}").fullmatch
_LOWER_REQUEST_ID: Final = REQUEST_ID.lower()
RAW_REQUEST_ID: Final = _LOWER_REQUEST_ID.encode()
_ID_IN_SCOPE: Final = "kafka_replica.request_id"
_PROTECTION: Final = (
    (
        b"content-security-policy",
        b"default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
)
_PROTECTING: Final = frozenset(name for name, _ in _PROTECTION)


class Observation:
    """A middleware that adds a request id and security headers to each answer, counts it and logs it.

    Args:
        app: the wrapped app.
        metrics: counts requests.
        route_of: returns the name of the route that answered a request; there are few names.
        presented: wraps the function that sends an answer, so that errors have the form that the client expects.
    """

    def __init__(
        self,
        app: ASGIApp,
        metrics: RequestMetrics,
        route_of: Callable[[Scope], str],
        presented: Callable[[Scope, Send], Send],
    ) -> None:
        self._app = app
        self._metrics = metrics
        self._route_of = route_of
        self._presented = presented

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began_s, request_id = time.perf_counter(), request_id_of(scope)
        status, bytes_sent = 0, 0

        async def observed(message: Message) -> None:
            nonlocal status, bytes_sent
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _protected(message.get("headers", ()), request_id)
            elif message["type"] == "http.response.body":
                if scope["method"] == "HEAD":
                    message["body"] = b""
                bytes_sent += len(message.get("body", b""))
            await send(message)

        answered = self._presented(scope, observed)
        self._metrics.begun()
        try:
            await self._app(scope, receive, answered)
        finally:
            duration_s = time.perf_counter() - began_s
            self._metrics.ended(self._route_of(scope), scope["method"], status, duration_s, bytes_sent)
            if is_logged():
                log_access(_access(scope, status, bytes_sent, duration_s, request_id))


class UnexpectedErrors:
    """A middleware that answers with the id of the request if the app fails; the log has the error.

    It is inside the layer that allows scripts of other origins to read answers, so that they can read these, too.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        has_begun = False

        async def noted(message: Message) -> None:
            nonlocal has_begun
            has_begun = True
            await send(message)

        try:
            await self._app(scope, receive, noted)
        except Exception:
            if scope["type"] != "http":
                raise
            request_id = request_id_of(scope)
            _log.exception("request %s failed", request_id)
            if has_begun:
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


def _protected(headers: Iterable[tuple[bytes, bytes]], request_id: str) -> list[tuple[bytes, bytes]]:
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


def _access(scope: Scope, status: int, bytes_sent: int, duration_s: float, request_id: str) -> Access:
    client = scope.get("client")
    query = scope["query_string"].decode("latin-1")
    target = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1") + (f"?{query}" if query else "")
    where = "-" if client is None else str(client[0])
    return Access(where, scope["method"], target, status, bytes_sent, round(duration_s, 6), request_id)
