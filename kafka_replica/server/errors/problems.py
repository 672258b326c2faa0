"""Error answers of everything except the SDMX REST API, as problem details in JSON. Source: RFC 9457."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

PROBLEM: Final = "application/problem+json"
"""The media type of problem details."""
RETRY_AFTER_S = 1


class Problem(HTTPException):
    """An error that ends a request.

    Args:
        status: the HTTP status.
        detail: a sentence for people; it must not contain local paths or secrets.
        headers: additional headers of the answer.
    """

    def __init__(self, status: int, detail: str, headers: dict[str, str] | None = None) -> None:
        super().__init__(status, detail, headers)


def names_problem(accept: str) -> bool:
    """Return whether the header ``Accept`` names problem details."""
    return PROBLEM in accept.lower()


def busy(detail: str) -> Problem:
    """Return a problem with status 503, for a request that may succeed if it is repeated."""
    return Problem(503, detail, {"Retry-After": str(RETRY_AFTER_S)})


def problem_response(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    """Return an answer with problem details."""
    title = HTTPStatus(status).phrase
    body = json.dumps({"title": title, "status": status, "detail": detail}, separators=(",", ":"))
    return Response(body, status, {"Cache-Control": "no-store", **(headers or {})}, PROBLEM)


async def answer_exception(_request: Request, error: Exception) -> Response:
    """Return the answer to a request that failed with a ``Problem`` or another exception of Starlette."""
    assert isinstance(error, HTTPException)  # noqa: S101 - the handler is registered only for this class
    details = {404: "there is nothing at this path", 405: f"use {(error.headers or {}).get('Allow', 'GET')} here"}
    detail = error.detail if isinstance(error, Problem) else details.get(error.status_code, error.detail)
    return problem_response(error.status_code, detail, dict(error.headers or {}))
