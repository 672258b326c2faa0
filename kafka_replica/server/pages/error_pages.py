"""Conversion of problem details to HTML pages, for browsers."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import quote

from starlette.types import Scope

from kafka_replica.server.answers.accept import prefers_html
from kafka_replica.server.errors.problem_forms import Form, accepted
from kafka_replica.server.pages.rendering import POLICY, Renderer

_REFUSALS: Final = (401, 403)


class ErrorPages:
    """Converts problem details to HTML pages.

    Args:
        renderer: renders the pages.
        has_tokens: whether people can sign in.
    """

    def __init__(self, renderer: Renderer, *, has_tokens: bool) -> None:
        self._renderer = renderer
        self._has_tokens = has_tokens

    def form(self, scope: Scope, problem: dict[str, Any]) -> Form | None:
        """Return the page; None if the request does not come from a browser."""
        if not prefers_html(accepted(scope)):
            return None
        return Form("text/html; charset=utf-8", self._page(scope, problem), {"content-security-policy": POLICY})

    def _page(self, scope: Scope, problem: dict[str, object]) -> bytes:
        links = self._renderer.links(scope)
        sign_in = (
            links.page("sign-in", next=_following(scope))
            if self._has_tokens and problem["status"] in _REFUSALS
            else None
        )
        return self._renderer.html("error.html", links, {**problem, "sign_in": sign_in})


def _following(scope: Scope) -> str:
    """Return the URL to open after signing in: the page that was refused; empty if the request sent a form."""
    if scope["method"] != "GET":
        return ""
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"], safe="/") + (f"?{query}" if query else "")
