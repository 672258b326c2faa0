"""A request of the SDMX REST API and its answer, without any HTTP library."""

from __future__ import annotations

from typing import NamedTuple


class RestRequest(NamedTuple):
    """A request for structures."""

    path: str
    """The path after the base path, still percent-encoded: ``structure/codelist/SDMX/CL_FREQ/+``."""
    query: str = ""
    """The query string, still percent-encoded."""
    accept: str = ""
    """The header ``Accept``."""
    if_none_match: str = ""
    """The header ``If-None-Match``."""


class RestAnswer(NamedTuple):
    """The answer to a request."""

    status: int
    headers: tuple[tuple[str, str], ...]
    """``Content-Type``, ``ETag``, ``Vary`` and others."""
    body: bytes
