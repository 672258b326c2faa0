"""The headers of a request, decoded once for all layers of the app."""

from __future__ import annotations

from collections.abc import Iterable
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
    raw = scope["headers"] = list(scope["headers"])  # some servers may give an iterator
    values = {name.decode("latin-1"): value.decode("latin-1") for name, value in raw}
    if len(values) != len(raw):
        values = _joined(raw)
    found = scope[_KEY] = RequestHeaders(sum([len(name) + len(value) for name, value in raw]), values)
    return found


def _joined(raw: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """Return the values by name; some name occurs several times."""
    values = dict[str, str]()
    for raw_name, raw_value in raw:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        values[name] = f"{values[name]}{_SEPARATORS.get(name, ', ')}{value}" if name in values else value
    return values
