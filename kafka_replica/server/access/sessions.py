"""Browser sessions: a cookie with the token of a signed-in person, and a value that proves the origin of forms.

The server stores no sessions: the cookie contains the token itself. So revoking a token ends its sessions, and every
process accepts them. Scripts cannot read the cookie (``HttpOnly``), and pages of other sites cannot make the browser
send it (``SameSite=Strict``). Forms that control a producer also need a value that only pages of the session contain.
Source: RFC 6265bis, section 5; OWASP, "Cross-Site Request Forgery Prevention", HMAC-based tokens.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from typing import Final, NamedTuple, TypedDict
from urllib.parse import quote, unquote

from starlette.requests import cookie_parser
from starlette.responses import Response
from starlette.types import Scope

from kafka_replica.server.errors.problems import Problem

SESSION: Final = "kafka_replica.session"
"""The key in a request's scope that holds its session."""
COOKIE: Final = "kafka_replica_session"
CSRF_FIELD: Final = "csrf"


class _CookieScope(TypedDict):
    path: str
    secure: bool


class Session(NamedTuple):
    """The session of a signed-in person: the name of the token's holder, the role, and the value for its forms."""

    holder: str
    role: str
    csrf: str


def token_of_cookie(header: str) -> str:
    """Return the token in the header ``Cookie``; empty if there is none."""
    return unquote(cookie_parser(header).get(COOKIE, ""))


def csrf_of(token: str) -> str:
    """Return the value that the forms of a session contain; it cannot be computed without the token."""
    return hmac.new(token.encode("utf-8", "surrogateescape"), b"kafka-replica form", hashlib.sha256).hexdigest()


def check_form(scope: Scope, fields: Mapping[str, str]) -> None:
    """Check that a form comes from a page of its session; requests with a token in their header have no session.

    Raises:
        Problem: 403 if the form does not contain the value of the session.
    """
    session: Session | None = scope.get(SESSION)
    if session is not None and not hmac.compare_digest(fields.get(CSRF_FIELD, "").encode(), session.csrf.encode()):
        raise Problem(403, "the form does not belong to this session; open its page again, and repeat the action")


def begin_session(answer: Response, scope: Scope, token: str) -> None:
    """Set the session cookie, which the browser keeps until it is closed."""
    answer.set_cookie(COOKIE, quote(token, safe=""), httponly=True, samesite="strict", **_cookie_scope(scope))


def end_session(answer: Response, scope: Scope) -> None:
    """Delete the session cookie."""
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict", **_cookie_scope(scope))


def _cookie_scope(scope: Scope) -> _CookieScope:
    return {"path": scope.get("root_path") or "/", "secure": scope["scheme"] == "https"}
