"""Requests that a worker forwards to the main process: which ones, and how."""

from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from kafka_replica.errors import VersionGoneError
from kafka_replica.server.routes.forwarding import ForwardingMiddleware


def _at(version: int) -> None:
    if version == 1:
        raise VersionGoneError("version 1 is not kept")


@pytest.mark.parametrize(
    ("method", "path", "query", "is_forwarded"),
    [
        ("GET", "/sdmx/v2/structure/codelist", b"asOf=2026-01-01", True),
        ("HEAD", "/sdmx/v2/structure/codelist", b"%61sof=1", True),
        ("GET", "/sdmx/v2/structure/codelist", b"", False),
        ("GET", "/history", b"", True),
        ("GET", "/version/3/diff/1/2", b"", True),
        ("GET", "/version/3/sdmx/v2/structure/codelist", b"", False),
        ("GET", "/version/3", b"", False),
        ("GET", "/version/3/", b"", False),
        ("GET", "/version/1", b"", True),
        ("GET", "/version/1/", b"", True),
        ("GET", "/version/1/structures", b"", True),
        ("GET", "/version/3.other", b"", True),
        ("GET", "/version/x", b"", False),
        ("GET", "/changes", b"asOf=1", False),
        ("POST", "/validate", b"structure=X&asOf=1", False),
        ("POST", "/producers/x/suspend", b"asOf=1", False),
        ("GET", "/metrics", b"", True),
    ],
)
def test_only_queries_of_the_past_are_forwarded(method: str, path: str, query: bytes, is_forwarded: bool) -> None:
    """A stream of changes, an upload and a command stay in the worker, whatever their parameters are.

    Versions that the worker does not have are forwarded; a slash at the end makes no difference.
    """
    role: Any = SimpleNamespace(has_history=True)
    replica: Any = SimpleNamespace(incarnation="x", at=_at)
    app: Any = None
    middleware = ForwardingMiddleware(app, role, replica, [])
    scope = {"type": "http", "method": method, "path": path, "query_string": query}
    assert middleware._is_for_main(scope) is is_forwarded


async def _refuse(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Refuse a request without receiving its body, as the main process does if it is too large."""
    headers = [(b"content-type", b"application/problem+json"), (b"content-length", b"2"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 413, "headers": headers})
    await send({"type": "http.response.body", "body": b"{}"})


async def _answers(app: Any, address: str, sizes: list[int]) -> list[list[MutableMapping[str, Any]]]:
    """Forward uploads of these sizes to an app; return the messages of each answer."""
    server = uvicorn.Server(uvicorn.Config(app, uds=address, log_config=None, lifespan="off"))
    running = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    role: Any = SimpleNamespace(has_history=True, main_socket=address)
    replica: Any = SimpleNamespace(incarnation="x", at=_at)
    found = []
    for size in sizes:
        pieces = [bytes(min(65_536, size - begin)) for begin in range(0, size, 65_536)]
        messages: list[MutableMapping[str, Any]] = []

        async def receive(pieces: list[bytes] = pieces) -> dict[str, Any]:
            await asyncio.sleep(0)
            return {"type": "http.request", "body": pieces.pop(0), "more_body": bool(pieces)}

        async def send(message: MutableMapping[str, Any], messages: list[Any] = messages) -> None:
            messages.append(message)

        scope = {
            "type": "http", "method": "POST", "path": "/version/1/validate", "raw_path": b"/version/1/validate",
            "query_string": b"", "headers": [(b"host", b"localhost"), (b"content-length", str(size).encode())],
        }  # fmt: skip
        middleware = ForwardingMiddleware(app, role, replica, [])
        async with asyncio.timeout(30):
            await middleware(scope, receive, send)
        found.append(messages)
    server.should_exit = True
    await running
    return found


def test_an_upload_that_the_main_process_refuses_early_gets_its_reason(tmp_path: Path) -> None:
    """The client learns that the data is too large, and not that it should try again, however large the data is."""
    for start, body in asyncio.run(_answers(_refuse, str(tmp_path / "main"), [10_000, 1_000_000, 20_000_000])):
        assert (start["status"], body["body"]) == (413, b"{}")
    assert (b"connection", b"close") in start["headers"], "the rest of the data is not read"


def test_an_upload_reaches_the_main_process_as_a_whole(tmp_path: Path) -> None:
    """The answer to an upload that is accepted depends on all of its data; the request has an id."""

    async def count(scope: Scope, receive: Receive, send: Send) -> None:
        size, has_more = 0, True
        while has_more:
            message = await receive()
            size, has_more = size + len(message["body"]), message["more_body"]
        names = [name for name, _ in scope["headers"]]
        body = b"%d %d" % (size, names.count(b"x-request-id"))
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": body})

    sizes = [1, 10_000, 3_000_000]
    found = asyncio.run(_answers(count, str(tmp_path / "main"), sizes))
    assert [b"".join(message["body"] for message in messages[1:]) for messages in found] == [
        b"%d 1" % size for size in sizes
    ]
    assert all(dict(start["headers"]).get(b"connection") is None for start, *_ in found)
