"""Decoding of paths and query strings."""

from __future__ import annotations

from typing import Final
from urllib.parse import unquote

from kafka_replica.server.rest.grammar import IGNORED_PARAMETERS
from kafka_replica.server.rest.rejections import Rejection, syntax_error

_SHOWN: Final = 80


class RejectedError(Exception):
    """The rejection of a request as an exception, within parsing only."""

    def __init__(self, rejection: Rejection) -> None:
        super().__init__(rejection.text)
        self.rejection = rejection


def rejected(text: str) -> RejectedError:
    """Return the error for a request that does not comply with the API."""
    return RejectedError(syntax_error(text))


def segments_of(path: str) -> list[str]:
    """Return the decoded segments of a path, without empty segments at its ends. Raises RejectedError."""
    segments = [_decoded(part) for part in path.split("/")]
    while segments and not segments[0]:
        segments.pop(0)
    while segments and not segments[-1]:
        segments.pop()
    if not all(segments):
        raise rejected("the path has an empty segment; use * for all")
    return segments


def parts_of_last_segment(path: str) -> list[str]:
    """Return the parts of a path's last segment between commas that are not percent-encoded; the parts are decoded."""
    return [_decoded(part) for part in path.rstrip("/").rpartition("/")[2].split(",")]


def parameters_of(query: str) -> dict[str, str]:
    """Return the decoded parameters of a query string; a plus sign is not a space. Raises RejectedError."""
    found: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        name, value = _decoded(name), _decoded(value)
        if not name or (not value and name not in IGNORED_PARAMETERS):
            if part:
                raise rejected(f"the parameter {quoted(part)} has no value")
            continue
        if found.get(name, value) != value:
            raise rejected(f"the parameter {quoted(name)} has two values")
        found[name] = value
    return found


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise rejected(f"{quoted(text)} is not UTF-8 in percent-encoding") from None


def quoted(text: str) -> str:
    """Return a text from a request, quoted and shortened for an error message."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")
