"""Requests without a body that arrive in one piece, read by httptools in a tenth of the time that h11 needs.

Most requests to a registry are like this. All others, and all that are not perfectly usual, are left to h11: it is the
only one that refuses requests, waits for their rest, and knows bodies, upgrades and old versions of HTTP.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

_METHODS: Final = (b"GET ", b"HEAD ")
_END: Final = b"\r\n\r\n"


class PlainRequest(NamedTuple):
    """A request without a body; ``headers`` have names in lower case."""

    method: str
    target: bytes
    headers: list[tuple[bytes, bytes]]
    keep_alive: bool


class PlainRequestParser:
    """Reads plain requests, one after the other."""

    def __init__(self) -> None:
        self._restart()

    def _restart(self) -> None:
        self._parser = HttpRequestParser(self)
        self._begin()

    def _begin(self) -> None:
        self._method = ""
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._keep_alive = False
        self._is_complete = False

    def parse(self, data: bytes) -> PlainRequest | None:
        """Return the request that data consists of, or None if this is not exactly one plain request of HTTP/1.1."""
        if not data.startswith(_METHODS) or data.find(_END) != len(data) - len(_END):
            return None
        self._begin()
        try:
            self._parser.feed_data(data)
            is_plain = self._is_complete and self._parser.get_http_version() == "1.1" and self._has_plain_headers()
        except (HttpParserError, HttpParserUpgrade):
            is_plain = False
        found = PlainRequest(self._method, self._target, self._headers, self._keep_alive) if is_plain else None
        if not is_plain or not self._keep_alive:  # the parser expects nothing more, or is within another message
            self._restart()
        return found

    def _has_plain_headers(self) -> bool:
        """Return whether there is one host (RFC 9112, 3.2), and "100 Continue" is not expected."""
        names = [name for name, _ in self._headers]
        return names.count(b"host") == 1 and b"expect" not in names

    # What httptools calls.

    def on_url(self, part: bytes) -> None:
        """Take a part of the target."""
        self._target += part

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, of whose value httptools has removed only leading white space."""
        self._headers.append((name.lower(), value.rstrip(b" \t")))

    def on_headers_complete(self) -> None:
        """Take what the parser forgets at the end of the request."""
        self._method = self._parser.get_method().decode("ascii")
        self._keep_alive = self._parser.should_keep_alive()

    def on_message_complete(self) -> None:
        """Note that the request has no body that is still to come."""
        self._is_complete = True
