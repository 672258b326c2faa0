"""An SDMX REST service for tests: a real HTTP server with prescribed responses."""

from __future__ import annotations

import threading
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self

ML_3_0 = "application/vnd.sdmx.structure+xml;version=3.0.0"


class ReceivedRequest(NamedTuple):
    """A request, as it arrived."""

    path: str
    headers: dict[str, str]


class Response(NamedTuple):
    """A response. ``truncated_by``: that many bytes less than announced are sent, and the connection is closed."""

    body: str = ""
    status: int = 200
    content_type: str = ML_3_0
    truncated_by: int = 0
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed


class SdmxService:
    """A server with the responses of ``answers`` by path; ``*`` is for all others. With ETags, if configured."""

    def __init__(self, *, etags: bool = False, dates: bool = False) -> None:
        self.answers: dict[str, Response | Callable[[], Response]] = {}
        self.requests: list[ReceivedRequest] = []
        self.etags, self.dates = etags, dates
        service = self

        class Handler(BaseHTTPRequestHandler):
            """A request handler."""

            def do_GET(self) -> None:
                """Send the response."""
                service._answer(self)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                """Log nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self.url = f"http://127.0.0.1:{self._server.server_port}/sdmx"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        path = request.path.removeprefix("/sdmx/")
        self.requests.append(ReceivedRequest(path, headers))
        found = self.answers.get(path) or self.answers["*"]
        answer = found() if callable(found) else found
        body = answer.body.encode()
        tag, date = f'"{hash(body)}"', formatdate(len(body), usegmt=True)
        if answer.status == 200 and (
            (self.etags and headers.get("if-none-match") == tag)
            or (self.dates and headers.get("if-modified-since") == date)
        ):
            request.send_response(304)
            request.end_headers()
            return
        request.send_response(answer.status)
        request.send_header("Content-Type", answer.content_type)
        request.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers.items():
            request.send_header(name, value)
        if self.etags:
            request.send_header("ETag", tag)
        if self.dates:
            request.send_header("Last-Modified", date)
        request.end_headers()
        request.wfile.write(body[: len(body) - answer.truncated_by])
        request.close_connection = True
