"""The connection that sends the head of an answer with its body: the same bytes as uvicorn's, in fewer writes."""

from __future__ import annotations

import asyncio
import random
import socket
import threading
from asyncio import Transport
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from kafka_replica.server.listening.connection import _AnswerTransport, bounded_connection
from support.effort import examples

_BOUNDED = bounded_connection(30, 30, None)
_LAST = b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"


class _Recorded:
    """A transport that accepts everything, and that records what is done to it."""

    def __init__(self) -> None:
        self.done: list[bytes | str] = []
        self.is_left = False

    def is_closing(self) -> bool:
        return self.is_left

    def write(self, data: bytes) -> None:
        self.done.append(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def close(self) -> None:
        self.done.append("close")

    def abort(self) -> None:
        self.done.append("abort")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([b"HTTP/1.1 200", b"body", b""], [b"HTTP/1.1 200body"]),
        ([b"HTTP/1.1 304", b""], [b"HTTP/1.1 304"]),
        ([b"HTTP/1.1 200", b"x" * 65_537], [b"HTTP/1.1 200", b"x" * 65_537]),
        ([b"HTTP/1.1 200", "turn", b"body"], [b"HTTP/1.1 200", b"body"]),
        ([b"HTTP/1.1 200", b"HTTP/", b"HTTP/a", b"b"], [b"HTTP/1.1 200HTTP/", b"HTTP/ab"]),
        ([b"HTTP/" + b"x" * 65_536, b"b"], [b"HTTP/" + b"x" * 65_536, b"b"]),
        ([b"HTTP/1.1 200", "leave", "turn"], []),
        ([b"HTTP/1.1 400", "close"], [b"HTTP/1.1 400", "close"]),
        ([b"HTTP/1.1 200", "abort", b""], ["abort"]),
        ([b"body", b"", b"more"], [b"body", b"more"]),
    ],
)
def test_a_head_is_written_with_what_follows(steps: list[bytes | str], expected: list[bytes | str]) -> None:
    """A head waits for the next write, the next turn of the event loop, or the end; what is empty is not written."""
    below, sizes = _Recorded(), list[int]()

    async def follow() -> None:
        transport = _AnswerTransport(cast("Transport", below), asyncio.get_running_loop(), sizes.append)
        actions: dict[str, Callable[[], None]] = {"close": transport.close, "abort": transport.abort}
        for step in steps:
            if isinstance(step, bytes):
                transport.write(step)
            elif step == "leave":
                below.is_left = True
            elif step == "turn":
                # The size is compared with what was reported: a larger one would look like a client that reads nothing.
                assert transport.get_write_buffer_size() == 0
                await asyncio.sleep(0)
            else:
                actions[step]()
        await asyncio.sleep(0)

    asyncio.run(follow())
    assert below.done == expected
    assert sizes == [len(step) for step in expected if isinstance(step, bytes)]


def test_a_head_does_not_wait_for_a_late_body() -> None:
    """The client gets the head of a stream while the app still waits for its first event."""
    seen = threading.Event()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        await asyncio.get_running_loop().run_in_executor(None, seen.wait, 30)
        await send({"type": "http.response.body", "body": b"late"})

    with _serving(app, _BOUNDED) as port, socket.create_connection(("127.0.0.1", port), 30) as client:
        client.sendall(_LAST)
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(65_536)
        seen.set()
        assert _rest(client) == b"late"


def test_the_bytes_are_those_of_uvicorn() -> None:
    """Answers of several requests on a connection, in pieces of any size and with pauses, are as uvicorn sends them."""
    plans = [_plan(random.Random(seed)) for seed in range(examples(100))]

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        number, place = map(int, scope["path"].strip("/").split("/"))
        one = plans[number][place]
        size = len(b"".join(piece for piece in one.pieces if piece is not None))
        headers = [(b"content-length", b"%d" % size)] if one.has_length else []
        await send({"type": "http.response.start", "status": one.status, "headers": headers})
        for piece in one.pieces:
            if piece is None:
                await asyncio.sleep(0)
            else:
                await send({"type": "http.response.body", "body": piece, "more_body": True})
        await send({"type": "http.response.body", "body": b""})

    with _serving(app, H11Protocol) as of_uvicorn, _serving(app, _BOUNDED) as bounded:
        for number, plan in enumerate(plans):
            requests = [
                f"{one.method} /{number}/{place} HTTP/1.1\r\nhost: x\r\n{one.more}\r\n".encode()
                for place, one in enumerate(plan)
            ]
            wanted, found = (_answer(port, b"".join(requests)) for port in (of_uvicorn, bounded))
            assert found == wanted, plan
            assert found.count(b"HTTP/1.1 ") >= len(plan)


class _Answer(NamedTuple):
    """A request and its answer: the pieces of the body, and None for a turn of the event loop before the next piece."""

    method: str
    status: int
    pieces: list[bytes | None]
    has_length: bool
    more: str


def _plan(chance: random.Random) -> list[_Answer]:
    """Return the requests on a connection, of which the last closes it."""
    possible = [b"", b"HTTP/1.1 200 OK\r\n\r\n", b"HTTP/", b"some", b"y" * 70_000, None]
    plan = []
    for more in ("", "", "connection: close\r\n"):
        status = chance.choice([200, 200, 304, 404])
        pieces = [] if status == 304 else [chance.choice(possible) for _ in range(chance.randrange(5))]
        plan.append(_Answer(chance.choice(["GET", "GET", "HEAD"]), status, pieces, chance.random() < 0.5, more))
    return plan


def _answer(port: int, requests: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        client.sendall(requests)
        return _rest(client)


def _rest(client: socket.socket) -> bytes:
    """Return what a server sends until it closes the connection."""
    return b"".join(iter(partial(client.recv, 65_536), b""))


@contextmanager
def _serving(app: Any, http: type[H11Protocol]) -> Iterator[int]:
    """Run an app with a class of connections in a thread; yield its port."""
    config = uvicorn.Config(
        app, http=http, ws="none", lifespan="off", log_config=None, access_log=False, date_header=False
    )
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as opened:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[opened])))
        thread.start()
        try:
            yield opened.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)
