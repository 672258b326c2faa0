"""Conversion of problem details to the form that the client expects, wherever in the app the problem arose.

Browsers get pages, clients of the SDMX REST API get SDMX error messages, and all others get the problem details.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Message, Scope

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

    def apply(self, scope: Scope, start: Message, body: Message) -> tuple[Message, Message]:
        """Return the two messages of problem details in the form that the client expects."""
        form = self._form(scope, json.loads(body["body"]))
        return (start, body) if form is None else (_start(start, form), {**body, "body": form.body})

    def _form(self, scope: Scope, problem: dict[str, Any]) -> Form | None:
        found = (form_of(scope, problem) for form_of in self._forms)
        return next((form for form in found if form is not None), None)


def is_problem(start: Message) -> bool:
    """Return whether an answer, of which this is the first message, is problem details."""
    return start["status"] >= 400 and Headers(raw=start.get("headers", ())).get("content-type") == PROBLEM


def accepted(scope: Scope) -> str:
    """Return the header ``Accept`` of a request."""
    return request_headers(scope).values.get("accept", "")


def _start(message: Message, form: Form) -> Message:
    headers = MutableHeaders(raw=list(message["headers"]))
    headers.update({"content-type": form.content_type, "content-length": str(len(form.body)), **form.headers})
    if "accept" not in re.split(r"[\s,]+", ",".join(headers.getlist("vary")).lower()):
        headers.add_vary_header("Accept")
    return {**message, "headers": headers.raw}
