"""Forwarding of requests from a worker to the main process: for metrics, and for versions that only it keeps."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import Final

import h11
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from kafka_replica.errors import VersionGoneError
from kafka_replica.replica import Replica
from kafka_replica.server.answers.as_of import may_have_as_of
from kafka_replica.server.answers.versions import VersionId
from kafka_replica.server.errors.problems import busy, problem_response
from kafka_replica.server.operation.observation import RAW_REQUEST_ID, request_id_of
from kafka_replica.server.operation.process_roles import WorkerRole

_HOP_BY_HOP: Final = frozenset({
    b"connection", b"keep-alive", b"proxy-connection", b"te", b"trailer", b"transfer-encoding", b"upgrade", b"expect",
    b"date", b"server",
})  # fmt: skip
_AT_ONCE_BYTES: Final = 65_536
_NOT_FORWARDED: Final = _HOP_BY_HOP | {RAW_REQUEST_ID}
_PAST: Final = ("history", "diff")
_PAST_PAGES: Final = (["history"], ["diff"])


class ForwardingMiddleware:
    """A middleware that forwards some requests to the main process.

    Args:
        app: the wrapped app, which answers all other requests.
        role: the role of this process, with the address of the main process.
        replica: the replica of this worker.
        routes: the routes of the app, from which metrics get the endpoint of a forwarded request.
    """

    def __init__(self, app: ASGIApp, role: WorkerRole, replica: Replica, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._role = role
        self._replica = replica
        self._routes = routes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or forward it."""
        if scope["type"] != "http" or not self._is_for_main(scope):
            await self._app(scope, receive, send)
            return
        for route in self._routes:
            match, found = route.matches(scope)
            if match is Match.FULL:
                scope.update(found)
                break
        forwarded = _ForwardedRequest(scope, receive, send)
        try:
            await forwarded.run(self._role.main_socket)
        except (OSError, h11.ProtocolError) as error:
            if forwarded.has_begun:
                raise
            problem = busy("the main process of the service does not answer")
            answer = problem_response(problem.status_code, problem.detail, dict(problem.headers or {}))
            await answer(scope, receive, send)
            del error

    def _is_for_main(self, scope: Scope) -> bool:
        names = scope["path"].split("/")[1:]
        if names[0] == "metrics":
            return True
        if not self._role.has_history:
            return False
        if names[0] in _PAST:
            return True
        # Others do not know the parameter: data is validated and changes are followed in this process.
        is_query = scope["method"] in {"GET", "HEAD"} and names[0] != "changes"
        if is_query and may_have_as_of(scope["query_string"].decode("latin-1")):
            return True
        if names[0] != "version" or len(names) < 2:
            return False
        return names[2:3] in _PAST_PAGES or self._lacks(VersionId.parse(names[1]))

    def _lacks(self, wanted: VersionId | None) -> bool:
        if wanted is None:
            return False
        if wanted.incarnation not in {None, self._replica.incarnation}:
            return True
        try:
            self._replica.at(wanted.version)
        except VersionGoneError:
            return True
        return False


class _ForwardedRequest:
    """A request that is forwarded to the main process, and its answer.

    The answer is received while the request is sent, because the main process may refuse an upload before it has
    received all of it, and then accepts no more.
    """

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._scope, self._receive, self._send = scope, receive, send
        self._connection = h11.Connection(h11.CLIENT)
        self._is_sent = False
        self.has_begun = False
        """True once a part of the answer was sent to the client."""

    async def run(self, address: str) -> None:
        """Send the request to the main process, and its answer to the client.

        Args:
            address: the path of the main process's socket.

        Raises:
            OSError: the main process does not answer.
            h11.ProtocolError: the main process does not answer correctly.
        """
        with socket(AF_UNIX, SOCK_STREAM) as opened:
            opened.setblocking(False)
            await asyncio.get_running_loop().sock_connect(opened, address)
            sending = asyncio.create_task(self._request(opened))
            answering = asyncio.create_task(self._answer(opened))
            try:
                await asyncio.wait((sending, answering), return_when=asyncio.FIRST_COMPLETED)
                if answering.done() or await sending:
                    await answering
            finally:
                for task in (sending, answering):
                    task.cancel()
                await asyncio.gather(sending, answering, return_exceptions=True)

    async def _request(self, opened: socket) -> bool:
        """Send the request; return False if the client disconnects meanwhile."""
        scope = self._scope
        query = scope["query_string"]
        target = scope["raw_path"] + (b"?" + query if query else b"")
        headers = [(name, value) for name, value in scope["headers"] if name not in _NOT_FORWARDED]
        headers.append((RAW_REQUEST_ID, request_id_of(scope).encode()))
        has_body = scope["method"] == "POST"
        if has_body and not any(name == b"content-length" for name, _ in headers):
            headers.append((b"transfer-encoding", b"chunked"))
        headers.append((b"connection", b"close"))
        # An answer to HEAD has no body, from which the text of an error is taken; the client does not get the body.
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        send = partial(asyncio.get_running_loop().sock_sendall, opened)
        try:
            await send(self._connection.send(h11.Request(method=method, target=target, headers=headers)) or b"")
            while has_body:
                message = await self._receive()
                if message["type"] == "http.disconnect":
                    return False
                if message.get("body"):
                    await send(self._connection.send(h11.Data(data=message["body"])) or b"")
                has_body = message.get("more_body", False)
            await send(self._connection.send(h11.EndOfMessage()) or b"")
            self._is_sent = True
        except OSError:
            pass  # the main process accepts no more, and its answer has the reason
        return True

    async def _answer(self, opened: socket) -> None:
        held: list[bytes] | None = None
        while not isinstance(event := await self._next(opened), h11.EndOfMessage):
            if isinstance(event, h11.Response):
                headers = [(name, value) for name, value in event.headers if name not in _HOP_BY_HOP]
                if not self._is_sent:
                    headers.append((b"connection", b"close"))  # the rest of the request is not read
                size = int(dict(headers).get(b"content-length", _AT_ONCE_BYTES + 1))
                held = [] if size <= _AT_ONCE_BYTES else None  # ProblemForms needs the whole body in one message
                self.has_begun = True
                await self._send({"type": "http.response.start", "status": event.status_code, "headers": headers})
            elif isinstance(event, h11.Data):
                if held is None:
                    await self._send({"type": "http.response.body", "body": bytes(event.data), "more_body": True})
                else:
                    held.append(bytes(event.data))
            elif isinstance(event, h11.ConnectionClosed):
                raise ConnectionResetError("the main process has ended the connection")
        await self._send({"type": "http.response.body", "body": b"".join(held or ()), "more_body": False})

    async def _next(self, opened: socket) -> object:
        while (event := self._connection.next_event()) is h11.NEED_DATA:
            self._connection.receive_data(await asyncio.get_running_loop().sock_recv(opened, _AT_ONCE_BYTES))
        return event
