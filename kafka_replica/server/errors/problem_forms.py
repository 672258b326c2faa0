"""Conversion of problem details to the form that the client expects, wherever in the app the problem arose.

Browsers get pages, clients of the SDMX REST API get SDMX error messages, and all others get the problem details.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope, Send

from kafka_replica.server.errors.problems import PROBLEM
from kafka_replica.server.request_headers import request_headers


class Form(NamedTuple):
    """The form in which a problem is sent: the media type, the body, and headers that replace the original ones."""

    content_type: str
    body: bytes
    headers: Mapping[str, str] = {}


FormOf: TypeAlias = Callable[[Scope, dict[str, Any]], Form | None]
"""A function that returns the form of problem details for a request; None if it does not apply to the request."""


class ProblemForms:
    """Replaces problem details by the form that the client expects.

    Args:
        forms: called in this order until a function returns a form; otherwise the problem details are sent.
    """

    def __init__(self, *forms: FormOf) -> None:
        self._forms = forms

    def wrap(self, scope: Scope, send: Send) -> Send:
        """Return a function that sends the messages of an answer, and converts problem details."""
        begun: list[Message] = []

        async def send_form(message: Message) -> None:
            if begun:
                start = begun.pop()
                form = self._form(scope, json.loads(message["body"]))
                await send(start if form is None else _start(start, form))
                await send(message if form is None else {**message, "body": form.body})
            elif message["type"] == "http.response.start" and message["status"] >= 400 and _is_problem(message):
                begun.append(message)
            else:
                await send(message)

        return send_form

    def _form(self, scope: Scope, problem: dict[str, Any]) -> Form | None:
        found = (form_of(scope, problem) for form_of in self._forms)
        return next((form for form in found if form is not None), None)


def accepted(scope: Scope) -> str:
    """Return the header ``Accept`` of a request."""
    return request_headers(scope).values.get("accept", "")


def _start(message: Message, form: Form) -> Message:
    headers = MutableHeaders(raw=list(message["headers"]))
    headers.update({"content-type": form.content_type, "content-length": str(len(form.body)), **form.headers})
    headers.add_vary_header("Accept")
    return {**message, "headers": headers.raw}


def _is_problem(message: Message) -> bool:
    return Headers(raw=message["headers"]).get("content-type") == PROBLEM
