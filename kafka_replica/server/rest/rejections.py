"""The rejections of queries, each with its HTTP status and SDMX error code.

Source: SDMX REST 1.5.0, docs/4_7_errors.md ("SDMX to HTTP Error Mapping"); SDMX REST 2.2.2, doc/status.md.
"""

from __future__ import annotations

from typing import NamedTuple


class Rejection(NamedTuple):
    """The rejection of a query: the HTTP status, the SDMX error code, and a text with advice.

    ``omitted`` is the number of artefacts that cannot be read, and might be in the answer otherwise.
    """

    status: int
    code: int
    text: str
    omitted: int = 0


def syntax_error(text: str) -> Rejection:
    """Return the rejection of a request that does not comply with the API."""
    return Rejection(400, 140, text)


def too_long(limit: int) -> Rejection:
    """Return the rejection of a request whose path and query are longer than a limit in characters."""
    return Rejection(
        414, 140, f"the path and query string are longer than {limit:,} characters; query in several parts"
    )


def not_found(text: str, omitted: int = 0) -> Rejection:
    """Return the rejection of a query that selects nothing."""
    return Rejection(404, 100, text, omitted)


def not_acceptable(text: str) -> Rejection:
    """Return the rejection of a request for a format that is not offered, or that cannot represent the answer."""
    return Rejection(406, 150, text)


def semantic_error(text: str) -> Rejection:
    """Return the rejection of a syntactically valid query that violates a semantic rule."""
    return Rejection(422, 150, text)


def unreadable(text: str) -> Rejection:
    """Return the rejection of a query for an artefact whose record cannot be read."""
    return Rejection(500, 500, text)


def not_implemented(text: str) -> Rejection:
    """Return the rejection of a query that the service does not implement."""
    return Rejection(501, 501, text)


def too_large(text: str) -> Rejection:
    """Return the rejection of a query whose answer would exceed a limit of the service."""
    return Rejection(413, 510, text)
