"""The first check of every request: method, lengths, host, token, and the numbers of connections and requests.

Health checks need no allowed host name and no token, because they reveal no data and orchestrators have neither. The
sign-in and sign-out pages, the style sheet and the icon need no token.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kafka_replica.server.access.client_certificates import SUBJECT
from kafka_replica.server.access.policy import (
    GRANTED,
    LOOPBACK_NAMES,
    Role,
    Token,
    check_origin,
    check_own_origin,
    check_role,
    is_allowed_host,
)
from kafka_replica.server.access.sessions import SESSION, Session, csrf_of, token_of_cookie
from kafka_replica.server.access.token_file import TokenFile
from kafka_replica.server.errors.problems import RETRY_AFTER_S, Problem, busy, problem_response
from kafka_replica.server.request_headers import request_headers
from kafka_replica.server.settings import ServerSettings

METHODS: Final = ("GET", "HEAD", "OPTIONS")
DATA_METHODS: Final = ("POST", "OPTIONS")
"""The methods of paths that accept uploaded data."""
FORM_METHODS: Final = (*METHODS, "POST")
"""The methods of pages whose forms send data."""
EXCESS: Final = "excess_connection"
"""The key in a request's state that its connection sets to the maximum number of connections, if it exceeds it."""
_HEALTH: Final = "/health/"
_STREAMS: Final = ("/changes", "/changes/")
_takes_data: Final = re.compile(r"(?:/version/[^/]+)?/(?:validate|map)/?|/ws/public/data/validate/?").fullmatch
_takes_forms: Final = re.compile(r"(?:/version/[^/]+)?/upload(?:/map)?/?").fullmatch
_signs_in_or_out: Final = re.compile(r"/sign-(?:in|out)/?").fullmatch
_is_static: Final = re.compile(r"/static/[^/]+").fullmatch


_controls: Final = re.compile(r"/producers/[^/]+/[^/]+/?").fullmatch


class Gate:
    """A middleware that rejects requests before any work is done for them.

    Args:
        app: the wrapped app.
        checks: finds the reasons for rejections.
    """

    def __init__(self, app: ASGIApp, checks: RequestChecks) -> None:
        self._app = app
        self._checks = checks

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the app, or answer it with the reason for the rejection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        try:
            self._checks.check(scope, path)
        except HTTPException as problem:
            refusal = problem_response(problem.status_code, problem.detail, dict(problem.headers or {}))
            await refusal(scope, receive, send)
            return
        if scope["method"] == "OPTIONS" and not self._checks.is_allowed_preflight(scope):
            await Response(None, 204, {"Allow": ", ".join(_methods_of(path))})(scope, receive, send)
            return
        # Without a valid token only the pages to sign in and out are open, which wait for the client, not for a thread.
        is_counted = not path.startswith(_HEALTH) and path not in _STREAMS and not _is_unidentified(scope, path)
        self._checks.running += is_counted
        try:
            await self._app(scope, receive, send)
        finally:
            self._checks.running -= is_counted


class RequestChecks:
    """Finds the reasons for which requests are rejected, and knows how many are in progress.

    Args:
        settings: the limits.
        tokens: the accepted tokens; None if requests need no token.
    """

    def __init__(self, settings: ServerSettings, tokens: TokenFile | None) -> None:
        self._settings = settings
        self._hosts = frozenset(name.lower() for name in settings.allowed_hosts or LOOPBACK_NAMES)
        self._tokens = tokens
        self.running = 0
        """The number of requests in progress, as far as they are limited."""

    def is_allowed_preflight(self, scope: Scope) -> bool:
        """Return whether a request is a CORS preflight request, and other origins may be allowed."""
        return bool(self._settings.allowed_origins) and _is_preflight(scope)

    def check(self, scope: Scope, path: str) -> None:
        """Raise the reason for which a request is rejected, if there is one; store its sender in its scope.

        Raises:
            HTTPException: the reason.
        """
        size_bytes, headers = request_headers(scope)
        needed = self._check_method(scope["method"], path, headers)
        target = scope["path"]
        if target and target[0] != "/" and (target != "*" or scope["method"] != "OPTIONS"):
            raise Problem(400, "the target of a request must be a path, or a URL with http or https, and a host")
        if len(scope.get("raw_path") or b"") + len(scope["query_string"]) > self._settings.max_url_bytes:
            raise Problem(414, f"path and query are longer than {self._settings.max_url_bytes} bytes")
        if size_bytes > self._settings.max_header_bytes:
            raise Problem(431, f"the headers are larger than {self._settings.max_header_bytes} bytes")
        if path.startswith(_HEALTH):
            return
        most = scope.get("state", {}).get(EXCESS)
        if most is not None:
            headers = {"Retry-After": str(RETRY_AFTER_S), "Connection": "close"}
            raise Problem(503, f"{most} other connections are open", headers)
        if not is_allowed_host(headers.get("host", ""), self._hosts):
            raise Problem(400, "this host name is not allowed; the server's setting allowed_hosts lists the names")
        if self._tokens is not None and not _is_preflight(scope) and not _is_static(path):
            self._identify(scope, headers, self._tokens.current(), needed, is_open=bool(_signs_in_or_out(path)))
        elif needed is Role.CONTROL:
            raise Problem(403, "controlling needs a token with the role control: start the service with tokens_file")
        if self.running >= self._settings.max_requests:
            raise busy(f"{self._settings.max_requests} requests are in progress")

    @staticmethod
    def _identify(
        scope: Scope, headers: Mapping[str, str], tokens: Sequence[Token], needed: Role, *, is_open: bool
    ) -> None:
        """Store the sender of a request in its scope.

        The header ``Authorization`` takes precedence over a session, and a session over a client certificate.
        """
        authorization = headers.get("authorization", "")
        token = "" if authorization else token_of_cookie(headers.get("cookie", ""))
        subject = scope.get("state", {}).get(SUBJECT)
        try:
            granted = check_role(tokens, authorization or (f"Bearer {token}" if token else ""), needed, subject)
        except Problem:
            if is_open:  # a person who signs in has no valid token yet
                return
            raise
        scope[GRANTED] = granted
        if token:
            scope[SESSION] = Session(granted.holder or "unnamed", granted.role.name.lower(), csrf_of(token))

    def _check_method(self, method: str, path: str, headers: Mapping[str, str]) -> Role:
        """Check method, body and origin; return the role that the request needs."""
        if method == "POST" and (_takes_data(path) or _takes_forms(path)):
            check_origin(headers, self._settings.allowed_origins)
        elif method == "POST" and _controls(path):
            check_own_origin(headers)
            return Role.CONTROL
        elif method == "POST" and _signs_in_or_out(path):
            check_own_origin(headers)
        elif method not in METHODS:
            allowed = _methods_of(path)
            advice = "the server is read-only; use GET" if allowed is METHODS else f"use {', '.join(allowed)} here"
            # The connection is closed, because the request's body is not read.
            raise Problem(405, advice, {"Allow": ", ".join(allowed), "Connection": "close"})
        elif headers.get("content-length", "0") != "0" or "transfer-encoding" in headers:
            raise Problem(413, "a request must not have a body here", {"Connection": "close"})
        return Role.READ


def _methods_of(path: str) -> tuple[str, ...]:
    """Return the methods that a path allows."""
    if _takes_data(path) or _controls(path):
        return DATA_METHODS
    return FORM_METHODS if _takes_forms(path) or _signs_in_or_out(path) else METHODS


def _is_unidentified(scope: Scope, path: str) -> bool:
    """Return whether a request signs in or out without a valid token, so that it takes the place of no other one."""
    return path.startswith("/sign-") and GRANTED not in scope and _signs_in_or_out(path) is not None


def _is_preflight(scope: Scope) -> bool:
    """Return whether a request is a CORS preflight request, with which browsers send no token."""
    return scope["method"] == "OPTIONS" and "access-control-request-method" in request_headers(scope).values
