"""The pages with which a person signs in with a token, and signs out."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from kafka_replica.server.access.policy import Role, check_role
from kafka_replica.server.access.sessions import begin_session, end_session
from kafka_replica.server.access.token_file import TokenFile
from kafka_replica.server.errors.problems import Problem
from kafka_replica.server.pages.links import Address
from kafka_replica.server.pages.rendering import Renderer, html_response
from kafka_replica.server.uploads.forms import form_fields

_HEADERS: Final = {"Cache-Control": "no-store", "Referrer-Policy": "same-origin"}
"""The headers of the pages; with the policy ``no-referrer``, browsers would not send the origin of a form."""


class SignInPages:
    """The endpoints for signing in and out.

    Args:
        renderer: renders the template.
        tokens: the accepted tokens; None if requests need no token.
        timeout_s: the time limit for receiving a form.
    """

    def __init__(self, renderer: Renderer, tokens: TokenFile | None, timeout_s: float) -> None:
        self._renderer = renderer
        self._tokens = tokens
        self._timeout_s = timeout_s

    async def page(self, request: Request) -> Response:
        """Answer with the form to sign in or, in a session, with the form to sign out."""
        self._check_tokens()
        return self._form(request, _local(request.query_params.get("next", "")))

    async def sign_in(self, request: Request) -> Response:
        """Start a session with the token of a form, and redirect to the page that the person wanted to open."""
        tokens = self._check_tokens()
        fields = await form_fields(request, self._timeout_s)
        following, token = _local(fields.get("next", "")), fields.get("token", "").strip()
        try:
            check_role(tokens.current(), f"Bearer {token}", Role.READ)
        except Problem:
            return self._form(request, following, status=401)
        answer = RedirectResponse(following or self._renderer.links(request.scope).page(), 303, _HEADERS)
        begin_session(answer, request.scope, token)
        return answer

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        self._check_tokens()
        address = self._renderer.links(request.scope).page("sign-in")
        answer = RedirectResponse(address, 303, {**_HEADERS, "Clear-Site-Data": '"cache"'})
        end_session(answer, request.scope)
        return answer

    def _check_tokens(self) -> TokenFile:
        if self._tokens is None:
            raise Problem(404, "signing in is not needed: the service was started without tokens_file")
        return self._tokens

    def _form(self, request: Request, following: str, status: int = 200) -> Response:
        links = self._renderer.links(request.scope)
        shown = {"section": "", "here": Address(("sign-in",)), "following": following, "refused": status != 200}
        return html_response(self._renderer.html("sign_in.html", links, shown), status, _HEADERS)


def _local(address: str) -> str:
    """Return a URL if it is a path of this server, else an empty text, so that no link redirects to another site."""
    is_path = address.startswith("/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_path else ""
