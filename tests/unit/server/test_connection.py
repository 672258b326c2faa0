"""The connection that sends the head of an answer with its body: the same bytes as uvicorn's, in fewer writes."""

from __future__ import annotations

import asyncio
import random
import re
import socket
import threading
from asyncio import Transport
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

import h11
import pytest
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from kafka_replica.server.answers.finished_answer import FinishedAnswer, FinishedResponse, SendKnown
from kafka_replica.server.listening.answer_transport import AnswerTransport
from kafka_replica.server.listening.connection import BoundedConnection, bounded_connection
from support.effort import examples
from support.waiting import wait_until

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

    def get_extra_info(self, _name: str) -> None:
        return None

    def pause_reading(self) -> None:
        """Do nothing."""

    def resume_reading(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        self.done.append("close")
        self.is_left = True

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
        ([b"HTTP/1.1 200", "answer", "turn"], [b"HTTP/1.1 200HTTP/1.1 304all"]),
        (["answer", b"HTTP/1.1 200", "turn"], [b"HTTP/1.1 304all", b"HTTP/1.1 200"]),
    ],
)
def test_a_head_is_written_with_what_follows(steps: list[bytes | str], expected: list[bytes | str]) -> None:
    """A head waits for the next write, the next turn of the event loop, or the end; what is empty is not written."""
    below, sizes = _Recorded(), list[int]()

    async def follow() -> None:
        transport = AnswerTransport(cast("Transport", below), asyncio.get_running_loop(), sizes.append)
        actions: dict[str, Callable[[], None]] = {
            "close": transport.close,
            "abort": transport.abort,
            "answer": lambda: transport.write_answer(b"HTTP/1.1 304", b"all"),
        }
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
        _read_to(client, b"\r\n\r\n")
        seen.set()
        assert _rest(client) == b"late"


@pytest.mark.thorough
@pytest.mark.parametrize("reference", [H11Protocol, HttpToolsProtocol])
def test_the_bytes_are_those_of_uvicorn(reference: type[asyncio.Protocol]) -> None:
    """Answers, in pieces of any size and with pauses, are as uvicorn sends them.

    Requests that arrive at once are answered as it does with h11, those that arrive one by one as with httptools.
    """
    in_turn = reference is HttpToolsProtocol
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

    with _serving(app, reference) as of_uvicorn, _serving(app, _BOUNDED) as bounded:
        for number, plan in enumerate(plans):
            targets = [f"/{number}/{place}" for place in range(len(plan))]
            answer = _answers_in_turn if in_turn else _answers_at_once
            wanted, found = (answer(port, plan, targets) for port in (of_uvicorn, bounded))
            assert found == wanted, plan
            assert found.count(b"HTTP/1.1 ") >= len(plan)


_SECOND = b"GET /second HTTP/1.1\r\nhost: x\r\n\r\n"
_UPGRADE = b"connection: upgrade\r\nupgrade: h2c\r\n"  # Java's client asks for HTTP/2 with each request
_UPLOAD = b"POST /third HTTP/1.1\r\nhost: x\r\n" + _UPGRADE + b"content-length: 5\r\n\r\nhello"


@pytest.mark.thorough
@pytest.mark.parametrize(
    "pieces",
    [
        [_SECOND + _UPLOAD + _LAST],
        [_SECOND, _UPLOAD, _LAST],
        [_SECOND[:5], _SECOND[5:] + _UPLOAD[:-2], _UPLOAD[-2:] + _LAST[:1], _LAST[1:]],
    ],
)
@pytest.mark.parametrize("early", [0, 1, 4])
def test_requests_that_arrive_during_an_answer_are_answered_next(pieces: list[bytes], early: int) -> None:
    """Requests that arrive, in any pieces, while a plain one is answered are answered after it, in order."""
    begun, may_answer = threading.Event(), threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["path"] == "/first":
            begun.set()
            await asyncio.get_running_loop().run_in_executor(None, may_answer.wait, 30)
        body = b""
        while (message := await receive())["more_body"]:
            body += message["body"]
        await _send_all(send, b"[%s %s]" % (scope["path"].encode(), body + message["body"]))

    with _serving(app, _BOUNDED) as port, socket.create_connection(("127.0.0.1", port), 30) as client:
        client.sendall(b"GET /first HTTP/1.1\r\nhost: x\r\n\r\n")
        assert begun.wait(30)
        for piece in pieces[:early]:
            client.sendall(piece)
        may_answer.set()
        for piece in pieces[early:]:
            client.sendall(piece)
        assert re.findall(rb"\[.*?\]", _rest(client)) == [b"[/first ]", b"[/second ]", b"[/third hello]", b"[/ ]"]


@pytest.mark.thorough
def test_a_client_that_sends_on_during_an_answer_is_not_read_on() -> None:
    """Data that arrives while a plain request is answered waits in the system's buffers, not in this process."""
    connections, begun, may_end = list[Any](), threading.Event(), threading.Event()

    class Kept(BoundedConnection):
        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            connections.append(self)

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        assert (await receive()) == {"type": "http.request", "body": b"", "more_body": False}
        begun.set()
        await asyncio.get_running_loop().run_in_executor(None, may_end.wait, 30)
        await _send_all(send, b"")

    with _serving(app, Kept) as port, socket.create_connection(("127.0.0.1", port), 2) as client:
        client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        assert begun.wait(30)
        with pytest.raises(TimeoutError):
            client.sendall(bytes(50_000_000))
        assert 0 < len(connections[0]._later) <= 1_000_000
        may_end.set()


def test_a_client_that_leaves_is_noticed_during_an_answer() -> None:
    """An app that waits for the end of its client gets it."""
    begun, ended = threading.Event(), threading.Event()

    async def app(_scope: Any, receive: Any, _send: Any) -> None:
        await receive()
        begun.set()
        assert (await receive()) == {"type": "http.disconnect"}
        ended.set()

    with _serving(app, _BOUNDED) as port:
        with socket.create_connection(("127.0.0.1", port), 30) as client:
            client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
            assert begun.wait(30)
        assert ended.wait(30)


@pytest.mark.thorough
@pytest.mark.parametrize("next_head", [b"GET / HT", b""])
def test_time_limits_count_between_plain_requests(next_head: bytes) -> None:
    """No limit ends a slow answer; those for the next request and for its head count after each answer."""

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        await asyncio.sleep(5 if scope["path"] == "/slow" else 0)
        await _send_all(send, b"[%s]" % scope["raw_path"])

    with (
        _serving(app, bounded_connection(2, 30, None), idle_s=2) as port,
        socket.create_connection(("127.0.0.1", port), 30) as client,
    ):
        for path in (b"/slow", b"/", b"/slow"):
            client.sendall(b"GET %s HTTP/1.1\r\nhost: x\r\n\r\n" % path)
            _read_to(client, b"[%s]" % path)
        client.sendall(next_head)
        assert _rest(client) == b""


def test_a_server_that_ends_answers_a_plain_request_first() -> None:
    """A server that ends waits for the answer to a plain request, and then closes the connection."""
    begun, may_answer = threading.Event(), threading.Event()

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        begun.set()
        await asyncio.get_running_loop().run_in_executor(None, may_answer.wait, 30)
        await _send_all(send, b"[answered]")

    with (
        _serving(app, _BOUNDED, end_after=(begun, may_answer)) as port,
        socket.create_connection(("127.0.0.1", port), 30) as client,
    ):
        client.sendall(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n")
        head, _, body = _rest(client).partition(b"\r\n\r\n")
        assert b"connection: close" in head
        assert body == b"[answered]"


_PLAIN = b"GET /%d HTTP/1.1\r\nhost: x\r\n\r\n"


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([_PLAIN % 1, _PLAIN % 2, _PLAIN % 3], ["GET /1", "GET /2", "GET /3"]),
        (
            [_PLAIN % 1, _PLAIN % 2, "answer", "answer", _PLAIN % 3, _PLAIN % 4],
            ["GET /1", "GET /2", "GET /3", "GET /4"],
        ),
        ([b"GET /1 HTTP/1.1\r\nx: ", _PLAIN % 2], ["GET /1"]),
        ([_UPLOAD[:-2], _PLAIN % 2], ["POST /third", "T /2"]),  # the body ends with GE
        ([_PLAIN[:-2] % 1 + b"connection: close\r\n\r\n", _PLAIN % 2], ["GET /1"]),
        ([_PLAIN % 1, "answer", "leave", _PLAIN % 2], ["GET /1"]),
    ],
)
def test_requests_are_answered_in_turn(steps: list[bytes | str], expected: list[str]) -> None:
    """A request arrives while another is answered, before the rest of another, or after the end."""

    async def follow() -> list[str]:
        paths, transport = list[str](), _Recorded()
        turns: asyncio.Queue[None] = asyncio.Queue()

        async def app(scope: Any, _receive: Any, send: Any) -> None:
            await turns.get()
            paths.append(f"{scope['method']} {scope['path'].removeprefix('/r')}")
            await _send_all(send, b"")

        connection = _connection(app, _BOUNDED, transport)
        for step in [*steps, *(["answer"] * 4)]:
            if isinstance(step, bytes):
                connection.data_received(step)
            elif step == "leave":
                transport.is_left = True
            else:
                turns.put_nowait(None)
            for _ in range(5):
                await asyncio.sleep(0)
        assert connection.server_state.total_requests == len(paths)
        assert not connection.tasks
        return paths

    assert asyncio.run(follow()) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"GET /a%20b%C3%A9?c=%2B&d HTTP/1.1\r\nHost: x\r\nAccept: */*\r\nX:  \xff \r\n\r\n",
        b"HEAD //a#b HTTP/1.1\r\nhost: x\r\n\r\n",
        b"GET http://x/a HTTP/1.1\r\nhost: x\r\n\r\n",
    ],
)
def test_the_app_gets_of_a_plain_request_what_uvicorn_gives_it(data: bytes) -> None:
    """The scope is the same, its state is of the request alone, and the first message is the whole, empty body."""

    async def seen(http: type[asyncio.Protocol]) -> tuple[Any, Any]:
        found: asyncio.Queue[tuple[Any, Any]] = asyncio.Queue()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            scope["state"]["of"] = "the request"
            found.put_nowait((scope, await receive()))
            await _send_all(send, b"")

        connection = _connection(app, http, _Recorded())
        connection.data_received(data)
        scope, message = await found.get()
        assert connection.app_state == {"of": "the server"}
        assert isinstance(connection.cycle, RequestResponseCycle) == (http is _BOUNDED)
        return scope, message

    assert asyncio.run(seen(_BOUNDED)) == asyncio.run(seen(H11Protocol))


_HEADERS = [(b"content-type", b"text/plain"), (b"x", b"y")]


@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
@pytest.mark.parametrize(("status", "body"), [(200, b"body"), (200, b""), (200, b"z" * 70_000), (304, b"")])
def test_a_known_answer_has_the_bytes_of_uvicorn(method: bytes, status: int, body: bytes) -> None:
    """Heads, bodies and their absence are as if the app had answered, and the next request is read."""
    headers = [*_HEADERS, (b"content-length", b"%d" % len(body))] if status == 200 else _HEADERS
    request = b"%s /1 HTTP/1.1\r\nhost: x\r\n\r\n" % method

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def known(_scope: Any, send: SendKnown) -> bool:
        send(_finished(status, headers, body if method == b"GET" else b""))
        return True

    async def answers(http: type[BoundedConnection]) -> list[bytes]:
        transport = _Recorded()
        connection = _connection(app, http, transport)
        for _ in range(2):
            connection.data_received(request)
            while connection.tasks:
                await asyncio.sleep(0)
        assert connection.server_state.total_requests == 2
        assert connection.timeout_keep_alive_task is not None
        connection.connection_lost(None)
        return [part for part in transport.done if isinstance(part, bytes)]

    found, wanted = (asyncio.run(answers(http)) for http in (bounded_connection(30, 30, None, known), _BOUNDED))
    assert b"".join(found) == b"".join(wanted)
    assert b"".join(wanted).count(b"HTTP/1.1 %d" % status) == 2
    assert len(found) == (4 if len(body) > 65_536 and method == b"GET" else 2)  # calls of the system


def test_a_known_answer_waits_for_the_one_before() -> None:
    """A request with a known answer that arrives while the app answers is answered by the app, and after that."""
    asked: list[str] = []

    async def app(scope: Any, _receive: Any, send: Any) -> None:
        asked.append(f"app {scope['method']}")
        await asyncio.sleep(0)
        await _send_all(send, b"12")

    def known(scope: Any, send: SendKnown) -> bool:
        asked.append(f"known {scope['method']}")
        if scope["method"] == "GET":
            send(_finished(200, [(b"content-length", b"2")], b"12"))
        return bool(scope["method"] == "GET")

    async def answers() -> bytes:
        transport = _Recorded()
        connection = _connection(app, bounded_connection(30, 30, None, known), transport)
        for method in (b"HEAD", b"GET", b"GET"):
            connection.data_received(b"%s /1 HTTP/1.1\r\nhost: x\r\n\r\n" % method)
            while connection.tasks and asked.count("app GET") + asked.count("known GET"):
                await asyncio.sleep(0)
        while connection.tasks:
            await asyncio.sleep(0)
        connection.connection_lost(None)
        return b"".join(part for part in transport.done if isinstance(part, bytes))

    done = asyncio.run(answers())
    head = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n"
    assert done == head + (head + b"12") * 2
    assert asked[:3] == ["known HEAD", "app HEAD", "app GET"]


@pytest.mark.parametrize("kind", ["closes", "is slow", "is unknown"])
def test_the_app_answers_what_is_not_sent_at_once(kind: str) -> None:
    """The app answers if the client wants to close the connection, has not read the last answers, or asks for more."""
    asked: list[str] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        asked.append("app")
        await _send_all(send, b"of the app")

    def known(_scope: Any, send: SendKnown) -> bool:
        asked.append("known")
        if kind == "is unknown":
            return False
        send(_finished(200, [(b"content-length", b"1")], b"k"))
        return True

    async def answer() -> list[bytes | str]:
        transport = _Recorded()
        connection = _connection(app, bounded_connection(30, 30, None, known), transport)
        if kind == "is slow":
            connection.pause_writing()
        more = b"connection: close\r\n" if kind == "closes" else b""
        connection.data_received(b"GET /1 HTTP/1.1\r\nhost: x\r\n%s\r\n" % more)
        await asyncio.sleep(0)
        connection.resume_writing()
        while connection.tasks:
            await asyncio.sleep(0)
        done = list(transport.done)
        connection.connection_lost(None)
        return done

    done = asyncio.run(answer())
    assert asked == (["known", "app"] if kind == "is unknown" else ["app"])
    assert b"of the app" in b"".join(part for part in done if isinstance(part, bytes))
    assert ("close" in done) == (kind == "closes")


def _finished(status: int, headers: list[tuple[bytes, bytes]], body: bytes) -> FinishedResponse:
    return FinishedResponse(FinishedAnswer(status, tuple(headers), body), ())


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


def _request(one: _Answer, target: str) -> bytes:
    return f"{one.method} {target} HTTP/1.1\r\nhost: x\r\n{one.more}\r\n".encode()


def _answers_at_once(port: int, plan: list[_Answer], targets: list[str]) -> bytes:
    """Return the answers of requests that are sent together."""
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        client.sendall(b"".join(map(_request, plan, targets)))
        return _rest(client)


def _answers_in_turn(port: int, plan: list[_Answer], targets: list[str]) -> bytes:
    """Return the answers of requests, each of which is sent when the one before is answered."""
    found = b""
    with socket.create_connection(("127.0.0.1", port), 30) as client:
        for one, target in zip(plan, targets, strict=True):
            client.sendall(_request(one, target))
            reader = h11.Connection(h11.CLIENT)
            reader.send(h11.Request(method=one.method, target=target, headers=[("host", "x")]))
            reader.send(h11.EndOfMessage())
            while not isinstance(event := reader.next_event(), h11.EndOfMessage):
                if event is h11.NEED_DATA:
                    data = client.recv(65_536)
                    found += data
                    reader.receive_data(data)
        return found + _rest(client)


def _connection(app: Any, http: type[asyncio.Protocol], transport: _Recorded) -> Any:
    """Return a connection of a client; the app is below a path."""
    config = uvicorn.Config(
        app, http=http, ws="none", lifespan="off", log_config=None, access_log=False, root_path="/r"
    )
    connection = cast("Any", http)(config, ServerState(), {"of": "the server"})
    connection.connection_made(transport)
    return connection


async def _send_all(send: Any, body: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
    await send({"type": "http.response.body", "body": body})


def _read_to(client: socket.socket, end: bytes) -> None:
    """Read until an end has arrived, with nothing behind it."""
    found = b""
    while not found.endswith(end):
        part = client.recv(65_536)
        assert part, "the connection is closed"
        found += part


def _rest(client: socket.socket) -> bytes:
    """Return what a server sends until it closes the connection."""
    return b"".join(iter(partial(client.recv, 65_536), b""))


@contextmanager
def _serving(
    app: Any, http: type[asyncio.Protocol], idle_s: int = 30, end_after: tuple[threading.Event, ...] = ()
) -> Iterator[int]:
    """Run an app with a class of connections in a thread; yield its port.

    The server begins to end after the first event of ``end_after``, and sets the second one when it does.
    """
    config = uvicorn.Config(
        app, http=http, ws="none", lifespan="off", log_config=None, access_log=False, date_header=False,
        timeout_keep_alive=idle_s,
    )  # fmt: skip
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as opened:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[opened])))
        thread.start()
        if end_after:
            threading.Thread(target=_end, args=(server, *end_after)).start()
        try:
            yield opened.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(30)


def _end(server: uvicorn.Server, begun: threading.Event, is_ending: threading.Event) -> None:
    """End a server after a request has begun, and let it be answered when its connection knows that."""
    begun.wait(30)
    server.should_exit = True
    connections = cast("set[Any]", server.server_state.connections)
    wait_until(lambda: not any(connection.cycle.keep_alive for connection in connections))
    is_ending.set()
