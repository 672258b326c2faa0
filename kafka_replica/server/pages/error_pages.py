"""Problem details as pages, for browsers."""

from __future__ import annotations

import json
from typing import Final
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

from kafka_replica.server.accept import prefers_html
from kafka_replica.server.pages.rendering import POLICY, Renderer

_PROBLEM: Final = "application/problem+json"
_REFUSALS: Final = (401, 403)


class ErrorPages:
    """Replaces problem details by a page if the request comes from a browser, wherever in the app the problem arose.

    Args:
        renderer: renders the pages.
        has_tokens: whether people can sign in.
    """

    def __init__(self, renderer: Renderer, *, has_tokens: bool) -> None:
        self._renderer = renderer
        self._has_tokens = has_tokens

    def wrap(self, scope: Scope, send: Send) -> Send:
        """Return a function that sends the messages of an answer, problems as pages."""
        if not prefers_html(", ".join(Headers(scope=scope).getlist("accept"))):
            return send
        begun: list[Message] = []

        async def send_page(message: Message) -> None:
            if message["type"] == "http.response.start":
                if Headers(raw=message["headers"]).get("content-type") != _PROBLEM:
                    await send(message)
                else:
                    begun.append(message)
            elif begun:
                start = begun.pop()
                body = self._page(scope, json.loads(message["body"]))
                headers = MutableHeaders(raw=start["headers"])
                headers["content-type"] = "text/html; charset=utf-8"
                headers["content-length"] = str(len(body))
                headers["content-security-policy"] = POLICY
                headers.add_vary_header("Accept")
                await send(start)
                await send({**message, "body": body})
            else:
                await send(message)

        return send_page

    def _page(self, scope: Scope, problem: dict[str, object]) -> bytes:
        links = self._renderer.links(scope)
        sign_in = (
            links.page("sign-in", next=_following(scope))
            if self._has_tokens and problem["status"] in _REFUSALS
            else None
        )
        return self._renderer.html("error.html", links, {**problem, "sign_in": sign_in})


def _following(scope: Scope) -> str:
    """Return the address to open after signing in: the page that was refused, unless it was a form."""
    if scope["method"] != "GET":
        return ""
    query = scope["query_string"].decode("latin-1")
    return quote(scope["path"], safe="/") + (f"?{query}" if query else "")
