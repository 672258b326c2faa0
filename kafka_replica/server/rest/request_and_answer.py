"""A request to the SDMX REST API and its answer, independent of any HTTP library."""

from __future__ import annotations

from typing import Final, NamedTuple

VARY: Final = ("Vary", "Accept")
"""The header of all answers that depend on the formats that a request accepts."""


class RestRequest(NamedTuple):
    """A GET request.

    Attributes:
        path: the path after the base path, still percent-encoded: ``structure/codelist/SDMX/CL_FREQ/+``. If it
            starts with ``v1/`` or ``v2/``, this is the version of the API; otherwise the path itself determines it.
        query: the query string, still percent-encoded.
        accept: the header Accept.
        if_none_match: the header If-None-Match.
    """

    path: str
    query: str = ""
    accept: str = ""
    if_none_match: str = ""


class RestAnswer(NamedTuple):
    """An answer: its status, headers and body.

    Attributes:
        status: the HTTP status.
        headers: pairs of name and value.
        body: the message.
        problem: the error message for people; None if the answer is not an error.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes
    problem: str | None = None
