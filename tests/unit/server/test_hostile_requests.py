"""Requests of nonsense: each gets an expected answer, and the server continues."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import suppress

import httpx
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kafka_replica.server import ServerSettings
from kafka_replica.testing import FakeTopic
from support import plain_http
from support.effort import examples
from support.server.server_tools import connected, received, running

pytestmark = pytest.mark.thorough

PIECES = st.sampled_from([
    b"GET ", b"HEAD ", b"POST ", b"/sdmx/v2/", b"/changes", b"/version/1/sdmx/v2/x", b"/version/", b"/health/ready",
    b"%", b"%00", b"%2F", b"..", b"?", b"&", b"=", b"a" * 3000, b"\xff", b"\0", b" HTTP/1.1", b" HTTP/9.9", b"\r\n",
    b"\r\n\r\n", b"\n", b"Host: localhost\r\n", b"Host: x\r\n", b"Content-Length: 5\r\n", b"Content-Length: -1\r\n",
    b"Connection: close\r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n", b"Range: bytes=0-\r\n",
    b"Upgrade: websocket\r\n", b"Accept: \xff\r\n", b"If-None-Match: *\r\n", b'If-None-Match: "\r\n', b"hello",
    b"Last-Event-ID: 1.\xc3\r\n", b"Authorization: Bearer \xff\r\n", b"Accept-Encoding: gzip;q=\r\n",
    b"X-Request-ID: \x7f\r\n", b"Origin: null\r\n",
])  # fmt: skip


@pytest.fixture(scope="module")
def hostile_server() -> Iterator[tuple[str, httpx.Client]]:
    """The address of a server with short limits, and another client of it."""
    topic = FakeTopic()
    topic.put("a", b"value")
    with topic.replica() as replica:
        replica.wait_ready(30)
        settings = ServerSettings(allowed_origins=("*",))
        with (
            running(replica, header_timeout_s=2.0, settings=settings) as (address, _),
            plain_http.Client(base_url=address, timeout=60) as other,
        ):
            yield address, other


@pytest.mark.scaled
@pytest.mark.timeout(3600)
@hypothesis_settings(max_examples=examples(60, long=300, proof=10_000), deadline=None)
@given(
    st.lists(PIECES, min_size=1, max_size=12).map(b"".join)
    | st.builds(lambda path, headers: b"GET /" + path + b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                + headers + b"\r\n", PIECES, st.lists(PIECES, max_size=3).map(b"".join))
)  # fmt: skip
def test_no_request_makes_an_unexpected_error(hostile_server: tuple[str, httpx.Client], request_bytes: bytes) -> None:
    """Whatever arrives, the answer is none, an expected one, or the reason for a refusal; others are still served."""
    address, other = hostile_server
    with connected(address) as client:
        client.sendall(request_bytes)
        with suppress(OSError):  # the server may have ended the connection already
            client.shutdown(socket.SHUT_WR)
        answer = received(client) if b"/changes" not in request_bytes else client.recv(65536)
    assert re.match(rb"$|HTTP/1\.1 (100|200|204|304|400|404|405|410|413|414|431) ", answer), answer[:200]
    assert other.get("/health/live").status_code == 200
