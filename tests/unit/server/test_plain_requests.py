"""Plain requests: read exactly as h11 does, or left to it."""

from __future__ import annotations

import h11
import pytest
from hypothesis import example, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from kafka_replica.server.listening.plain_requests import PlainRequest, plain_request
from support.effort import examples

_BROWSER = (
    b"GET /explorer?q=a%20b HTTP/1.1\r\nHost: localhost:8000\r\nConnection: keep-alive\r\n"
    b"User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,application/xhtml+xml;q=0.9,*/*;q=0.8\r\n"
    b"Accept-Encoding: gzip, deflate, br\r\nCookie: a=b; c=d\r\n\r\n"
)
_PIECES = st.sampled_from([
    b"GET ", b"HEAD ", b"POST ", b"get ", b"/", b"/sdmx/v2/a+b?c=%2B", b"http://other/", b"*", b"#part", b"?",
    b"\xff", b"\xc3\xa9", b"\0", b"\x7f", b" ", b"\t", b"  ", b"a" * 3000, b" HTTP/1.1", b" HTTP/1.0", b" HTTP/2.0",
    b" HTTP/9.9", b"\r\n", b"\n", b"\r", b"\r\n\r\n", b"Host: localhost\r\n", b"host:x\r\n", b"Host:\r\n",
    b"Host : x\r\n", b"Connection: close\r\n", b"Connection: keep-alive\r\n", b"Connection: x, Close\r\n",
    b"Connection: upgrade\r\n", b"Upgrade: h2c\r\n", b"Expect: 100-continue\r\n", b"Content-Length: 0\r\n",
    b"Content-Length: 5\r\n", b"Content-Length: 5, 5\r\n", b"Transfer-Encoding: chunked\r\n",
    b"Transfer-Encoding: x\r\n", b"X:\r\n", b"X: \r\n", b"X: a \t\r\n", b"X: \xff\r\n", b"X: a\0b\r\n",
    b"X: a\x01b\r\n", b"X\xff: a\r\n", b"X(): a\r\n", b": a\r\n", b"X\r\n", b"X: a\r\n folded\r\n", b"X: a\n",
    b"X: a\rb\r\n", b"X-Request-ID: 1\r\n", b"hello", b"0\r\n\r\n",
])  # fmt: skip
_ANYTHING = st.lists(_PIECES, min_size=1, max_size=12).map(b"".join)
_NEARLY_GOOD = st.builds(
    lambda method, target, version, headers: method + target + version + b"\r\n" + headers + b"\r\n",
    st.sampled_from([b"GET ", b"HEAD "]), st.lists(_PIECES, min_size=1, max_size=3).map(b"".join),
    st.sampled_from([b" HTTP/1.1", b" HTTP/1.1", b" HTTP/1.0"]), st.lists(_PIECES, max_size=5).map(b"".join),
)  # fmt: skip
_GOOD_HEADERS = st.lists(
    st.sampled_from([
        b"X:\r\n", b"X: \r\n", b"X: a \t\r\n", b"X: \xff\r\n", b"Connection: close\r\n", b"Connection: x, Close\r\n",
        b"Connection: keep-alive\r\n", b"Proxy-Connection: close\r\n", b"Host: x\r\n", b"accept:*/*\r\n",
    ]), max_size=5,
).map(b"".join)  # fmt: skip
_GOOD = st.builds(
    lambda method, target, headers: method + target + b" HTTP/1.1\r\nHost: a\r\n" + headers + b"\r\n",
    st.sampled_from([b"GET ", b"HEAD "]), st.sampled_from([b"/", b"/a?b", b"//", b"/a#b", b"x", b"*", b"a:1"]),
    _GOOD_HEADERS,
)  # fmt: skip


@pytest.mark.thorough
@pytest.mark.scaled
@hypothesis_settings(max_examples=examples(2000, long=6_000, proof=100_000))
@given(_ANYTHING | _NEARLY_GOOD | _GOOD)
@example(b"GET  / HTTP/1.1\r\nHost: x\r\n\r\n")
@example(b"GET /   HTTP/1.1\r\nHost: x\r\n\r\n")
@example(b"GET http://\nx:80/a HTTP/1.1\r\nHost: x\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nHost: x\r\nProxy-Connection: close\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\t\r\n\r\n")
@example(b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n")
def test_a_plain_request_is_what_h11_reads(data: bytes) -> None:
    """A request is either read like h11 does, or left to it."""
    found = plain_request(data)
    assert found is None or found == _by_h11(data)


@pytest.mark.parametrize(
    "data",
    [
        _BROWSER,
        b"HEAD / HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET /sdmx/v2/structure/codelist/A/B/1.0+?x=%2B HTTP/1.1\r\nHost: x\r\nX-Empty:\r\nX-Other: \xc3\xa9\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"".join(b"X-%d: %s\r\n" % (n, b"y" * 500) for n in range(100)) + b"\r\n",
    ],
)
def test_usual_requests_are_plain(data: bytes) -> None:
    """The requests that clients usually send are read."""
    assert plain_request(data) is not None
    assert plain_request(data) == _by_h11(data)


@pytest.mark.parametrize(
    "data",
    [
        b"GET / HTTP/1.1\r\nHost: x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\nG",
        2 * b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.0\r\nHost: x\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nUpgrade: h2c\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx",
        b"OPTIONS / HTTP/1.1\r\nHost: x\r\n\r\n",
        b"",
    ],
)
def test_other_requests_are_left_to_h11(data: bytes) -> None:
    """Bodies, upgrades, other versions, parts of requests and several of them are not plain."""
    assert plain_request(data) is None


def _by_h11(data: bytes) -> PlainRequest | None:
    """Return the request that h11 reads, if it is followed by its end and nothing else."""
    connection = h11.Connection(h11.SERVER)
    connection.receive_data(data)
    try:
        request, end = connection.next_event(), connection.next_event()
    except h11.RemoteProtocolError:
        return None
    if not isinstance(request, h11.Request) or not isinstance(end, h11.EndOfMessage) or connection.trailing_data[0]:
        return None
    assert request.http_version == b"1.1"
    headers = [(name.lower(), value) for name, value in request.headers]
    keep_alive = connection.their_state is not h11.MUST_CLOSE
    return PlainRequest(request.method.decode("ascii"), request.target, headers, keep_alive)
