"""The limit of open files: raised at the start, and never used up by connections."""

from __future__ import annotations

import asyncio
import logging
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, Final

import pytest

from kafka_replica.errors import ConfigurationError
from kafka_replica.server import ListenSettings, serve
from kafka_replica.server.listening.open_files import ListeningSocket, most_for_connections, raise_limit
from kafka_replica.server.listening.sockets import open_socket
from kafka_replica.testing import FakeTopic

_FILES: Final = resource.RLIMIT_NOFILE


@pytest.fixture(autouse=True)
def limits(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, tuple[int, int]]]:
    """The limits that the process seems to have; its own limits stay as they are."""
    shown = {"now": (1024, 4096)}

    def set_limit(_kind: int, limits: tuple[int, int]) -> None:
        if limits[0] > 50_000:
            raise ValueError("as on macOS")
        shown["now"] = limits

    monkeypatch.setattr(resource, "getrlimit", lambda _kind: shown["now"])
    monkeypatch.setattr(resource, "setrlimit", set_limit)
    return shown  # type: ignore[return-value]


_ENDLESS: Final = resource.RLIM_INFINITY


@pytest.mark.parametrize(
    ("before", "after", "most", "is_too_low"),
    [
        ((1024, 4096), 4096, 3840, False),
        ((1024, 1024), 1024, 768, True),
        ((4096, 1_000_000), 10_240, 9984, False),  # could not be raised as far as wanted
        ((20_000, 1_000_000), 20_000, 19_744, False),
        ((1024, _ENDLESS), 10_240, 9984, False),
        ((100_000, 1_000_000), 100_000, 99_744, False),
        ((_ENDLESS, _ENDLESS), _ENDLESS, None, False),
        ((20, 20), 20, 15, True),
    ],
)
def test_the_limit_is_raised_or_called_too_low(
    limits: dict[str, Any],
    caplog: pytest.LogCaptureFixture,
    before: tuple[int, int],
    after: int,
    most: int | None,
    is_too_low: bool,
) -> None:
    """The hard limit stays; a warning says that max_connections is more than the process can have."""
    limits["now"] = before
    with caplog.at_level(logging.WARNING, "kafka_replica.server"):
        raise_limit(1000)
    assert limits["now"] == (after, before[1])
    assert most_for_connections() == most
    assert [record.levelname for record in caplog.records] == ["WARNING"] * is_too_low
    assert all("max_connections=1000" in record.getMessage() for record in caplog.records)


def test_the_service_raises_the_limit_at_its_start(limits: dict[str, Any]) -> None:
    """The limit is raised before the socket is opened."""
    with (
        FakeTopic().replica() as replica,
        open_socket(ListenSettings(port=0)) as opened,
        pytest.raises(ConfigurationError, match="choose another port"),
    ):
        serve(replica, listen=ListenSettings(port=opened.getsockname()[1]))
    assert limits["now"] == (4096, 4096)


def test_connections_leave_descriptors_free(monkeypatch: pytest.MonkeyPatch) -> None:
    """Connections that would use a descriptor that must remain free are closed at once; the ones before stay."""
    with ExitStack() as stack:
        opened = stack.enter_context(open_socket(ListenSettings(port=0)))
        assert isinstance(opened, ListeningSocket)
        clients = [stack.enter_context(socket.create_connection(opened.getsockname(), 30)) for _ in range(9)]
        with socket.socket() as next_one:
            monkeypatch.setattr(opened, "_most", next_one.fileno() + 3)
        accepted = stack.enter_context(opened.accept()[0])
        refused = 0
        for _ in clients[1:]:
            try:
                stack.enter_context(opened.accept()[0])
            except ConnectionAbortedError:
                refused += 1
        assert refused >= 6
        assert clients[-1].recv(1) == b""
        accepted.sendall(b"x")
        assert clients[0].recv(1) == b"x"


def test_a_server_that_closes_connections_accepts_later_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The event loop continues after a connection that was closed at once."""

    def first_byte(address: tuple[str, int]) -> bytes:
        with socket.create_connection(address, 30) as client:
            return client.recv(1)

    async def greet(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"x")
        writer.close()
        await writer.wait_closed()

    async def serve_three(opened: ListeningSocket) -> list[bytes]:
        greeted = list[bytes]()
        async with await asyncio.start_server(greet, sock=opened):
            for most in (1000, 0, 1000):
                monkeypatch.setattr(opened, "_most", most)
                greeted.append(await asyncio.to_thread(first_byte, opened.getsockname()))
        return greeted

    opened = open_socket(ListenSettings(port=0))
    assert isinstance(opened, ListeningSocket)
    assert asyncio.run(serve_three(opened)) == [b"x", b"", b"x"]
