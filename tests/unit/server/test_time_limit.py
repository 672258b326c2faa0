"""Time limits for clients, which a pause of the process does not use up."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeAlias

import pytest
import uvicorn

from kafka_replica.server.listening.connection import bounded_connection
from kafka_replica.server.listening.time_limit import TimeLimit

_LIMIT_S: Final = 100
_GET: Final = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n"
_SIZE: Final = 20_000_000
"""The size of an answer, which no buffer of the system takes."""


class _PausedLoop(asyncio.SelectorEventLoop):
    """An event loop whose process was paused: its time jumps."""

    paused_s = 0.0

    def time(self) -> float:
        return super().time() + self.paused_s


async def _pause(pause_s: float) -> None:
    """Pause the process, and let the timers run that are due."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, _PausedLoop)
    loop.paused_s += pause_s
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("pauses_s", "ends"),
    [([], False), ([89], False), ([91], False), ([1000], False), ([91, 8], False), ([91, 11], True), ([999, 11], True)],
)
def test_a_pause_ends_only_one_part_of_the_time(pauses_s: list[float], ends: bool) -> None:
    """The function is called in the last tenth of the time, however late the first part ends."""
    ended = list[bool]()

    async def follow() -> None:
        limit = TimeLimit(asyncio.get_running_loop(), _LIMIT_S, lambda: ended.append(True))
        for pause_s in pauses_s:
            await _pause(pause_s)
        limit.cancel()
        await _pause(1000)
        await _pause(1000)

    _run(follow())
    assert ended == [True] * ends


_Step: TypeAlias = Callable[[socket.socket], Awaitable[object]]


async def _request(client: socket.socket) -> None:
    """Send a request, and read the answer."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(client, _GET)
    await _read(client, _SIZE)


async def _read(client: socket.socket, size: int) -> None:
    loop = asyncio.get_running_loop()
    while size > 0:
        part = await loop.sock_recv(client, 1 << 20)
        assert part, "the connection is closed"
        size -= len(part)


async def _connect_only(_client: socket.socket) -> None:
    """Send nothing."""


async def _begin(client: socket.socket) -> None:
    """Send the beginning of a request."""
    await asyncio.get_running_loop().sock_sendall(client, _GET[:8])


async def _request_without_reading(client: socket.socket) -> None:
    """Send a request, and read only the beginning of the answer."""
    await asyncio.get_running_loop().sock_sendall(client, _GET)
    await _read(client, 1)


async def _continue(client: socket.socket) -> None:
    """Send the rest of a request, and read the answer."""
    await asyncio.get_running_loop().sock_sendall(client, _GET[8:])
    await _read(client, _SIZE)


async def _read_on(client: socket.socket) -> None:
    """Read the rest of an answer."""
    await _read(client, _SIZE - (1 << 20))


_SITUATIONS: Final[list[tuple[_Step, _Step]]] = [
    (_connect_only, _request),
    (_begin, _continue),
    (_request, _request),
    (_request_without_reading, _read_on),
]


@pytest.mark.parametrize("before", [_step for _step, _ in _SITUATIONS])
@pytest.mark.parametrize("pauses", [1, 2])
def test_clients_are_answered_after_a_pause(before: _Step, pauses: int) -> None:
    """After one pause, a client that was paused, too, gets its answer; two are a client that is too slow."""
    after = dict(_SITUATIONS)[before]

    async def follow() -> None:
        server = uvicorn.Server(_config())
        with socket.create_server(("127.0.0.1", 0)) as opened, socket.socket() as client:
            serving = asyncio.create_task(server.serve(sockets=[opened]))
            while not server.started:
                await asyncio.sleep(0)
            client.setblocking(False)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, opened.getsockname())
            await before(client)
            while not server.server_state.connections:
                await asyncio.sleep(0)
            for _ in range(pauses):
                await _pause(_LIMIT_S + 1)
            try:
                await after(client)
            finally:
                server.should_exit = True
                client.close()
                await serving

    if pauses == 1:
        _run(follow())
    else:
        with pytest.raises((AssertionError, ConnectionError)):
            _run(follow())


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
