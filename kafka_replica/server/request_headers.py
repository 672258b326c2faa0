"""The headers of a request, decoded once for all layers of the app."""

from __future__ import annotations

from typing import Final, NamedTuple

from starlette.types import Scope

_KEY: Final = "kafka_replica.headers"
_SEPARATORS: Final = {"cookie": "; "}


class RequestHeaders(NamedTuple):
    """The headers of a request.

    Attributes:
        size_bytes: the size of all names and values.
        values: the values by name in lower case. Several headers of a name are joined by commas, those of cookies by
            semicolons. Source: RFC 9110, section 5.3; RFC 9113, section 8.2.3.
    """

    size_bytes: int
    values: dict[str, str]


def request_headers(scope: Scope) -> RequestHeaders:
    """Return the headers of a request, which are decoded the first time and then kept in its scope."""
    known = scope.get(_KEY)
    if isinstance(known, RequestHeaders):
        return known
    size, values = 0, dict[str, str]()
    for raw_name, raw_value in scope["headers"]:
        size += len(raw_name) + len(raw_value)
        name, value = str(raw_name, "latin-1"), str(raw_value, "latin-1")
        values[name] = f"{values[name]}{_SEPARATORS.get(name, ', ')}{value}" if name in values else value
    found = scope[_KEY] = RequestHeaders(size, values)
    return found
