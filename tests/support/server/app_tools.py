"""Tools for tests of the HTTP app: a small stand-in for the SDMX REST API, and a reader of event streams."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from starlette.applications import Starlette
from starlette.testclient import TestClient

from kafka_replica.sdmx import Structures
from kafka_replica.server.rest.request_and_answer import RestAnswer, RestRequest

URN = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=SDMX:CL_{}(1.0)"


def stand_in(request: RestRequest, structures: Structures) -> RestAnswer:
    """Answer with the request and the URNs of the version, as JSON; the entity tag is the version number."""
    tag = f'"{structures.version}"'
    headers = (("content-type", "application/json"), ("etag", tag), ("vary", "Accept"))
    if tag in request.if_none_match.split(", "):
        return RestAnswer(304, headers, b"")
    content = {**request._asdict(), "version": structures.version, "urns": [str(urn) for urn in structures]}
    return RestAnswer(200, headers, json.dumps(content).encode())


def client_of(app: Starlette) -> TestClient:
    """Return a client that names an allowed host, and gets errors as answers."""
    return TestClient(app, "http://localhost", raise_server_exceptions=False)


class Event(NamedTuple):
    """A server-sent event."""

    id: str
    name: str
    data: dict[str, Any]


class EventParser:
    """Interprets an event stream. Source: WHATWG HTML Living Standard, section 9.2.6."""

    def __init__(self) -> None:
        self._rest = ""
        self.last_id = ""
        self.comments = 0

    def feed(self, chunk: bytes) -> list[Event]:
        """Return the events that a part of the stream completes."""
        *blocks, self._rest = (self._rest + chunk.decode()).split("\n\n")
        return [event for block in blocks if (event := self._event(block)) is not None]

    def _event(self, block: str) -> Event | None:
        name, data = "message", []
        for line in block.split("\n"):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            if field == "":
                self.comments += 1
            elif field == "id":
                self.last_id = value
            elif field == "event":
                name = value
            elif field == "data":
                data.append(value)
        return Event(self.last_id, name, json.loads("\n".join(data))) if data else None


class Stream:
    """An open stream of an app, without sockets."""

    def __init__(self) -> None:
        self.status = 0
        self.parser = EventParser()
        self.ended = asyncio.Event()
        self.blocked = asyncio.Event()
        """Set while the client accepts data."""
        self.blocked.set()
        self._events: asyncio.Queue[Event] = asyncio.Queue()

    async def receive_message(self, message: MutableMapping[str, Any]) -> None:
        """Take a message of the app."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
        else:
            await self.blocked.wait()
            for event in self.parser.feed(message.get("body", b"")):
                self._events.put_nowait(event)

    async def next(self) -> Event:
        """Return the next event."""
        async with asyncio.timeout(30):
            return await self._events.get()


def scope_of(path: str, query: str = "", last_id: str = "") -> dict[str, Any]:
    """Return the ASGI scope of a GET request."""
    return {
        "type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": query.encode(), "root_path": "",
        "headers": [(b"host", b"localhost")] + ([(b"last-event-id", last_id.encode())] if last_id else []),
        "client": ("127.0.0.1", 1), "server": ("localhost", 80),
    }  # fmt: skip


async def fetch(app: Starlette, path: str) -> tuple[int, dict[str, str], bytes]:
    """Return status, headers and body of an answer, without the cost of a client."""
    messages: list[MutableMapping[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    await app(scope_of(path), receive, send)
    begin, body = messages
    return begin["status"], {name.decode(): value.decode() for name, value in begin["headers"]}, body["body"]


@asynccontextmanager
async def opened(app: Starlette, last_id: str = "", query: str = "") -> AsyncIterator[Stream]:
    """Open the change feed, after a version; leaving the block disconnects the client."""
    stream, gone = Stream(), asyncio.Event()
    scope = scope_of("/changes", query, last_id)

    async def receive() -> dict[str, Any]:
        await gone.wait()
        return {"type": "http.disconnect"}

    async def run() -> None:
        await app(scope, receive, stream.receive_message)
        stream.ended.set()

    task = asyncio.create_task(run())
    try:
        yield stream
    finally:
        gone.set()
        stream.blocked.set()
        async with asyncio.timeout(30):
            await task
