"""The headers of a request, decoded once for all layers of the app."""

from __future__ import annotations

from typing import Any

from kafka_replica.server.request_headers import request_headers


def test_several_headers_of_a_name_are_joined() -> None:
    """Equal names are joined by commas, those of cookies by semicolons; bytes outside of ASCII stay readable."""
    found = request_headers(_scope(("accept", b"a"), ("cookie", b"x=1"), ("accept", b"b;q=0.5"), ("cookie", b"y=\xe9")))
    assert found.values == {"accept": "a, b;q=0.5", "cookie": "x=1; y=é"}


def test_the_size_counts_each_header() -> None:
    """The size is that of all names and values, also of repeated ones."""
    assert request_headers(_scope(("accept", b"ab"), ("accept", b"cde"), ("x", b""))).size_bytes == 6 + 2 + 6 + 3 + 1


def test_headers_are_decoded_once() -> None:
    """A second layer of the app gets the headers that the first one has decoded."""
    scope = _scope(("accept", b"a"))
    assert request_headers(scope) is request_headers(scope)


def _scope(*headers: tuple[str, bytes]) -> dict[str, Any]:
    return {"type": "http", "headers": [(name.encode(), value) for name, value in headers]}
