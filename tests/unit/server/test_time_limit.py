"""Time limits for clients, which a pause of the process does not use up."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias, cast

import pytest
import uvicorn

from kafka_replica.server.listening.connection import bounded_connection
from kafka_replica.server.listening.time_limit import TimeLimit

_LIMIT_S: Final = 10_000
"""A limit so long that no machine is slow enough to matter."""
_GET: Final = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
_SIZE: Final = 20_000_000
"""The size of an answer, which no buffer of the system takes."""


class _PausedLoop(asyncio.SelectorEventLoop):
    """An event loop whose process was paused: its time jumps."""

    paused_s = 0.0
    meanwhile: Callable[[], object] | None = None
    """Called, once, when the loop looks for timers that are due."""

    def time(self) -> float:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile is not None:
            meanwhile()
        return super().time() + self.paused_s


async def _pause(limits: float) -> None:
    """Pause the process for a multiple of the limit, and let the timers run that are due."""
    _loop().paused_s += limits * _LIMIT_S
    for _ in range(5):
        await asyncio.sleep(0)


def _loop() -> _PausedLoop:
    return cast("_PausedLoop", asyncio.get_running_loop())


@pytest.mark.parametrize(
    ("pauses", "ends"),
    [([], 0), ([0.9], 0), ([0.9, 0.101], 1), ([1.01], 1), ([1.03], 0), ([9, 0.09], 0), ([9, 0.11], 1), ([1.03, 9], 1)],
)
def test_a_late_timer_gives_a_part_of_the_time_back(pauses: list[float], ends: int) -> None:
    """The function is called once, at the end of the time, or, if the timer was late, after a further tenth."""
    ended = list[bool]()

    async def follow() -> None:
        limit = TimeLimit(_loop(), _LIMIT_S, lambda: ended.append(True))
        for pause in pauses:
            await _pause(pause)
        limit.cancel()
        for _ in range(3):
            await _pause(9)

    _run(follow())
    assert len(ended) == ends


_Step: TypeAlias = Callable[[socket.socket], Awaitable[object]]


async def _request(client: socket.socket) -> None:
    """Send a request, and read the answer."""
    await _loop().sock_sendall(client, _GET)
    await _read(client)


async def _read(client: socket.socket) -> None:
    size = _SIZE
    while size > 0:
        part = await _loop().sock_recv(client, 1 << 20)
        assert part, "the connection is closed"
        size -= len(part)


async def _connect_only(_client: socket.socket) -> None:
    """Send nothing."""


async def _begin(client: socket.socket) -> None:
    """Send the beginning of a request."""
    await _loop().sock_sendall(client, _GET[:8])


async def _continue(client: socket.socket) -> None:
    """Send the rest of a request, and read the answer."""
    await _loop().sock_sendall(client, _GET[8:])
    await _read(client)


async def _request_without_reading(client: socket.socket) -> None:
    """Send a request, and read only the beginning of the answer."""
    await _loop().sock_sendall(client, _GET)
    await _loop().sock_recv(client, 1)


_SITUATIONS: Final[list[tuple[_Step, _Step]]] = [
    (_connect_only, _request),
    (_begin, _continue),
    (_request, _request),
    (_request_without_reading, _read),
]


@pytest.mark.thorough
@pytest.mark.parametrize(("before", "after"), _SITUATIONS)
def test_a_client_is_answered_after_a_pause(before: _Step, after: _Step) -> None:
    """A client that was paused, too, gets its answer; and so it does later, because no timer is left.

    After a slow answer, uvicorn closes the connection.
    """

    async def follow(client: socket.socket) -> None:
        await before(client)
        await _pause(1.03)
        await after(client)
        for _ in range(0 if after is _read else 2):
            await _pause(0.2)
            await _request(client)

    _serve(follow)


@pytest.mark.parametrize(("before", "after"), _SITUATIONS)
def test_a_client_that_stays_too_slow_is_disconnected(before: _Step, after: _Step) -> None:
    """The time is given back once; of an answer, the system may accept more after the first pauses."""

    async def follow(client: socket.socket) -> None:
        await before(client)
        for _ in range(8):
            await _pause(1.03)
        with pytest.raises((AssertionError, ConnectionError)):
            await after(client)

    _serve(follow)


@pytest.mark.parametrize(("before", "after"), [(_connect_only, _GET), (_begin, _GET[8:]), (_request, _GET)])
def test_all_that_has_arrived_is_read_before_a_limit_ends(before: _Step, after: bytes) -> None:
    """A request that arrives when the loop has looked for data, but not yet for timers, is answered."""

    async def follow(client: socket.socket) -> None:
        await before(client)
        while _unread(client):
            await _loop().sock_recv(client, 1 << 20)

        def arrive() -> None:
            client.send(after)
            _loop().paused_s += 1.01 * _LIMIT_S

        _loop().meanwhile = arrive
        await _read(client)

    _serve(follow)


def _unread(client: socket.socket) -> bytes:
    """Return a part of what has arrived and was not read."""
    try:
        return client.recv(1, socket.MSG_PEEK)
    except BlockingIOError:
        return b""


def _serve(follow: _Step) -> None:
    """Run a server and a client in one event loop."""

    async def serve() -> None:
        server = uvicorn.Server(_config())
        with socket.create_server(("127.0.0.1", 0)) as opened, socket.socket() as client:
            serving = asyncio.create_task(server.serve(sockets=[opened]))
            while not server.started:
                await asyncio.sleep(0)
            client.setblocking(False)
            await _loop().sock_connect(client, opened.getsockname())
            while not server.server_state.connections:
                await asyncio.sleep(0)
            try:
                await follow(client)
            finally:
                server.should_exit = True
                client.close()
                await serving

    _run(serve())


def _config() -> uvicorn.Config:
    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % _SIZE)]})
        await send({"type": "http.response.body", "body": b"x" * _SIZE})

    return uvicorn.Config(
        app, http=bounded_connection(_LIMIT_S, _LIMIT_S, None), ws="none", lifespan="off", log_config=None,
        access_log=False, timeout_keep_alive=_LIMIT_S, timeout_graceful_shutdown=1,
    )  # fmt: skip


def _run(follow: Any) -> None:
    with asyncio.Runner(loop_factory=_PausedLoop) as runner:
        runner.run(follow)
