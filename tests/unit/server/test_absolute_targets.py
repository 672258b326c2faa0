"""Requests whose target is a whole URL, read by h11 or without it: path, host and refusals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from kafka_replica.server import ServerSettings, create_app
from kafka_replica.server.listening.absolute_targets import use_path
from kafka_replica.server.listening.plain_requests import plain_request
from kafka_replica.testing import FakeTopic
from support.server.server_tools import connected, received, running


@pytest.mark.parametrize(
    ("target", "host", "path"),
    [
        (b"http://localhost:8080/a%20b/%2F", b"localhost:8080", "/a b//"),
        (b"HTTPS://[::1]:80/", b"[::1]:80", "/"),
        (b"http://a-b.example.org", b"a-b.example.org", "/"),
        (b"http://a://b", b"a:", "//b"),
        (b"http://a//b", b"a", "//b"),
        *(
            (target, None, "as it was")
            for target in (
                b"http:///a", b"http://:80/a", b"ftp://a/b", b"http:/a", b"a/b", b"*", b"http://b@a/", b"http://a:x/",
                b"http://a%2Fb/", b"xhttp://a/", b"http://[/", b"a:80",
            )
        ),
    ],
)  # fmt: skip
def test_a_url_becomes_a_path_and_a_host(target: bytes, host: bytes | None, path: str) -> None:
    """The host of the URL replaces each given one; what is not a URL of HTTP with a host stays as it is."""
    given = [(b"a", b"1"), (b"host", b"x"), (b"b", b"2"), (b"host", b"y")]
    scope: dict[str, Any] = {"raw_path": target, "path": "as it was", "headers": given}
    use_path(scope)
    assert scope["path"] == path
    assert scope["headers"] == (given if host is None else [(b"host", host), (b"a", b"1"), (b"b", b"2")])


@pytest.mark.parametrize("root_path", ["/", "/rec"])
def test_a_path_below_another_path_is_a_path(root_path: str) -> None:
    """The app accepts paths wherever it is mounted, also if a path only begins with the same letters."""
    with FakeTopic().replica() as replica:
        replica.wait_ready(30)
        client = TestClient(create_app(replica), "http://localhost", root_path=root_path)
        assert client.get("/records").status_code == 200


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a server that requests may name localhost only."""
    topic = FakeTopic()
    topic.put("a", b"value")
    with topic.replica() as replica:
        replica.wait_ready(30)
        with running(replica, settings=ServerSettings(allowed_hosts=("localhost",)), answer=None) as (address, _):
            yield address


@pytest.mark.thorough
@pytest.mark.parametrize("by_h11", [False, True])
@pytest.mark.parametrize(
    ("method", "target", "host", "status", "text"),
    [
        ("GET", "http://localhost/records?limit=1", "other", 200, b'"keys":["a"]'),
        ("GET", "http://localhost:1", "other", 200, b"records"),
        ("GET", "http://localhost?x=1", "other", 200, b"records"),
        ("GET", "http://other/records", "localhost", 400, b"host name is not allowed"),
        ("GET", "http://other/health/live", "localhost", 200, b"true"),
        ("GET", "ftp://localhost/records", "localhost", 400, b"target"),
        ("GET", "http:///records", "localhost", 400, b"target"),
        ("GET", "records", "localhost", 400, b"target"),
        ("GET", "*", "localhost", 400, b"target"),
        ("OPTIONS", "*", "localhost", 204, b""),
        ("OPTIONS", "ftp://localhost/", "localhost", 400, b"target"),
        ("GET", "/records", "localhost", 200, b'"keys":["a"]'),
        ("GET", "/records", "other", 400, b"host name is not allowed"),
    ],
)
def test_the_host_of_the_target_is_checked(
    address: str, by_h11: bool, method: str, target: str, host: str, status: int, text: bytes
) -> None:
    """A target's host is the one that must be allowed; a target that is neither path nor URL is refused."""
    more = "Upgrade: h2c\r\n" if by_h11 else ""
    data = f"{method} {target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n{more}\r\n".encode()
    if method == "GET" and target.startswith(("/", "http")):
        assert (plain_request(data) is None) == by_h11
    with connected(address) as client:
        client.sendall(data)
        head, _, body = received(client).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 %d " % status)
    assert text in body
