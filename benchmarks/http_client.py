"""A client that measures servers: connections that stay open, without the costs of an HTTP library."""

from __future__ import annotations

import http.client
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from socket import IPPROTO_TCP, TCP_NODELAY, create_connection
from typing import Final, NamedTuple
from urllib.parse import urlsplit

_END: Final = b"\r\n\r\n"
_LENGTH: Final = b"content-length: "
_WAIT_S: Final = 60


class StatusError(Exception):
    """An answer has another status than expected."""


@dataclass(frozen=True, slots=True)
class Response:
    """The status line and headers of an answer, and its body."""

    head: bytes
    body: bytes

    @property
    def headers(self) -> bytes:
        """The lines of the headers."""
        return self.head.partition(b"\r\n")[2]

    def header(self, name: str) -> str:
        """Return the value of a header."""
        _, _, rest = self.head.partition(f"\r\n{name}: ".encode())
        return rest.partition(b"\r\n")[0].decode()


class Connection:
    """A connection to a server, for one request at a time."""

    def __init__(self, address: str) -> None:
        self._host = urlsplit(address).netloc
        host, _, port = self._host.partition(":")
        self._socket = create_connection((host, int(port)), _WAIT_S)
        self._socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)

    def request(self, target: str, **headers: str) -> bytes:
        """Return the bytes of a GET request."""
        lines = [f"GET {target} HTTP/1.1", f"Host: {self._host}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        return "\r\n".join([*lines, "", ""]).encode()

    def get(self, request: bytes, status: int = 200) -> Response:
        """Send a request; return its answer.

        Raises:
            StatusError: the answer has another status.
        """
        self._socket.sendall(request)
        data = self._received()
        while _END not in data:
            data += self._received()
        head, _, body = data.partition(_END)
        if not head.startswith(b"HTTP/1.1 %d " % status):
            raise StatusError(f"{request!r}: {head!r} {body[:500]!r}")
        at = head.lower().find(_LENGTH)
        size = 0 if at < 0 or status == 304 else int(head[at + len(_LENGTH) :].split(b"\r\n", 1)[0])
        parts, missing = [body], size - len(body)
        while missing > 0:
            parts.append(self._received())
            missing -= len(parts[-1])
        return Response(head, b"".join(parts))

    def _received(self) -> bytes:
        data = self._socket.recv(1 << 20)
        if not data:
            raise ConnectionError("the server has closed the connection")  # after some seconds without a request
        return data

    def time_ms(self, request: bytes, status: int = 200) -> float:
        """Return the milliseconds from a request to the end of its answer."""
        began_s = time.perf_counter()
        self.get(request, status)
        return (time.perf_counter() - began_s) * 1e3


def in_turn_ms(
    requests: Sequence[tuple[Connection, Sequence[bytes]]], times: int, status: int = 200
) -> list[list[float]]:
    """Return the times of the requests of each connection, which take turns: disturbances affect all."""
    took: list[list[float]] = [[] for _ in requests]
    for number in range(times):
        for (connection, own), found in zip(requests, took, strict=True):
            found.append(connection.time_ms(own[number % len(own)], status))
    return took


class Load(NamedTuple):
    """The requests that were answered in some time, and the processor time that sending them took."""

    requests: int
    seconds: float
    client_cpu_s: float


def answered(address: str, target: str, connections: int, seconds: float) -> Load:
    """Return how many requests a server answers on some connections at the same time."""
    counts = [0] * connections
    cpu_s = time.process_time()
    end_s = time.perf_counter() + seconds

    def repeat(place: int) -> None:
        connection = Connection(address)
        request = connection.request(target)
        while time.perf_counter() < end_s:
            connection.get(request)
            counts[place] += 1

    threads = [threading.Thread(target=repeat, args=(place,)) for place in range(connections)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return Load(sum(counts), seconds, time.process_time() - cpu_s)


def wait_ready(address: str, every_s: float = 0.01) -> None:
    """Wait until ``/health/ready`` answers 200."""
    parts = urlsplit(address)
    while True:
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=_WAIT_S)
        connection.request("GET", "/health/ready")
        status = connection.getresponse().status
        connection.close()
        if status == 200:
            return
        time.sleep(every_s)
