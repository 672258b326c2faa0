"""A small HTTP server that answers SDMX REST queries, for clients that bring their own HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from kafka_replica.sdmx import Structures
from kafka_replica.server.rest import RestAnswer, RestRequest, RestSettings, answer


@contextmanager
def rest_service(structures: Structures, settings: RestSettings) -> Iterator[tuple[str, list[RestAnswer]]]:
    """Yield the address of the base path, and the answers that were given so far."""
    given: list[RestAnswer] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.partition("?")
            accept, tags = self.headers.get("Accept", ""), self.headers.get("If-None-Match", "")
            made = answer(RestRequest(path.removeprefix("/sdmx/"), query, accept, tags), structures, settings)
            given.append(made)
            self.send_response(made.status)
            for name, value in made.headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(made.body)))
            self.end_headers()
            self.wfile.write(made.body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/sdmx", given
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
