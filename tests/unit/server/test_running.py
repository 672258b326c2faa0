"""The server in a thread, over real sockets: slow clients, shutdown with open streams, systemd."""

from __future__ import annotations

import hashlib
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any
from unittest import mock

import httpx
import pytest

from kafka_replica import Replica
from kafka_replica.errors import BadRecordError, ConfigurationError
from kafka_replica.sdmx import Structures
from kafka_replica.server import ListenSettings, ServerSettings, serve
from kafka_replica.server.app import Service
from kafka_replica.server.listening.sockets import open_socket, tls_context
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest
from kafka_replica.testing import FakeTopic
from support import plain_http
from support.core.certificates import PASSWORD, Authority
from support.server.app_tools import EventParser, stand_in
from support.server.server_tools import connected, received, running
from support.waiting import wait_until

pytestmark = pytest.mark.thorough


@pytest.fixture
def replica() -> Iterator[Replica]:
    """A replica that is ready."""
    topic = FakeTopic()
    topic.put("a", b"value")
    with topic.replica() as replica:
        replica.wait_ready(30)
        yield replica


def test_a_client_that_sends_no_complete_request_is_disconnected(replica: Replica) -> None:
    """Neither an idle connection nor one that sends its headers byte by byte stays; others are served meanwhile."""
    with running(replica, header_timeout_s=2) as (address, _), connected(address) as idle, connected(address) as slow:
        slow.sendall(b"GET /health/live HTTP/1.1\r\nHost: ")
        assert plain_http.get(f"{address}/health/live").status_code == 200
        assert received(idle) == b""
        assert received(slow) == b""
        with connected(address) as second:  # the second request of a connection has the same limit
            second.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            answer = b""
            while not answer.endswith(b'{"live":true}'):
                answer += second.recv(65536)
            second.sendall(b"GET /health")
            assert received(second) == b""


def test_a_client_that_begins_no_handshake_is_disconnected(replica: Replica, tmp_path: Path) -> None:
    """With TLS, a client that sends nothing is disconnected as early as without it."""
    certificate = Authority(tmp_path, "ca").issue("server", "DNS:localhost,IP:127.0.0.1")
    tls: dict[str, Any] = {"tls_certificate": certificate, "tls_key": tmp_path / "server.key"}
    with running(replica, header_timeout_s=2, **tls) as (address, _), connected(address) as idle:
        idle.settimeout(20)
        assert received(idle) == b""
        trusted = ssl.create_default_context(cafile=tmp_path / "ca.crt")
        assert httpx.get(f"{address}/health/live", verify=trusted).status_code == 200


def test_a_client_that_accepts_no_data_is_disconnected(replica: Replica) -> None:
    """A stream whose client stops reading ends; streams of others stay, and the process frees its memory."""
    topic = FakeTopic()
    with topic.transaction() as transaction:
        for number in range(40_000):
            transaction.put(f"{number:0200}", b"")
    with topic.replica() as large, running(large, write_timeout_s=2) as (address, server):
        large.wait_ready(60)
        with connected(address) as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.sendall(b"GET /changes HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_until(lambda: server.service.feed.stream_count == 1)
            wait_until(lambda: server.service.feed.stream_count == 0)


@pytest.mark.parametrize("secured", [False, True])
def test_a_client_that_accepts_all_but_the_end_of_an_answer_is_disconnected(
    replica: Replica, secured: bool, tmp_path: Path
) -> None:
    """The end of an answer, of which the server's buffer has less than asyncio reports, occupies no connection.

    The client reads a little at a time, until only the end is left, then nothing.
    """

    def answer(_request: RestRequest, _structures: Structures) -> RestAnswer:
        return RestAnswer(200, (("content-type", "application/octet-stream"),), bytes(60_000))

    listen: dict[str, Any] = {"write_timeout_s": 2, "idle_timeout_s": 2}
    if secured:
        listen["tls_certificate"] = Authority(tmp_path, "ca").issue("server", "DNS:localhost,IP:127.0.0.1")
        listen["tls_key"] = tmp_path / "server.key"
    with running(replica, answer=answer, **listen) as (address, server), socket.socket() as plain:
        plain.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        plain.settimeout(30)
        plain.connect(("127.0.0.1", int(address.rsplit(":", 1)[1])))
        trusting = ssl.create_default_context(cafile=tmp_path / "ca.crt") if secured else None
        with plain if trusting is None else trusting.wrap_socket(plain, server_hostname="localhost") as client:
            wait_until(lambda: bool(server.server_state.connections))
            transport = next(iter(server.server_state.connections)).transport
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
            client.sendall(b"GET /sdmx/v2/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
            wait_until(lambda: transport.get_write_buffer_size() > 0)
            wait_until(lambda: not server.server_state.connections)


@pytest.mark.parametrize("most", [1, 3])
def test_only_requests_on_excess_connections_are_refused(replica: Replica, most: int) -> None:
    """The maximum number of connections is served; a further one gets 503 and advice, and health on any connection."""
    with running(replica, max_connections=most) as (address, _), ExitStack() as stack:
        port = int(address.rsplit(":", 1)[1])
        *served, further = (
            stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=30))) for _ in range(most + 1)
        )
        for client in (*served, further):
            assert answer_to(client, "/health/live").status == 200
        refused = answer_to(further, "/sdmx/v2/x")
        assert refused.status == 503
        assert refused.headers["Retry-After"] == "1"
        assert {"x-request-id", "content-security-policy"} <= set(refused.headers)
        assert refused.headers["Content-Type"] == "application/problem+json"
        assert refused.will_close
        for client in served:
            assert answer_to(client, "/sdmx/v2/x").status == 200


def answer_to(client: HTTPConnection, path: str) -> HTTPResponse:
    """Send a request on a connection; return the answer, whose body was read."""
    client.request("GET", path, headers={"Accept": "application/problem+json"})
    answer = client.getresponse()
    answer.read()
    return answer


def test_clients_without_a_token_take_no_place_of_others(replica: Replica, tmp_path: Path) -> None:
    """Forms to sign in that never arrive hinder no request with a token, and end with 408 as headers would."""
    tokens = tmp_path / "tokens"
    tokens.write_text(f"read {hashlib.sha256(b'good').hexdigest()} a\n")
    limits = ServerSettings(tokens_file=tokens, max_requests=2)
    headers = {"Authorization": "Bearer good"}
    with running(replica, settings=limits, header_timeout_s=5) as (address, server), ExitStack() as stack:
        slow = [stack.enter_context(connected(address)) for _ in range(3)]
        for client in slow:
            client.sendall(b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 20\r\n\r\ntoken=")
        wait_until(lambda: len(server.server_state.tasks) == len(slow))
        assert plain_http.get(f"{address}/sdmx/v2/x", headers=headers).status_code == 200
        assert plain_http.get(f"{address}/sign-in").status_code == 200
        for client in slow:
            assert received(client).startswith(b"HTTP/1.1 408 ")


def test_requests_that_are_too_large_or_malformed_are_refused(replica: Replica) -> None:
    """Long lines, long headers and nonsense, in one piece or without an end; the server continues."""
    limits = ServerSettings(max_url_bytes=2000, max_header_bytes=2000)
    line, host = b"GET / HTTP/1.1\r\n", b"Host: localhost\r\n"
    with running(replica, settings=limits) as (address, _):
        for status, request in (
            (414, b"GET /" + b"x" * 3000 + b" HTTP/1.1\r\nConnection: close\r\n" + host + b"\r\n"),
            (431, line + host + b"Connection: close\r\nX: " + b"x" * 3000 + b"\r\n\r\n"),
            (400, b"GET /" + b"x" * 5000),
            (400, line + b"X: " + b"x" * 5000),
            (400, b"nonsense\r\n\r\n"),
            (400, b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n"),
        ):
            with connected(address) as client:
                client.sendall(request)
                assert received(client).startswith(f"HTTP/1.1 {status} ".encode()), request[:20]
        assert plain_http.get(f"{address}/health/live").status_code == 200


def test_shutdown_ends_open_streams_at_once(replica: Replica) -> None:
    """A stream ends in order long before the grace period, so that its client connects elsewhere."""
    ended: list[str] = []

    def follow(address: str) -> None:
        parser = EventParser()
        with plain_http.stream("GET", f"{address}/changes", timeout=60) as response:
            for chunk in response.iter_bytes():
                if parser.feed(chunk):
                    begun.set()
        ended.append(parser.last_id)

    begun = threading.Event()
    with running(replica, grace_s=60) as (address, _):
        thread = threading.Thread(target=follow, args=[address])
        thread.start()
        assert begun.wait(30)
    thread.join(30)
    assert ended == [f"1.{replica.incarnation}"]


@pytest.mark.parametrize("ends", [True, False])
def test_requests_in_progress_get_the_grace_period_and_no_more(replica: Replica, ends: bool) -> None:
    """A request that ends in time gets its answer; one that does not is cut off, and delays the end no further."""
    began, release = threading.Event(), threading.Event()

    def waits(request: RestRequest, structures: Structures) -> RestAnswer:
        began.set()
        release.wait(60)
        return stand_in(request, structures)

    with running(replica, answer=waits, grace_s=60 if ends else 2) as (address, server), connected(address) as client:
        client.sendall(b"GET /sdmx/v2/structure/x HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert began.wait(30)
        server.should_exit = True
        if ends:
            release.set()
        assert received(client).startswith(b"HTTP/1.1 200" if ends else b"")
    release.set()


def test_systemd_hears_of_readiness_life_and_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """READY=1 comes only after the barrier, WATCHDOG=1 again and again, STOPPING=1 at the end."""
    topic = FakeTopic()
    topic.put("a", b"value")
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(path)
        systemd.settimeout(30)
        monkeypatch.setenv("NOTIFY_SOCKET", path)
        monkeypatch.setenv("WATCHDOG_USEC", "100000")
        replica = topic.replica()
        with topic.outage(), replica, running(replica):
            heard = [systemd.recv(100) for _ in range(3)]
            assert heard == [b"WATCHDOG=1"] * 3
        with topic.replica() as ready, running(ready):
            ready.wait_ready(30)
            while systemd.recv(100) != b"READY=1":
                pass
        while systemd.recv(100) != b"STOPPING=1":
            pass


def test_a_replica_that_fails_before_its_first_version_ends_the_server() -> None:
    """The error of the replica is raised, so that the process exits with 1."""
    topic = FakeTopic()
    topic.fail(BadRecordError("fake", 0, 1, "it is bad", "repair it"))
    heard: list[str] = []
    with topic.replica() as replica, pytest.raises(BadRecordError, match="it is bad"):
        serve(replica, listen=ListenSettings(port=0), on_listening=heard.append)
    assert heard[0].startswith("http://127.0.0.1:")


def test_a_server_that_cannot_start_leaves_nothing_behind(replica: Replica, tmp_path: Path) -> None:
    """Each service that was made, with look-ups that follow the replica, is closed if the server cannot start."""
    made: list[Service] = []
    closed: list[Service] = []

    def make(service: Service, *arguments: Any, **options: Any) -> None:
        made.append(service)
        real_init(service, *arguments, **options)

    async def close(service: Service) -> None:
        closed.append(service)
        await real_close(service)

    real_init, real_close = Service.__init__, Service.close
    with (
        open_socket(ListenSettings(port=0)) as opened,
        mock.patch.object(Service, "__init__", make),
        mock.patch.object(Service, "close", close),
    ):
        with pytest.raises(ConfigurationError, match="choose another port"):
            serve(replica, listen=ListenSettings(port=opened.getsockname()[1]))
        with pytest.raises(ConfigurationError, match="TLS with"):
            serve(replica, listen=ListenSettings(port=0, tls_certificate=tmp_path / "missing"))
    assert closed == made


def test_a_version_from_before_is_ready_if_that_is_configured(replica: Replica) -> None:
    """Without a version yet, ready_when_stale waits for one."""
    with running(replica, settings=ServerSettings(ready_when_stale=True)) as (address, _):
        assert plain_http.get(f"{address}/health/ready").status_code == 200


def test_a_body_does_not_wait_for_the_acknowledgement_of_its_headers() -> None:
    """Connections send small packets at once (TCP_NODELAY): a large answer is two packets, its headers and its body."""
    with open_socket(ListenSettings(port=0)) as opened, socket.create_connection(opened.getsockname()):
        accepted, _ = opened.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_an_address_in_use_and_unusable_certificates_are_refused(tmp_path: Path) -> None:
    """The message names the address or the files; a wrong password never asks on the terminal."""
    with open_socket(ListenSettings(port=0)) as opened:
        port = opened.getsockname()[1]
        with pytest.raises(ConfigurationError, match=f"port {port}"):
            open_socket(ListenSettings(port=port))
    for host in (".example.org", "a..example.org", "a" * 64, "\udcff"):  # Python does not look these names up
        with pytest.raises(ConfigurationError, match="cannot be the name of a host; choose another"):
            open_socket(ListenSettings(host=host, port=0))
    authority = Authority(tmp_path, "ca")
    certificate = authority.issue("server", "DNS:localhost,IP:127.0.0.1")
    locked: dict[str, Any] = {"tls_certificate": certificate, "tls_key": tmp_path / "server.locked.key"}
    assert tls_context(ListenSettings(**locked, tls_key_password=PASSWORD)) is not None
    for wrong in ({**locked, "tls_key_password": "wrong"}, locked, {"tls_certificate": tmp_path / "missing"}):
        with pytest.raises(ConfigurationError, match="TLS with") as refused:
            tls_context(ListenSettings(**wrong))
        assert PASSWORD not in str(refused.value)
    assert PASSWORD not in repr(ListenSettings(tls_key_password=PASSWORD))
